"""A block of records in one call: its keys, its payload and their fingerprints.

A call from Python gives up the interpreter lock and has to win it back, which takes the longer the
more workers there are; so all that happens to a block happens in one. Nothing but compositions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from store.kernels import codec as codecs
from store.kernels import column as columns
from store.kernels.bits import OK, ONE, PAD, THREE, U64, ZERO
from store.kernels.codec import decode as decode_body
from store.kernels.codec import encode, encode_swift
from store.kernels.column import decode_column, encode_column
from store.kernels.fingerprint import survey_records
from store.kernels.header import PAYLOAD_LISTED, SIZE, read_bounds, read_lengths, write_header
from store.kernels.jit import kernel, store64


class Row(NamedTuple):
    """What encode_records tells of a block; length: its bytes; ascending: 0 or 1."""

    keys: int
    first: int
    last: int
    length: int
    fingerprint: int
    record_fingerprint: int
    ascending: int


ROW = len(Row._fields)
# Where each lies in a row.
KEYS, FIRST, LAST, LENGTH = U64(0), U64(1), U64(2), U64(3)
FINGERPRINT, RECORD_FINGERPRINT, ASCENDING = U64(4), U64(5), U64(6)


@kernel
def put_plain(column: Any, n: Any, out: Any, at: Any) -> Any:
    """Write column[:n], uint16 or uint32, as it is to out[at:]; the position after it."""
    size = U64(column.itemsize)
    for i in range(n):
        store64(out, at, U64(column[U64(i)]))
        at += size
    return at


@kernel
def encode_records(
    keys: Any, payload: Any, swift: Any, out: Any, at: Any, work: Any, column_work: Any, row: Any
) -> Any:
    """Write a block, all but its checksum, to out[at:], and what it is to `row`.

    keys: uint64[n], n >= 1; payload: uint16 or uint32[n]; swift: which of the codec's encoders; out
    has room for all that a block may take and PAD bytes more; work, column_work: as the encoders
    take them; row: uint64[ROW]. Nothing is written to `out` when keys do not ascend strictly.
    Returns the end.
    """
    n = U64(keys.size)
    mixed, both, ascending = survey_records(keys, payload)
    row[KEYS] = n
    row[FIRST] = keys[ZERO]
    row[LAST] = keys[n - ONE]
    row[FINGERPRINT] = mixed
    row[RECORD_FINGERPRINT] = both
    row[ASCENDING] = U64(ascending)
    if not ascending:
        return at
    body = at + SIZE
    if swift:
        codec, shift, middle = encode_swift(keys, n, out, body, work)
    else:
        codec, shift, middle = encode(keys, n, out, body, work)
    middle = U64(middle)
    end = U64(encode_column(payload, n, out, middle, column_work))
    flags = U64(PAYLOAD_LISTED)
    if end == ZERO:
        end = U64(put_plain(payload, n, out, middle))
        flags = ZERO
    bits = U64(payload.itemsize) << THREE
    ends = n, keys[ZERO], keys[n - ONE]
    lengths = middle - body, end - middle
    write_header(out, at, U64(codec), flags, bits, U64(shift), ends, lengths)
    row[LENGTH] = end - at
    return end


@kernel
def decode_records(
    data: Any,
    at: Any,
    work: Any,
    table: Any,
    keys: Any,
    payload: Any,
) -> Any:
    """Read the block at data[at:], of a listed payload, into keys[:n] and payload[:n]; the faults
    of both.

    Its header is right, and its n keys fit. data: uint8 with PAD readable bytes behind; work,
    table: as the codec's decode and decode_column take them. The payload is not read when the keys
    are at fault.
    """
    codec, (body, rest) = read_lengths(data, at)
    n, shift, first, last = read_bounds(data, at)
    at += SIZE
    fault = decode_body(codec, data, at, body, n, shift, first, last, work, keys)
    if fault != OK:
        return fault, OK
    return fault, decode_column(data, at + body, rest, n, table, payload)


def warm(bits: int | None = None) -> None:
    """Compile or load every kernel of this module, for payloads of 16, 32 or (None) both widths."""
    keys = np.arange(16, dtype=np.uint64)
    work = np.empty(codecs.WORK, np.uint64)
    column_work = np.zeros(columns.ENCODER_WORK, np.uint64)
    table = np.empty(columns.TABLE, np.uint64)
    out = np.zeros(256 + PAD, np.uint8)
    for dtype in (f"u{width // 8}" for width in (16, 32) if bits in (None, width)):
        payload = np.zeros(16, dtype)
        row = np.zeros(ROW, np.uint64)
        encode_records(keys, payload, True, out, ZERO, work, column_work, row)
        decode_records(out, ZERO, work, table, keys, payload)
