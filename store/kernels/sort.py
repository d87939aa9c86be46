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
def radix_sort(values: Any, other: Any, n: Any, bits: Any, digit: Any, table: Any) -> Any:
    """Sort values[:n] ascending; 0 when the result is in `values`, 1 when it is in `other`.

    values, other: uint32 or uint64[>= n], all below 2**bits; digit: bits a pass; table:
    uint64[passes << digit] scratch. Passes in which all records agree are skipped. Stable.
    """
    if n <= U64(48):
        insertion_sort(values, n)
        return ZERO
    size = ONE << digit
    mask = size - ONE
    passes = (bits + digit - ONE) // digit
    for i in range(passes << digit):
        table[U64(i)] = ZERO
    for i in range(n):
        value = U64(values[U64(i)])
        for p in range(passes):
            table[(U64(p) << digit) + ((value >> (U64(p) * digit)) & mask)] += ONE
    source = values
    target = other
    swapped = ZERO
    for p in range(passes):
        base = U64(p) << digit
        shift = U64(p) * digit
        if table[base + ((U64(source[ZERO]) >> shift) & mask)] == n:
            continue
        total = ZERO
        for i in range(size):
            count = table[base + U64(i)]
            table[base + U64(i)] = total
            total += count
        for i in range(n):
            value = source[U64(i)]
            slot = base + ((U64(value) >> shift) & mask)
            at = table[slot]
            target[at] = value
            table[slot] = at + ONE
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
