"""One-cell pieces: the number of their places among the cells that walls and big pieces leave.

Kind after kind takes its cells among those that are left, which gives one rank a kind: that of a
subset in colexicographic order, the sum of C(p, i) over its members p, the i-th smallest having i
(from 1). The ranks are the digits of one number, those of the first kind the highest.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, prod


def sizes(free: int, counts: Sequence[int]) -> list[int]:
    """How many ranks each kind has on `free` cells: C(what is left, count)."""
    left = free
    found = []
    for count in counts:
        found.append(comb(left, count))
        left -= count
    return found


def weights(free: int, counts: Sequence[int]) -> list[int]:
    """What a rank of each kind is worth in the number of all."""
    of_each = sizes(free, counts)
    return [prod(of_each[i + 1 :]) for i in range(len(of_each))]


def total(free: int, counts: Sequence[int]) -> int:
    """How many ways there are to place all one-cell pieces on `free` cells; 1 where none are."""
    return prod(sizes(free, counts))


def rank(members: Sequence[int]) -> int:
    """The rank of a subset, its members ascending."""
    return sum(comb(member, i) for i, member in enumerate(members, start=1))


def members(rank: int, count: int, size: int) -> list[int]:
    """The subset of `count` members below `size` with this rank, ascending."""
    found = []
    top = size
    for i in range(count, 0, -1):
        top -= 1
        while comb(top, i) > rank:
            top -= 1
        rank -= comb(top, i)
        found.append(top)
    return found[::-1]
