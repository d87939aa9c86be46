"""Ways of writing down a block of ascending keys; each has an encoder and a distrustful decoder.

The bytes are described in store/FORMAT.md. All keys of a block are first + (i << shift) for
ascending i, where shift is the number of low bits that no difference uses; a gap is the difference
of neighbouring i, less one.

- RAW: the keys but the first, eight bytes each.
- BITMAP: one bit for every i.
- OCTAVES: for every gap a four-bit class of its bit length, and the bits that the class leaves open
  (Elias, Universal codeword sets, 1975, with the lengths apart from the bits so that neither
  waits for the other; the classes fit the block).
- VARINT: every gap in bytes of seven bits (LEB128); not short by itself, but zstd around it is.

A decoder reads at most PAD bytes past the end of its input and writes only keys[:count], whatever
the bytes say. It returns OK or the fault it found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels.jit import clz64, ctz64, kernel, load64, popcount64, store64

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
BYTE = U64(255)
SEVEN_BITS = U64(127)
HIGH_BIT = U64(128)

RAW = U64(0)
BITMAP = U64(1)
OCTAVES = U64(2)
VARINT = U64(3)

PAD = 160
"""Bytes that must be readable behind the input of a decoder, and writable behind an encoder's."""

OK = U64(0)
TOO_SHORT = U64(1)
TOO_LONG = U64(2)
NOT_ASCENDING = U64(3)
WRONG_COUNT = U64(4)
WRONG_LAST = U64(5)
BAD_TABLE = U64(6)

LOAD = U64(56)
"""This many bits can be had with one load or store, wherever in a byte they begin."""

SMALL = U64(4096)
"""In blocks of up to this many keys every gap helps to choose the classes."""

FEW_BITS = U64(46)
"""With gaps below 2**(FEW_BITS + 1) the keys of a block cannot wrap around from below 2**63."""

# Parts of the work array, uint64[WORK].
HISTOGRAM = U64(0)  # sampled gaps of each bit length 0 .. 64
CLASS = U64(72)  # by leading zeros of a gap: its class, and the bits that leaves open << 8
WIDTH = U64(144)  # bits that a class leaves open
BASE = U64(160)  # what is added to the bits of a class to give the gap plus one
WORK = 176
TABLE_BYTES = U64(9)


@kernel
def survey(keys: Any, n: Any) -> Any:
    """The OR of all differences of neighbours in keys uint64[>= n]; 0 when n is 1."""
    seen = ZERO
    for i in range(ONE, n):
        seen |= keys[i] - keys[i - ONE]
    return seen


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
def load_wide(data: Any, position: Any, width: Any) -> Any:
    """The `width` <= 64 bits of data from bit `position` on."""
    some = min(width, THIRTY_TWO)
    bits = low_bits(load64(data, position >> THREE) >> (position & SEVEN), some)
    position += some
    some = width - some
    high = low_bits(load64(data, position >> THREE) >> (position & SEVEN), some)
    return bits | (high << THIRTY_TWO)


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
    if top + shift > FEW_BITS or first >> SIXTY_THREE != ZERO:  # else no sum can have wrapped
        wrong = ZERO
        for i in range(ONE, n):  # vectorised, unlike the same test in the loop above
            wrong |= U64(keys[i] <= keys[i - ONE])
        if wrong != ZERO:
            return NOT_ASCENDING
    return OK if key == last else WRONG_LAST


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
        target = slot >> U64(6)
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
    words = (((last - first) >> shift) >> U64(6)) + ONE
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
    starts, bits = plan_octaves(keys, n, shift, top, work)
    expected = (bits >> THREE) + TABLE_BYTES
    bitmap = ((((keys[n - ONE] - keys[ZERO]) >> shift) >> U64(6)) + ONE) << THREE
    if bitmap <= raw and bitmap <= expected:
        return BITMAP, shift, encode_bitmap(keys, n, shift, out, at)
    end = encode_octaves(keys, n, shift, starts, top, work, out, at)
    if bitmap <= raw and bitmap < end - at:
        return BITMAP, shift, encode_bitmap(keys, n, shift, out, at)
    if raw <= end - at:
        return RAW, ZERO, encode_raw(keys, n, out, at)
    return OCTAVES, shift, end


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
    if codec == VARINT:
        return decode_varint(data, at, length, n, shift, first, last, keys)
    return decode_raw(data, at, length, n, first, last, keys)


def warm() -> None:
    """Compile or load every kernel of this module."""
    keys = np.arange(3, dtype=np.uint64)
    out = np.empty(64 + PAD, np.uint8)
    work = np.empty(WORK, np.uint64)
    codec, shift, end = encode(keys, U64(3), out, ZERO, work)
    decode(U64(codec), out, ZERO, U64(end), U64(3), U64(shift), ZERO, TWO, work, keys)
    encode_varint(keys, U64(3), ZERO, out, ZERO)
