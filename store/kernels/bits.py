"""What the codecs share: their faults, bits of a byte array, and finding its escapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels.jit import ctz64, full_bytes, kernel, load64, popcount64, store64

U64 = np.uint64
U8 = np.uint8
ZERO = U64(0)
ONE = U64(1)
TWO = U64(2)
THREE = U64(3)
FOUR = U64(4)
SEVEN = U64(7)
EIGHT = U64(8)
FIFTEEN = U64(15)
SIXTEEN = U64(16)
THIRTY_TWO = U64(32)
SIXTY_THREE = U64(63)
SIXTY_FOUR = U64(64)

PAD = 160
"""Bytes that must be readable behind the input of a decoder, and writable behind an encoder's."""

OK = U64(0)
TOO_SHORT = U64(1)
TOO_LONG = U64(2)
NOT_ASCENDING = U64(3)
WRONG_COUNT = U64(4)
WRONG_LAST = U64(5)
BAD_TABLE = U64(6)
BAD_CODE = U64(7)

FEW_BITS = U64(46)
"""With gaps below 2**(FEW_BITS + 1) the keys of a block cannot wrap around from below 2**63."""

LOAD = U64(56)
"""This many bits can be had with one load or store, wherever in a byte they begin."""


@kernel
def low_bits(value: Any, width: Any) -> Any:
    """The lowest width < 64 bits of a uint64."""
    return value & ((ONE << width) - ONE)


@kernel
def put(out: Any, position: Any, held: Any, fill: Any) -> Any:
    """Write the lowest fill < 64 bits of `held` to out[position:]; what is left of a last byte.

    Returns (position, held, fill) to go on with: fill < 8 bits wait in `held`.
    """
    store64(out, position, held)
    return position + (fill >> THREE), held >> (fill & ~SEVEN), fill & SEVEN


@kernel
def put_wide(out: Any, position: Any, held: Any, fill: Any, bits: Any, width: Any) -> Any:
    """Write the lowest width <= 64 bits of `bits` behind those that wait; returns as put."""
    some = min(width, THIRTY_TWO)
    held |= low_bits(bits, some) << fill
    position, held, fill = put(out, position, held, fill + some)
    some = width - some
    held |= low_bits(bits >> THIRTY_TWO, some) << fill
    return put(out, position, held, fill + some)


@kernel
def load_wide(data: Any, position: Any, width: Any) -> Any:
    """The `width` <= 64 bits of data from bit `position` on."""
    some = min(width, THIRTY_TWO)
    bits = low_bits(load64(data, position >> THREE) >> (position & SEVEN), some)
    position += some
    some = width - some
    high = low_bits(load64(data, position >> THREE) >> (position & SEVEN), some)
    return bits | (high << THIRTY_TWO)


@kernel
def list_escapes(data: Any, at: Any, begin: Any, end: Any, where: Any, base: Any) -> Any:
    """Write to where[base:] the i of begin .. end - 1 with data[at + i] == 255; how many.

    where: uint64 with room for four more than there are; 63 bytes of data behind the last are read.
    """
    found = base
    for group in range(begin, end, SIXTY_FOUR):
        escapes = full_bytes(data, at + group)
        if end - group < SIXTY_FOUR:
            escapes &= (ONE << (end - group)) - ONE
        behind = found + popcount64(escapes)
        # Four at least, because a loop that ends here and there would often be guessed wrong.
        for k in range(found, found + FOUR):
            where[k] = group + ctz64(escapes)
            escapes &= escapes - ONE
        for k in range(found + FOUR, behind):
            where[k] = group + ctz64(escapes)
            escapes &= escapes - ONE
        found = behind
    return found - base


@kernel
def out_of_order(keys: Any, n: Any, top: Any, first: Any) -> Any:
    """Whether keys[:n], sums of gaps from `first` on, do not ascend strictly.

    They do when none can have wrapped around: gaps, scaled, have at most `top` bits. Otherwise they
    are compared, in a loop of their own, which is vectorised as it would not be among the sums.
    """
    wrong = ZERO
    if top > FEW_BITS or first >> SIXTY_THREE != ZERO:
        for i in range(ONE, n):
            wrong |= U64(keys[i] <= keys[i - ONE])
    return wrong != ZERO


def warm() -> None:
    """Compile or load every kernel of this module."""
    data = np.zeros(32, np.uint8)
    put_wide(data, ZERO, ZERO, ZERO, ONE, ONE)
    load_wide(data, ZERO, ONE)
    out_of_order(np.zeros(2, np.uint64), ONE, ONE, ZERO)
    list_escapes(np.zeros(PAD, np.uint8), ZERO, ZERO, ONE, np.zeros(8, np.uint64), ZERO)
