"""Sorting records: least-significant-digit radix sort, and dropping equal neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels.jit import kernel

U64 = np.uint64
ZERO = U64(0)
ONE = U64(1)
TWO = U64(2)
THREE = U64(3)


@kernel
def insertion_sort(values: Any, n: Any) -> Any:
    """Sort values[:n] ascending in place; for short arrays."""
    for i in range(ONE, n):
        value = values[i]
        j = U64(i)
        while j > ZERO and values[j - ONE] > value:
            values[j] = values[j - ONE]
            j -= ONE
        values[j] = value


@kernel
def count_digits(values: Any, n: Any, low: Any, digit: Any, passes: Any, table: Any) -> Any:
    """Add to table[p << digit | d] how many of values[:n] have digit d in pass p.

    Up to four digits are counted side by side: a loop over the passes inside would cost as much as
    the sorting.
    """
    mask = (ONE << digit) - ONE
    second = ONE << digit
    third = second + second
    fourth = third + second
    if passes == ONE:
        for i in range(n):
            table[(U64(values[U64(i)]) >> low) & mask] += ONE
        return
    if passes == TWO:
        for i in range(n):
            value = U64(values[U64(i)]) >> low
            table[value & mask] += ONE
            table[second + ((value >> digit) & mask)] += ONE
        return
    if passes == THREE:
        for i in range(n):
            value = U64(values[U64(i)]) >> low
            table[value & mask] += ONE
            table[second + ((value >> digit) & mask)] += ONE
            table[third + ((value >> (digit + digit)) & mask)] += ONE
        return
    for i in range(n):
        value = U64(values[U64(i)]) >> low
        table[value & mask] += ONE
        table[second + ((value >> digit) & mask)] += ONE
        table[third + ((value >> (digit + digit)) & mask)] += ONE
        table[fourth + ((value >> (digit + digit + digit)) & mask)] += ONE
    for p in range(U64(4), passes):
        shift = low + U64(p) * digit
        base = U64(p) << digit
        for i in range(n):
            table[base + ((U64(values[U64(i)]) >> shift) & mask)] += ONE


@kernel
def scatter(source: Any, target: Any, n: Any, shift: Any, mask: Any, table: Any, base: Any) -> Any:
    """Put source[:n] to target in the order of one digit; table[base + d]: where digit d begins."""
    for i in range(n):
        value = source[U64(i)]
        slot = base + ((U64(value) >> shift) & mask)
        at = table[slot]
        target[at] = value
        table[slot] = at + ONE


@kernel
def radix_sort(values: Any, other: Any, n: Any, low: Any, bits: Any, digit: Any, table: Any) -> Any:
    """Sort values[:n] by their bits from `low` on; 0: the result is in `values`, 1: in `other`.

    values, other: uint32 or uint64[>= n], all below 2**(low + bits); digit: bits a pass; table:
    uint64[passes << digit] scratch. Passes in which all records agree are skipped. Stable.
    """
    if n <= U64(48):
        insertion_sort(values, n)  # by all bits, which is one way to sort by some
        return ZERO
    size = ONE << digit
    mask = size - ONE
    passes = (bits + digit - ONE) // digit
    for i in range(passes << digit):
        table[U64(i)] = ZERO
    count_digits(values, n, low, digit, passes, table)
    source = values
    target = other
    swapped = ZERO
    for p in range(passes):
        base = U64(p) << digit
        shift = low + U64(p) * digit
        if table[base + ((U64(source[ZERO]) >> shift) & mask)] == n:
            continue
        total = ZERO
        for i in range(size):
            count = table[base + U64(i)]
            table[base + U64(i)] = total
            total += count
        scatter(source, target, n, shift, mask, table, base)
        source, target = target, source
        swapped ^= ONE
    return swapped


@kernel
def split_duplicates(values: Any, n: Any, duplicates: Any) -> Any:
    """Compact sorted values[:n] to its distinct values in place; their number.

    Every dropped record goes to duplicates[: n - distinct], in order: it is counted where it is
    dropped, so that the law in = out + duplicates can fail. duplicates: same dtype, size >= n.
    """
    if n == ZERO:
        return ZERO, ZERO
    previous = values[ZERO]
    kept = ONE
    dropped = ZERO
    for i in range(ONE, n):
        value = values[U64(i)]
        new = U64(value != previous)
        values[kept] = value
        duplicates[dropped] = value
        kept += new
        dropped += ONE - new
        previous = value
    return kept, dropped
