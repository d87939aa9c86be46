"""A block of records in one call: its keys, its payload and their fingerprints.

A call from Python gives up the interpreter lock and has to win it back, which takes the longer the
more workers there are; so all that happens to a block happens in one. Nothing but compositions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels import codec as codecs
from store.kernels import column as columns
from store.kernels.bits import OK, PAD, U64, ZERO
from store.kernels.codec import decode as decode_body
from store.kernels.codec import encode, encode_swift
from store.kernels.column import decode_column, encode_column
from store.kernels.fingerprint import survey_records
from store.kernels.jit import kernel


@kernel
def encode_records(
    keys: Any, payload: Any, swift: Any, out: Any, at: Any, work: Any, column_work: Any
) -> Any:
    """Write the body of a block and its payload, listed, to out[at:].

    keys: uint64[n], n >= 1; payload: uint16 or uint32[n]; swift: which of the codec's encoders;
    work, column_work: as they and encode_column take them. Returns (whether keys ascend strictly,
    their fingerprint, that of the records, codec, shift, end of the body, end of the payload): the
    last is 0 when it is not shorter listed, and nothing is written when keys do not ascend.
    """
    mixed, both, ascending = survey_records(keys, payload)
    n = U64(keys.size)
    if not ascending:
        return False, mixed, both, ZERO, ZERO, at, ZERO
    if swift:
        codec, shift, middle = encode_swift(keys, n, out, at, work)
    else:
        codec, shift, middle = encode(keys, n, out, at, work)
    end = encode_column(payload, n, out, middle, column_work)
    return True, mixed, both, codec, shift, middle, end


@kernel
def decode_records(
    data: Any,
    at: Any,
    lengths: Any,
    codec: Any,
    bounds: Any,
    work: Any,
    table: Any,
    keys: Any,
    payload: Any,
) -> Any:
    """Read a block with a listed payload into keys[:n] and payload[:n]; the faults of both.

    data: uint8 with PAD readable bytes behind; lengths: of the body, at data[at:], and of the
    payload behind it; bounds: (n, shift, first, last) as the codec's decode takes them; work, table
    as it and decode_column take them. The payload is not read when the keys are at fault.
    """
    n, shift, first, last = bounds
    fault = decode_body(codec, data, at, lengths[0], n, shift, first, last, work, keys)
    if fault != OK:
        return fault, OK
    return fault, decode_column(data, at + lengths[0], lengths[1], n, table, payload)


def warm(bits: int | None = None) -> None:
    """Compile or load every kernel of this module, for payloads of 16, 32 or (None) both widths."""
    keys = np.arange(16, dtype=np.uint64)
    work = np.empty(codecs.WORK, np.uint64)
    column_work = np.zeros(columns.ENCODER_WORK, np.uint64)
    table = np.empty(columns.TABLE, np.uint64)
    out = np.zeros(256 + PAD, np.uint8)
    for dtype in (f"u{width // 8}" for width in (16, 32) if bits in (None, width)):
        payload = np.zeros(16, dtype)
        found = encode_records(keys, payload, True, out, ZERO, work, column_work)
        codec, shift, middle, end = (U64(x) for x in found[3:])
        lengths, bounds = (middle, end - middle), (U64(16), shift, ZERO, U64(15))
        decode_records(out, ZERO, lengths, codec, bounds, work, table, keys, payload)
