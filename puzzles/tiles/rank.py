"""Lehmer digits and half ranks of even permutations, one permutation at a time.

A word w of n different labels has the Lehmer digits d[i] = how many later labels are smaller, with
0 <= d[i] < n - i, and the rank sum(d[i] * (n-1-i)!), its place in lexicographic order (D. H. Lehmer
1960; Myrvold & Ruskey 2001 review the field). The sum of the digits is the number of inversions,
so among even words the digit d[n-2] follows from the others: rank >> 1 loses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence


def digits(word: Sequence[int]) -> list[int]:
    """The Lehmer digits of a word of n different labels."""
    return [sum(later < label for later in word[i + 1 :]) for i, label in enumerate(word)]


def is_even(word: Sequence[int]) -> bool:
    """Whether an even number of swaps sorts the word."""
    return sum(digits(word)) % 2 == 0


def half_rank(word: Sequence[int]) -> int:
    """rank >> 1 of an even word of the labels 0 .. n-1."""
    n = len(word)
    rank = 0
    for i, digit in enumerate(digits(word)):
        rank = rank * (n - i) + digit
    return rank >> 1


def half_unrank(half: int, n: int) -> list[int]:
    """The even word of the labels 0 .. n-1 whose rank >> 1 is `half`."""
    lehmer = [0] * n
    for i in range(n - 3, -1, -1):  # bases 3, 4, .. n; what is left over belongs to digit 0
        half, lehmer[i] = divmod(half, n - i)
    if n >= 2:
        lehmer[n - 2] = sum(lehmer) % 2
    rest = list(range(n))
    return [rest.pop(digit) for digit in lehmer]
