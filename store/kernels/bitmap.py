"""Dense buckets: mark residuals in a bitmap of the bucket's range, clear earlier layers, sweep."""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels.jit import ctz64, kernel

U64 = np.uint64
ZERO = U64(0)
ONE = U64(1)
SIX = U64(6)
LOW_SIX = U64(63)


@kernel
def mark(bitmap: Any, values: Any, n: Any, duplicates: Any) -> Any:
    """Set the bit of each of values[:n]; the number of those set already, copied to duplicates.

    bitmap: uint64[words]; values: uint32 or uint64 below 64 * words; duplicates: same dtype, room
    for n + 1.
    """
    dropped = ZERO
    for i in range(n):
        value = values[U64(i)]
        word = U64(value) >> SIX
        bit = U64(value) & LOW_SIX
        old = bitmap[word]
        bitmap[word] = old | (ONE << bit)
        duplicates[dropped] = value
        dropped += (old >> bit) & ONE
    return dropped


@kernel
def clear_hits(bitmap: Any, keys: Any, m: Any, base: Any, hits: Any) -> Any:
    """Clear the bits of keys[:m]; the number of those that were set, copied to hits as residuals.

    keys: uint64, all in [base, base + 64 * words); hits: uint32 or uint64, room for m + 1.
    """
    found = ZERO
    for i in range(m):
        value = keys[U64(i)] - base
        word = value >> SIX
        bit = value & LOW_SIX
        old = bitmap[word]
        bitmap[word] = old & ~(ONE << bit)
        hits[found] = value
        found += (old >> bit) & ONE
    return found


@kernel
def sweep(bitmap: Any, start: Any, words: Any, base: Any, out: Any, room: Any) -> Any:
    """Write base + position of every set bit from word `start` on, and clear those words.

    out: uint64[>= room + 64]. Stops at the first word at which `room` keys are written.
    Returns (next word, keys written).
    """
    n = ZERO
    word = start
    while word < words and n < room:
        bits = bitmap[word]
        bitmap[word] = ZERO
        place = base + (word << SIX)
        while bits != ZERO:
            out[n] = place + ctz64(bits)
            n += ONE
            bits &= bits - ONE
        word += ONE
    return word, n
