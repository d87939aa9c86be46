"""Sorting records: least-significant-digit radix sort, and dropping equal neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels.jit import kernel

U64 = np.uint64
ZERO = U64(0)
ONE = U64(1)


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
def count_digit(values: Any, n: Any, shift: Any, mask: Any, table: Any, base: Any) -> Any:
    """Add to table[base + d] how many of values[:n] have the digit d."""
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
def scatter_and_count(
    source: Any, target: Any, n: Any, shift: Any, digit: Any, table: Any, base: Any
) -> Any:
    """scatter() by a digit of so many bits, and count_digit() of the one above it, which costs less
    here than in a pass of its own."""
    mask = (ONE << digit) - ONE
    above = shift + digit
    behind = base + mask + ONE
    for i in range(n):
        value = source[U64(i)]
        slot = base + ((U64(value) >> shift) & mask)
        at = table[slot]
        target[at] = value
        table[slot] = at + ONE
        table[behind + ((U64(value) >> above) & mask)] += ONE


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
    count_digit(values, n, low, mask, table, ZERO)
    source = values
    target = other
    swapped = ZERO
    for p in range(passes):
        base = U64(p) << digit
        shift = low + U64(p) * digit
        last = U64(p) + ONE == passes
        if table[base + ((U64(source[ZERO]) >> shift) & mask)] == n:
            if not last:
                count_digit(source, n, shift + digit, mask, table, base + size)
            continue
        total = ZERO
        for i in range(size):
            count = table[base + U64(i)]
            table[base + U64(i)] = total
            total += count
        if last:
            scatter(source, target, n, shift, mask, table, base)
        else:
            scatter_and_count(source, target, n, shift, digit, table, base)
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
