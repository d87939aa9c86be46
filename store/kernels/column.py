"""Writing down a payload column of 16 or 32 bits: one byte a key that names a listed value.

The bytes are described in store/FORMAT.md. A block lists up to 255 values; byte 255 says that the
value itself follows behind the list, among the escapes. Which values are worth a place in the list
is told by a sample of the block: the first ones to appear are not good enough (measured on the
15-puzzle's fibre layers: 10 % escapes, against 4 % with a sample and 3 % at best).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels.bits import (
    BAD_CODE,
    BAD_TABLE,
    OK,
    ONE,
    PAD,
    SEVEN,
    SIXTY_FOUR,
    THREE,
    TOO_LONG,
    TOO_SHORT,
    TWO,
    U8,
    U64,
    ZERO,
    list_escapes,
    low_bits,
    put,
)
from store.kernels.jit import clz64, kernel, load64

__all__ = [
    "BAD_CODE",
    "BAD_TABLE",
    "ENCODER_WORK",
    "OK",
    "TABLE",
    "TOO_LONG",
    "TOO_SHORT",
    "decode_column",
    "encode_column",
    "warm",
]

ESCAPE = U64(255)
MOST_LISTED = U64(255)

# Parts of the encoder's work array, uint64[ENCODER_WORK]. The slots are zero between calls.
SLOTS = U64(1 << 13)  # (value + 1) << 24 | how often it was seen, later its code; 0 when free
SEEN = U64(1 << 13)  # slots in use, in order of appearance
MOST_SEEN = U64(2048)
TALLY = U64((1 << 13) + 2048)  # how many values were seen 0, 1, ... 255 or more times
MISSED = U64((1 << 13) + 256)  # keys of a chunk without a code so far, behind the chosen slots
FOUND = U64((1 << 13) + 2048 + 256)  # what the hashes of a chunk lead to
ENCODER_WORK = (1 << 13) + 2048 + 256 + 1024

HASH = U64(0x9E3779B1)
HASH_SHIFT = U64(32 - 13)
COUNT_BITS = U64(24)
COUNT = U64((1 << 24) - 1)

SAMPLE = U64(4096)
"""About so many keys of a block are looked at to choose the values that are listed."""

CHUNK = U64(1024)
"""So many keys go through one stage before the next."""

TABLE = 256 + 1024 + 4
"""Length of the decoder's uint64 table: what each code stands for, or one of two bits; escapes."""
WHERE = U64(256)
ESCAPED = U64(1 << 32)
UNLISTED = U64(1 << 33)
VALUE = U64((1 << 32) - 1)


@kernel
def find_slot(work: Any, value: Any) -> Any:
    """The slot that holds `value`, or the free one where it belongs."""
    slot = ((value * HASH) & VALUE) >> HASH_SHIFT
    while work[slot] != ZERO and work[slot] >> COUNT_BITS != value + ONE:
        slot = (slot + ONE) & (SLOTS - ONE)
    return slot


@kernel
def count_sample(column: Any, n: Any, work: Any) -> Any:
    """Count the values of a sample of column[:n] in the slots; (values seen, keys looked at).

    Values beyond the first MOST_SEEN different ones are not counted.
    """
    step = (n + SAMPLE - ONE) // SAMPLE
    seen = ZERO
    for i in range(ZERO, n, step):
        value = U64(column[i])
        slot = find_slot(work, value)
        if work[slot] != ZERO:
            work[slot] += ONE
        elif seen < MOST_SEEN:
            work[slot] = ((value + ONE) << COUNT_BITS) | ONE
            work[SEEN + seen] = slot
            seen += ONE
    return seen, (n + step - ONE) // step


@kernel
def choose(seen: Any, work: Any) -> Any:
    """Leave in the slots the values seen most, at most 255; (how many, how often seen together).

    Afterwards a slot holds value + 1 << 24 | code and work[SEEN + code] its number. Codes are given
    in order of appearance.
    """
    for i in range(ESCAPE + ONE):
        work[TALLY + i] = ZERO
    for i in range(seen):
        entry = work[work[SEEN + i]]
        work[TALLY + min(entry & COUNT, ESCAPE)] += ONE
    # All values seen more often than `edge` are listed, and `spare` of those seen as often.
    edge = ESCAPE
    spare = MOST_LISTED
    while edge > ZERO and work[TALLY + edge] <= spare:
        spare -= work[TALLY + edge]
        edge -= ONE
    listed = ZERO
    together = ZERO
    for i in range(seen):
        slot = work[SEEN + i]
        entry = work[slot]
        work[slot] = ZERO
        often = min(entry & COUNT, ESCAPE)
        if often == edge and spare > ZERO:
            spare -= ONE
        elif often <= edge:
            continue
        work[SEEN + listed] = entry
        listed += ONE
        together += entry & COUNT
    for code in range(listed):
        value = (work[SEEN + code] >> COUNT_BITS) - ONE
        slot = find_slot(work, value)
        work[slot] = ((value + ONE) << COUNT_BITS) | code
        work[SEEN + code] = slot
    return listed, together


@kernel
def clear(listed: Any, work: Any) -> None:
    """Free all slots again."""
    for code in range(listed):
        work[work[SEEN + code]] = ZERO


@kernel
def write_codes(
    column: Any, n: Any, listed: Any, width: Any, room: Any, work: Any, out: Any, at: Any
) -> Any:
    """Write codes, list and escapes to out[at:]; the position after them, 0 without room.

    room: bits that list and escapes may take; those of the list fit.
    """
    position = at + n
    held = ZERO
    fill = ZERO
    for code in range(listed):
        held |= ((work[work[SEEN + code]] >> COUNT_BITS) - ONE) << fill
        position, held, fill = put(out, position, held, fill + width)
    used = listed * width
    for begin in range(ZERO, n, CHUNK):
        # First the code of what is right where its hash says, and 255 for the rest: a branch would
        # often be guessed wrong, and three short loops are faster than one, for two are vectors.
        some = min(CHUNK, n - begin)
        for j in range(some):
            work[FOUND + j] = ((U64(column[begin + j]) * HASH) & VALUE) >> HASH_SHIFT
        for j in range(some):
            work[FOUND + j] = work[work[FOUND + j]]
        for j in range(some):
            value = U64(column[begin + j])
            out[at + begin + j] = U8(min(work[FOUND + j] ^ ((value + ONE) << COUNT_BITS), ESCAPE))
        missed = list_escapes(out, at, begin, min(begin + CHUNK, n), work, MISSED)
        for k in range(missed):
            i = work[MISSED + k]
            value = U64(column[i])
            entry = work[find_slot(work, value)]
            if entry != ZERO:
                out[at + i] = U8(entry & ESCAPE)
                continue
            used += width
            if used > room:
                return ZERO
            held |= value << fill
            position, held, fill = put(out, position, held, fill + width)
    put(out, position, held, fill)
    return position + ((fill + SEVEN) >> THREE)


@kernel
def encode_column(column: Any, n: Any, out: Any, at: Any, work: Any) -> Any:
    """Write column[:n] as listed values to out[at:]; the position after it.

    0 when that is not shorter than the column itself; then out[at:] holds nothing of use. column:
    uint16 or uint32[>= n]; out: uint8 with room for the column itself and PAD bytes behind `at`;
    work: uint64[ENCODER_WORK], all zero at first.
    """
    raw = n * U64(column.itemsize)
    if raw < n + THREE:
        return ZERO
    room = (raw - n - THREE) << THREE
    every = ZERO
    for i in range(n):
        every |= U64(column[i])
    width = SIXTY_FOUR - clz64(every)
    seen, looked = count_sample(column, n, work)
    listed, together = choose(seen, work)
    likely = (looked - together) * n // looked
    end = ZERO
    if (listed + likely) * width <= room + (room >> THREE) and listed * width <= room:
        out[at] = U8(width)
        out[at + ONE] = U8(listed)
        end = write_codes(column, n, listed, width, room, work, out, at + TWO)
    clear(listed, work)
    return end


@kernel
def decode_column(data: Any, at: Any, length: Any, n: Any, table: Any, column: Any) -> Any:
    """Read data[at:at + length] into column[:n]; OK or a fault.

    data: uint8 with PAD readable bytes behind; column: uint16 or uint32[>= n], all of which may be
    written over in column[:n] even when there is a fault; table: uint64[TABLE].
    """
    if length < n + TWO:
        return TOO_SHORT
    width = U64(data[at])
    listed = U64(data[at + ONE])
    if width > U64(column.itemsize) << THREE:
        return BAD_TABLE
    codes = at + TWO
    values = codes + n
    rest = (length - n - TWO) << THREE
    if listed * width > rest:
        return TOO_SHORT
    position = values << THREE
    for code in range(listed):
        table[code] = low_bits(load64(data, position >> THREE) >> (position & SEVEN), width)
        position += width
    for code in range(listed, ESCAPE):
        table[code] = UNLISTED
    table[ESCAPE] = ESCAPED
    odd = ZERO
    for i in range(n):
        entry = table[data[codes + i]]
        column[i] = entry & VALUE
        odd |= entry
    if odd & UNLISTED != ZERO:
        return BAD_CODE
    used = listed * width
    if odd & ESCAPED != ZERO:
        for begin in range(ZERO, n, CHUNK):
            escaped = list_escapes(data, codes, begin, min(begin + CHUNK, n), table, WHERE)
            used += escaped * width
            if used > rest:
                return TOO_SHORT
            for k in range(escaped):
                word = load64(data, position >> THREE) >> (position & SEVEN)
                column[table[WHERE + k]] = low_bits(word, width)
                position += width
    if (used + SEVEN) >> THREE != rest >> THREE:
        return TOO_LONG
    return OK


def warm(bits: int | None = None) -> None:
    """Compile or load every kernel of this module, for columns of 16, 32 or (None) both widths."""
    out = np.zeros(64 + PAD, np.uint8)
    work = np.zeros(ENCODER_WORK, np.uint64)
    table = np.empty(TABLE, np.uint64)
    for dtype in (f"u{width // 8}" for width in (16, 32) if bits in (None, width)):
        column = np.zeros(16, dtype)
        end = encode_column(column, U64(16), out, ZERO, work)
        decode_column(out, ZERO, U64(end), U64(16), table, column)
