"""OCTAVES: the codec of sparse blocks. A gap is a class of bit lengths and the bits left open.

After Elias, Universal codeword sets and representations of the integers, 1975, with the lengths
apart from the bits, so that the decoder never waits for one length to find the next. The bytes are
described in store/FORMAT.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels.bits import (
    BAD_TABLE,
    EIGHT,
    FIFTEEN,
    FOUR,
    LOAD,
    NOT_ASCENDING,
    OK,
    ONE,
    PAD,
    SEVEN,
    SIXTEEN,
    SIXTY_FOUR,
    SIXTY_THREE,
    THREE,
    TOO_LONG,
    TOO_SHORT,
    TWO,
    U8,
    U64,
    WRONG_LAST,
    ZERO,
    load_wide,
    low_bits,
    out_of_order,
    put,
    put_wide,
)
from store.kernels.jit import clz64, ctz64, kernel, load64, popcount64, store64

BYTE = U64(255)

# Parts of the work array, uint64[WORK].
HISTOGRAM = U64(0)  # sampled gaps of each bit length 0 .. 64
CLASS = U64(72)  # by leading zeros of a gap: its class, and the bits that leaves open << 8
WIDTH = U64(144)  # bits that a class leaves open
BASE = U64(160)  # what is added to the bits of a class to give the gap plus one
WORK = 176

TABLE_BYTES = U64(9)

SMALL = U64(4096)
"""In blocks of up to this many keys every gap helps to choose the classes."""


@kernel
def fill_classes(starts: Any, top: Any, work: Any) -> Any:
    """Lay out the classes of OCTAVES in `work`; their number, or 0 when the table is not legal.

    starts: bit b is set when a class begins at bit length b, at most 16 of them and bit 0 among
    them; top: the greatest bit length. A class of one bit length leaves the bits below the highest
    one open; a class of several leaves as many bits open as its longest gap has.
    """
    if starts & ONE == ZERO or popcount64(starts) > SIXTEEN or top > SIXTY_FOUR:
        return ZERO
    if top < SIXTY_THREE and starts >> (top + ONE) != ZERO:
        return ZERO
    for unused in range(SIXTEEN):
        work[WIDTH + unused] = ZERO
        work[BASE + unused] = ONE
    classes = ZERO
    begin: Any = ZERO
    for length in range(top + ONE):
        if length < SIXTY_FOUR and (starts >> length) & ONE != ZERO:
            classes += ONE
            begin = length
        c = classes - ONE
        if begin == length and length > ZERO:
            work[WIDTH + c] = length - ONE
            work[BASE + c] = (ONE << (length - ONE)) + ONE
        else:
            work[WIDTH + c] = length
            work[BASE + c] = ONE
        work[CLASS + SIXTY_FOUR - length] = c
    for length in range(top + ONE):
        c = work[CLASS + SIXTY_FOUR - length]
        work[CLASS + SIXTY_FOUR - length] = c | (work[WIDTH + c] << EIGHT)
    return classes


@kernel
def plan_octaves(keys: Any, n: Any, shift: Any, top: Any, work: Any) -> Any:
    """Choose classes for the gaps of keys[:n]; (starts, expected bits of all gaps).

    Of a large block every eighth gap is looked at; `top` is the greatest bit length that a gap can
    have. Beginning with a class for each bit length, the two neighbours that cost least together
    are united until 16 classes are left.
    """
    begin: Any = ZERO
    for length in range(top + ONE):
        work[HISTOGRAM + length] = ZERO
    sampled = ZERO
    step = EIGHT if n > SMALL else ONE
    for i in range(ONE, n, step):
        gap = ((keys[i] - keys[i - ONE]) >> shift) - ONE
        work[HISTOGRAM + SIXTY_FOUR - clz64(gap)] += ONE
        sampled += ONE
    starts: Any = ~ZERO if top >= SIXTY_THREE else (ONE << (top + ONE)) - ONE
    classes = popcount64(starts)
    while classes > SIXTEEN:
        cheapest = ~ZERO
        victim = ZERO
        # Joining the class that begins at `middle` to the one before it.
        begin = ZERO
        middle: Any = ONE + ctz64(starts >> ONE)
        while middle <= top and middle < SIXTY_FOUR:
            rest = starts >> middle >> ONE
            end = top + ONE
            if middle < SIXTY_THREE and rest != ZERO:
                end = middle + ONE + ctz64(rest)
            cost = ZERO
            joined = end - ONE
            for length in range(begin, end):
                low = begin
                high = middle
                if length >= middle:
                    low = middle
                    high = end
                width = high - ONE
                if high == low + ONE and low > ZERO:
                    width = low - ONE
                cost += work[HISTOGRAM + length] * (joined - width)
            if cost < cheapest:
                cheapest = cost
                victim = middle
            begin = middle
            middle = end
        starts &= ~(ONE << victim)
        classes -= ONE
    fill_classes(starts, top, work)
    bits = ZERO
    for length in range(top + ONE):
        width = work[CLASS + SIXTY_FOUR - length] >> EIGHT
        bits += work[HISTOGRAM + length] * (width + FOUR)
    if sampled > ZERO:
        bits = bits * (n - ONE) // sampled
    return starts, bits


@kernel
def encode_octaves(
    keys: Any, n: Any, shift: Any, starts: Any, top: Any, work: Any, out: Any, at: Any
) -> Any:
    """Write the body of OCTAVES for keys[:n] to out[at:]; the position after it.

    `work` holds the classes. out: uint8 with room for 9 + 9 * n + PAD bytes behind `at`.
    """
    store64(out, at, starts)
    out[at + EIGHT] = U8(top)
    nibbles = at + TABLE_BYTES
    position = nibbles + (n >> ONE)
    held = ZERO
    fill = ZERO
    gaps = n - ONE
    key = keys[ZERO]
    i = ZERO
    while i + FOUR <= gaps:
        key1 = keys[i + ONE]
        key2 = keys[i + TWO]
        key3 = keys[i + THREE]
        key4 = keys[i + FOUR]
        gap0 = ((key1 - key) >> shift) - ONE
        gap1 = ((key2 - key1) >> shift) - ONE
        gap2 = ((key3 - key2) >> shift) - ONE
        gap3 = ((key4 - key3) >> shift) - ONE
        key = key4
        entry0 = work[CLASS + clz64(gap0)]
        entry1 = work[CLASS + clz64(gap1)]
        entry2 = work[CLASS + clz64(gap2)]
        entry3 = work[CLASS + clz64(gap3)]
        out[nibbles] = U8((entry0 | (entry1 << FOUR)) & BYTE)
        out[nibbles + ONE] = U8((entry2 | (entry3 << FOUR)) & BYTE)
        nibbles += TWO
        i += FOUR
        width0 = entry0 >> EIGHT
        width1 = entry1 >> EIGHT
        width2 = entry2 >> EIGHT
        width3 = entry3 >> EIGHT
        low = width0 + width1
        high = width2 + width3
        pair0 = low_bits(gap0, width0) | (low_bits(gap1, width1) << width0)
        pair1 = low_bits(gap2, width2) | (low_bits(gap3, width3) << width2)
        if low + high <= LOAD:
            held |= (pair0 | (pair1 << low)) << fill
            position, held, fill = put(out, position, held, fill + low + high)
        elif low <= LOAD and high <= LOAD:
            position, held, fill = put(out, position, held | (pair0 << fill), fill + low)
            position, held, fill = put(out, position, held | (pair1 << fill), fill + high)
        else:
            position, held, fill = put_wide(out, position, held, fill, gap0, width0)
            position, held, fill = put_wide(out, position, held, fill, gap1, width1)
            position, held, fill = put_wide(out, position, held, fill, gap2, width2)
            position, held, fill = put_wide(out, position, held, fill, gap3, width3)
    while i < gaps:
        after = keys[i + ONE]
        gap = ((after - key) >> shift) - ONE
        key = after
        entry = work[CLASS + clz64(gap)]
        if i & ONE == ZERO:
            out[nibbles] = U8(entry & FIFTEEN)
        else:
            out[nibbles] |= U8((entry & FIFTEEN) << FOUR)
            nibbles += ONE
        position, held, fill = put_wide(out, position, held, fill, gap, entry >> EIGHT)
        i += ONE
    if fill > ZERO:
        out[position] = U8(held)
        position += ONE
    return position


@kernel
def decode_octaves(
    data: Any, at: Any, length: Any, n: Any, shift: Any, first: Any, last: Any, work: Any, keys: Any
) -> Any:
    """Read data[at:at + length] into keys[:n]; OK or a fault.

    data: uint8 with PAD bytes behind the body; keys: uint64[>= n]; n >= 1.
    """
    gaps = n - ONE
    if length < TABLE_BYTES + (n >> ONE):
        return TOO_SHORT
    top = U64(data[at + EIGHT])
    if fill_classes(load64(data, at), top, work) == ZERO:
        return BAD_TABLE
    nibbles = at + TABLE_BYTES
    position = (nibbles + (n >> ONE)) << THREE
    end = (at + length) << THREE
    key = first
    keys[ZERO] = first
    i: Any = ZERO
    while i + SIXTEEN <= gaps:
        if position > end:
            return TOO_SHORT
        classes = load64(data, nibbles)
        nibbles += EIGHT
        for _ in range(EIGHT):
            c0 = classes & FIFTEEN
            c1 = (classes >> FOUR) & FIFTEEN
            classes >>= EIGHT
            width0 = work[WIDTH + c0]
            width1 = work[WIDTH + c1]
            bits = load64(data, position >> THREE) >> (position & SEVEN)
            if width0 + width1 <= LOAD:
                gap0 = low_bits(bits, width0)
                gap1 = low_bits(bits >> width0, width1)
            else:
                gap0 = load_wide(data, position, width0)
                gap1 = load_wide(data, position + width0, width1)
            position += width0 + width1
            key += (gap0 + work[BASE + c0]) << shift
            keys[i + ONE] = key
            key += (gap1 + work[BASE + c1]) << shift
            i += TWO
            keys[i] = key
    while i < gaps:
        if position > end:
            return TOO_SHORT
        c0 = (U64(data[nibbles]) >> ((i & ONE) << TWO)) & FIFTEEN
        nibbles += i & ONE
        width0 = work[WIDTH + c0]
        key += (load_wide(data, position, width0) + work[BASE + c0]) << shift
        position += width0
        i += ONE
        keys[i] = key
    if (position + SEVEN) >> THREE != at + length:
        return TOO_LONG if position < end else TOO_SHORT
    if out_of_order(keys, n, top + shift, first):
        return NOT_ASCENDING
    return OK if key == last else WRONG_LAST


def warm() -> None:
    """Compile or load every kernel of this module."""
    keys = np.arange(3, dtype=np.uint64)
    out = np.zeros(64 + PAD, np.uint8)
    work = np.empty(WORK, np.uint64)
    starts, _ = plan_octaves(keys, U64(3), ZERO, ZERO, work)
    end = encode_octaves(keys, U64(3), ZERO, U64(starts), ZERO, work, out, ZERO)
    decode_octaves(out, ZERO, U64(end), U64(3), ZERO, ZERO, TWO, work, keys)
