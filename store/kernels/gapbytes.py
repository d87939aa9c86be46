"""BYTES: the codec of dense blocks that are written and read in a hurry. A gap is a byte.

Gaps of 255 and more are escaped and follow behind the bytes. About two bits a key longer than
OCTAVES on fibre layers of the 15-puzzle, where one gap in a hundred is escaped, but writing takes a
quarter of the time and reading half of it. The bytes are described in store/FORMAT.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels.bits import (
    BAD_TABLE,
    EIGHT,
    NOT_ASCENDING,
    OK,
    ONE,
    PAD,
    SEVEN,
    SIXTY_FOUR,
    SIXTY_THREE,
    THREE,
    TOO_LONG,
    TOO_SHORT,
    U8,
    U64,
    WRONG_LAST,
    ZERO,
    list_escapes,
    out_of_order,
)
from store.kernels.jit import clz64, kernel, load64, store64

ESCAPE = U64(255)
CHUNK = U64(1024)
"""So many gaps go through one step before the next."""
WORK = 1024 + 4
"""Length of the work array, uint64: where the escapes of a chunk are."""


@kernel
def encode_bytes(keys: Any, n: Any, shift: Any, most: Any, out: Any, at: Any, work: Any) -> Any:
    """Write the body of BYTES for keys[:n] to out[at:]; the position after it.

    0 when all escapes together take more than `most` bytes. n >= 2; out: uint8 with room for
    n + most + PAD bytes behind `at`; work: uint64[WORK].
    """
    gaps = n - ONE
    codes = at + ONE
    every = ZERO
    for i in range(gaps):
        gap = ((keys[U64(i) + ONE] - keys[U64(i)]) >> shift) - ONE
        out[codes + U64(i)] = U8(min(gap, ESCAPE))
        every |= gap
    size = (SIXTY_FOUR - clz64(every) + SEVEN) >> THREE
    out[at] = U8(size)
    position = codes + gaps
    end = position + most
    if every < ESCAPE:
        return position
    for begin in range(ZERO, gaps, CHUNK):
        escaped = list_escapes(out, codes, begin, min(begin + CHUNK, gaps), work, ZERO)
        if position + escaped * size > end:
            return ZERO
        for k in range(escaped):
            i = work[U64(k)]
            store64(out, position, ((keys[i + ONE] - keys[i]) >> shift) - ONE)
            position += size
    return position


@kernel
def decode_bytes(
    data: Any, at: Any, length: Any, n: Any, shift: Any, first: Any, last: Any, work: Any, keys: Any
) -> Any:
    """Read data[at:at + length] into keys[:n]; OK or a fault.

    data: uint8 with PAD bytes behind the body; keys: uint64[>= n]; n >= 1; work: uint64[WORK].
    """
    gaps = n - ONE
    if length < n:
        return TOO_SHORT
    size = U64(data[at])
    if size > EIGHT:
        return BAD_TABLE
    mask = ~ZERO >> ((SIXTY_FOUR - (size << THREE)) & SIXTY_THREE)
    if size == ZERO:
        mask = ZERO
    codes = at + ONE
    position = codes + gaps
    end = at + length
    key = first
    keys[ZERO] = first
    for begin in range(ZERO, gaps, CHUNK):
        stop = min(begin + CHUNK, gaps)
        for i in range(begin, stop):
            keys[U64(i) + ONE] = U64(data[codes + U64(i)]) + ONE
        escaped = list_escapes(data, codes, begin, stop, work, ZERO)
        if position + escaped * size > end:
            return TOO_SHORT
        for k in range(escaped):
            keys[work[U64(k)] + ONE] = (load64(data, position) & mask) + ONE
            position += size
        for i in range(begin, stop):
            key += keys[U64(i) + ONE] << shift
            keys[U64(i) + ONE] = key
    if position != end:
        return TOO_LONG
    if out_of_order(keys, n, max(size, ONE) * EIGHT + shift, first):
        return NOT_ASCENDING
    return OK if key == last else WRONG_LAST


def warm() -> None:
    """Compile or load every kernel of this module."""
    keys = np.arange(0, 900, 300, dtype=np.uint64)
    out = np.zeros(64 + PAD, np.uint8)
    work = np.empty(WORK, np.uint64)
    end = encode_bytes(keys, U64(3), ZERO, U64(9), out, ZERO, work)
    decode_bytes(out, ZERO, U64(end), U64(3), ZERO, ZERO, U64(600), work, keys)
