"""Ways of writing down a block of ascending keys; each has an encoder and a distrustful decoder.

The bytes are described in store/FORMAT.md. All keys of a block are first + (i << shift) for
ascending i, where shift is the number of low bits that no difference uses; a gap is the difference
of neighbouring i, less one.

- RAW: the keys but the first, eight bytes each.
- BITMAP: one bit for every i.
- OCTAVES: for every gap a class of bit lengths and the bits left open (store.kernels.octaves).
- VARINT: every gap in bytes of seven bits (LEB128); not short by itself, but zstd around it is.
- BYTES: every gap as a byte, with escapes (store.kernels.gapbytes); not the shortest, but swift.

A decoder reads at most PAD bytes past the end of its input and writes only keys[:n], whatever the
bytes say. It returns OK or the fault it found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels import bits, gapbytes, octaves
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
    TWO,
    U8,
    U64,
    WRONG_COUNT,
    WRONG_LAST,
    ZERO,
)
from store.kernels.gapbytes import decode_bytes, encode_bytes
from store.kernels.jit import clz64, ctz64, kernel, load64, popcount64, store64
from store.kernels.octaves import (
    TABLE_BYTES,
    decode_octaves,
    encode_octaves,
    plan_octaves,
)

__all__ = [
    "BAD_TABLE",
    "BITMAP",
    "BYTES",
    "NOT_ASCENDING",
    "OCTAVES",
    "OK",
    "PAD",
    "RAW",
    "TOO_LONG",
    "TOO_SHORT",
    "VARINT",
    "WORK",
    "WRONG_COUNT",
    "WRONG_LAST",
    "decode",
    "encode",
    "encode_swift",
    "encode_varint",
    "warm",
]

RAW = U64(0)
BITMAP = U64(1)
OCTAVES = U64(2)
VARINT = U64(3)
BYTES = U64(4)

WORK = max(octaves.WORK, gapbytes.WORK)
"""Length of the work array of encoders and decoders, uint64."""

SIX = U64(6)
SEVEN_BITS = U64(127)
HIGH_BIT = U64(128)


@kernel
def survey(keys: Any, n: Any) -> Any:
    """The OR of all differences of neighbours in keys uint64[>= n]; 0 when n is 1."""
    seen = ZERO
    for i in range(ONE, n):
        seen |= keys[i] - keys[i - ONE]
    return seen


@kernel
def encode_bitmap(keys: Any, n: Any, shift: Any, out: Any, at: Any) -> Any:
    """Write the body of BITMAP for keys[:n] to out[at:]; the position after it.

    out: uint8 with room for the whole words behind `at`.
    """
    first = keys[ZERO]
    held = ZERO
    word = ZERO
    for i in range(n):
        slot = (keys[i] - first) >> shift
        target = slot >> SIX
        while word < target:
            store64(out, at, held)
            at += EIGHT
            word += ONE
            held = ZERO
        held |= ONE << (slot & SIXTY_THREE)
    store64(out, at, held)
    return at + EIGHT


@kernel
def decode_bitmap(
    data: Any, at: Any, length: Any, n: Any, shift: Any, first: Any, last: Any, keys: Any
) -> Any:
    """Read data[at:at + length] into keys[:n]; OK or a fault. Writes just when n bits are set."""
    words = (((last - first) >> shift) >> SIX) + ONE
    if length != words << THREE:
        return TOO_SHORT if length >> THREE < words else TOO_LONG
    count = ZERO
    for w in range(words):
        count += popcount64(load64(data, at + (w << THREE)))
    if count != n:
        return WRONG_COUNT
    out = ZERO
    base = first
    for w in range(words):
        held = load64(data, at + (w << THREE))
        while held != ZERO:
            keys[out] = base + (ctz64(held) << shift)
            out += ONE
            held &= held - ONE
        base += SIXTY_FOUR << shift
    if keys[ZERO] != first or keys[n - ONE] != last:
        return WRONG_LAST
    return OK


@kernel
def encode_varint(keys: Any, n: Any, shift: Any, out: Any, at: Any) -> Any:
    """Write the body of VARINT for keys[:n] to out[at:]; the position after it.

    out: uint8 with room for 10 bytes a gap behind `at`.
    """
    key = keys[ZERO]
    for i in range(ONE, n):
        after = keys[i]
        gap = ((after - key) >> shift) - ONE
        key = after
        while gap > SEVEN_BITS:
            out[at] = U8((gap & SEVEN_BITS) | HIGH_BIT)
            gap >>= SEVEN
            at += ONE
        out[at] = U8(gap)
        at += ONE
    return at


@kernel
def decode_varint(
    data: Any, at: Any, length: Any, n: Any, shift: Any, first: Any, last: Any, keys: Any
) -> Any:
    """Read data[at:at + length] into keys[:n]; OK or a fault."""
    end = at + length
    key = first
    keys[ZERO] = first
    wrong = ZERO
    for i in range(ONE, n):
        if at >= end:
            return TOO_SHORT
        byte = U64(data[at])
        at += ONE
        gap = byte & SEVEN_BITS
        scale = SEVEN
        while byte > SEVEN_BITS:
            if at >= end or scale > SIXTY_THREE:
                return TOO_SHORT
            byte = U64(data[at])
            at += ONE
            gap |= (byte & SEVEN_BITS) << scale
            scale += SEVEN
        before = key
        key += (gap + ONE) << shift
        wrong |= U64(key <= before)
        keys[i] = key
    if at != end:
        return TOO_LONG
    if wrong != ZERO:
        return NOT_ASCENDING
    return OK if key == last else WRONG_LAST


@kernel
def encode_raw(keys: Any, n: Any, out: Any, at: Any) -> Any:
    """Write keys[1:n] to out[at:], eight bytes each; the position after them."""
    for i in range(ONE, n):
        store64(out, at, keys[i])
        at += EIGHT
    return at


@kernel
def decode_raw(data: Any, at: Any, length: Any, n: Any, first: Any, last: Any, keys: Any) -> Any:
    """Read data[at:at + length] into keys[:n]; OK or a fault."""
    if length != (n - ONE) << THREE:
        return TOO_SHORT if length < (n - ONE) << THREE else TOO_LONG
    keys[ZERO] = first
    wrong = ZERO
    before = first
    for i in range(ONE, n):
        key = load64(data, at)
        at += EIGHT
        wrong |= U64(key <= before)
        keys[i] = key
        before = key
    if wrong != ZERO:
        return NOT_ASCENDING
    return OK if before == last else WRONG_LAST


@kernel
def encode(keys: Any, n: Any, out: Any, at: Any, work: Any) -> Any:
    """Write the body of keys[:n], which ascend strictly, in the shortest way; (codec, shift, end).

    keys: uint64[>= n], n >= 1; out: uint8 with room for 9 + 9 * n + PAD bytes behind `at`; work:
    uint64[WORK].
    """
    raw = (n - ONE) << THREE
    seen = survey(keys, n)
    if seen == ZERO:
        return RAW, ZERO, at
    shift = ctz64(seen)
    top = SIXTY_FOUR - clz64(seen >> shift)
    starts, expected = plan_octaves(keys, n, shift, top, work)
    expected = (expected >> THREE) + TABLE_BYTES
    bitmap = ((((keys[n - ONE] - keys[ZERO]) >> shift) >> SIX) + ONE) << THREE
    if bitmap <= raw and bitmap <= expected:
        return BITMAP, shift, encode_bitmap(keys, n, shift, out, at)
    end = encode_octaves(keys, n, shift, starts, top, work, out, at)
    if bitmap <= raw and bitmap < end - at:
        return BITMAP, shift, encode_bitmap(keys, n, shift, out, at)
    if raw <= end - at:
        return RAW, ZERO, encode_raw(keys, n, out, at)
    return OCTAVES, shift, end


@kernel
def encode_swift(keys: Any, n: Any, out: Any, at: Any, work: Any) -> Any:
    """As encode, but BYTES where that takes no more than sixteen bits a key and BITMAP more."""
    seen = survey(keys, n)
    if seen == ZERO:
        return RAW, ZERO, at
    shift = ctz64(seen)
    bitmap = ((((keys[n - ONE] - keys[ZERO]) >> shift) >> SIX) + ONE) << THREE
    if bitmap > n:
        end = encode_bytes(keys, n, shift, n, out, at, work)
        if end != ZERO and end - at <= bitmap:
            return BYTES, shift, end
    return encode(keys, n, out, at, work)


@kernel
def decode(
    codec: Any,
    data: Any,
    at: Any,
    length: Any,
    n: Any,
    shift: Any,
    first: Any,
    last: Any,
    work: Any,
    keys: Any,
) -> Any:
    """Read the body data[at:at + length] into keys[:n]; OK or a fault.

    data: uint8 with PAD readable bytes behind the body; keys: uint64[>= n]; n >= 1, shift < 64 and
    first <= last are the caller's to check.
    """
    if codec == OCTAVES:
        return decode_octaves(data, at, length, n, shift, first, last, work, keys)
    if codec == BITMAP:
        return decode_bitmap(data, at, length, n, shift, first, last, keys)
    if codec == BYTES:
        return decode_bytes(data, at, length, n, shift, first, last, work, keys)
    if codec == VARINT:
        return decode_varint(data, at, length, n, shift, first, last, keys)
    return decode_raw(data, at, length, n, first, last, keys)


def warm() -> None:
    """Compile or load every kernel of this module and of those it stands on."""
    bits.warm()
    octaves.warm()
    gapbytes.warm()
    keys = np.arange(3, dtype=np.uint64)
    out = np.empty(64 + PAD, np.uint8)
    work = np.empty(WORK, np.uint64)
    codec, shift, end = encode(keys, U64(3), out, ZERO, work)
    decode(U64(codec), out, ZERO, U64(end), U64(3), U64(shift), ZERO, TWO, work, keys)
    encode_varint(keys, U64(3), ZERO, out, ZERO)
    encode_swift(keys, U64(3), out, ZERO, work)
