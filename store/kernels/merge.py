"""Merging sorted arrays: subtracting earlier layers, and the union of two sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels.jit import kernel

U64 = np.uint64
ZERO = U64(0)
ONE = U64(1)


@kernel
def subtract(
    values: Any, n: Any, read: Any, write: Any, keys: Any, m: Any, base: Any, hits: Any
) -> Any:
    """Drop from sorted values[read:n] what sorted keys[:m] hold; (read, write, hits found).

    values: uint32 or uint64, distinct residuals to `base`, compacted in place from `write` on;
    keys: uint64[>= m], distinct, all >= base. Values up to the last key are decided; the rest waits
    for the next block of keys. Every dropped value goes to hits (same dtype, room for m).
    """
    i = read
    out = write
    j = ZERO
    found = ZERO
    while i < n and j < m:
        value = values[i]
        a = U64(value)
        b = keys[j] - base
        values[out] = value
        hits[found] = value
        out += U64(a < b)
        found += U64(a == b)
        i += U64(a <= b)
        j += U64(b <= a)
    return i, out, found


@kernel
def move_down(values: Any, read: Any, n: Any, write: Any) -> Any:
    """Move values[read:n] down to values[write:]; the position after the last one."""
    for i in range(n - read):
        values[write + U64(i)] = values[read + U64(i)]
    return write + (n - read)


@kernel
def widen(values: Any, n: Any, base: Any, out: Any) -> Any:
    """out[i] = values[i] + base as uint64, for i < n."""
    for i in range(n):
        out[U64(i)] = U64(values[U64(i)]) + base


@kernel
def unite(a: Any, n: Any, b: Any, m: Any, out: Any, twice: Any) -> Any:
    """Union of sorted distinct a[:n] and b[:m] into out; (size, number in both).

    Values in both are written to twice as well (room for min(n, m) + 1); out: room for n + m + 1.
    """
    i = ZERO
    j = ZERO
    size = ZERO
    both = ZERO
    while i < n and j < m:
        x = a[i]
        y = b[j]
        low = min(x, y)
        out[size] = low
        twice[both] = low
        size += ONE
        both += U64(x == y)
        i += U64(x <= y)
        j += U64(y <= x)
    while i < n:
        out[size] = a[i]
        size += ONE
        i += ONE
    while j < m:
        out[size] = b[j]
        size += ONE
        j += ONE
    return size, both
