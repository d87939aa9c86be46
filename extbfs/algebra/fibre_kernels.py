"""Kernels of the fibre algebra: what becomes of arrivals, and their merge with a layer's records.

Those that send the arrivals are in fibre_edges, which also says what records and arrivals are.

The last ones are compositions of the others: a call from Python gives up the interpreter lock and
has to win it back, which takes the longer the more workers there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from extbfs.algebra import fibre_edges
from extbfs.algebra.fibre_combine import combine, turn
from extbfs.algebra.fibre_weights import (
    EDGE_BITS,
    EDGE_MASK,
    count_bits,
    count_incident,
    routed_fingerprint,
    weigh,
    weigh_keys,
)
from store.kernels import codec, column
from store.kernels.jit import kernel
from store.kernels.records import ROW, encode_records
from store.kernels.sort import radix_sort

__all__ = [
    "EDGE_BITS",
    "LAST",
    "arrange",
    "collect",
    "combine",
    "convert",
    "count_bits",
    "count_incident",
    "make_block",
    "make_blocks",
    "radix_sort",
    "routed_fingerprint",
    "take_routed",
    "turn",
    "warm",
    "weigh",
    "weigh_keys",
]

U64 = np.uint64
ZERO = U64(0)
ONE = U64(1)
LAST = U64(1 << 62)
"""Behind the last key of what is merged: more than any key, and no negative number."""
NONE = U64(0xFFFFFFFFFFFFFFFF)
TOLD = U64(ROW)


@kernel
def convert(
    values: Any, n: Any, base: Any, bits: Any, edges: Any, low: Any, out: Any, at: Any
) -> Any:
    """Append the routed arrivals values[:n], residuals to `base`, with each code's edge instead.

    values: uint32 or uint64; bits: of a code; edges: uint64[16], what it means; out: residuals to
    `low`. Returns the position after the last.
    """
    mask = (ONE << bits) - ONE
    for i in range(n):
        routed = U64(values[U64(i)]) + base
        out[at + U64(i)] = (((routed >> bits) << EDGE_BITS) | edges[routed & mask]) - low
    return at + n


@kernel
def collect(arrivals: Any, n: Any, low: Any, table: Any, keys: Any, bits: Any) -> Any:
    """Bring sorted arrivals[:n] together by key; the number of keys.

    arrivals: uint32 or uint64 residuals to `low`; table: uint32[16], what an edge brings: the bit
    of its place and its own, both where a payload has them; keys, bits: uint64, uint32, room for n.
    """
    before = NONE
    at = NONE
    held = ZERO
    for i in range(n):
        arrival = U64(arrivals[U64(i)]) + low
        key = arrival >> EDGE_BITS
        new = U64(key != before)
        at += new
        held = (held & (new - ONE)) | U64(table[arrival & EDGE_MASK])
        keys[at] = key
        bits[at] = held
        before = key
    return at + ONE


@kernel
def take_routed(
    values: Any,
    n: Any,
    base: Any,
    bits: Any,
    edges: Any,
    codes: Any,
    low: Any,
    out: Any,
    at: Any,
) -> Any:
    """convert(); (the fingerprint that the arrivals had when they were routed, their weight)."""
    convert(values, n, base, bits, edges, low, out, at)
    few = out[at : at + n]
    return routed_fingerprint(few, n, low, bits, codes), weigh(few, n, low)


@kernel
def arrange(
    values: Any,
    other: Any,
    n: Any,
    bits: Any,
    digit: Any,
    digits: Any,
    low: Any,
    table: Any,
    shift: Any,
    keys: Any,
    spare: Any,
    masks: Any,
) -> Any:
    """Sort the arrivals values[:n] by key and collect them.

    values, other, digit, digits: as radix_sort takes them; bits: of the keys; low, table: as
    collect takes them; keys, spare: the memory of `values` and of `other` as uint64, room for n;
    shift: as weigh_keys takes it. Returns (whether the keys are in `spare` and not in `keys`, their
    number, arrivals among them, weight of these); masks holds the bits that they bring.
    """
    if radix_sort(values, other, n, EDGE_BITS, bits, digit, digits) != ZERO:
        m = collect(other, n, low, table, keys, masks)
        arrived, weight = weigh_keys(keys, masks, m, shift)
        return False, m, arrived, weight
    m = collect(values, n, low, table, spare, masks)
    arrived, weight = weigh_keys(spare, masks, m, shift)
    return True, m, arrived, weight


@kernel
def make_block(
    own: Any,
    payload: Any,
    i: Any,
    n: Any,
    keys: Any,
    bits: Any,
    j: Any,
    m: Any,
    widths: Any,
    full: Any,
    half: Any,
    shift: Any,
    ends: Any,
    out: Any,
    out_payload: Any,
) -> Any:
    """combine() of turned payloads, and what is counted again of the records that it wrote.

    widths: of the places of the old side and of the new side, in bits. Returns what combine does,
    and (their states, their pending edges, the edges at their places).
    """
    there = (ONE << widths[1]) - ONE
    i, j, written, states = combine(
        own, payload, i, n, keys, bits, j, m, there, full, half, out, out_payload
    )
    again, pending = count_bits(out_payload, written, widths[1], shift)
    incident = count_incident(out_payload, written, ends)
    return i, j, written, states, again, pending, incident


@kernel
def make_blocks(
    own: Any,
    payload: Any,
    i: Any,
    n: Any,
    keys: Any,
    bits: Any,
    j: Any,
    m: Any,
    widths: Any,
    full: Any,
    half: Any,
    shift: Any,
    ends: Any,
    out: Any,
    out_payload: Any,
    swift: Any,
    buffer: Any,
    at: Any,
    work: Any,
    column_work: Any,
    rows: Any,
) -> Any:
    """make_block() and encode_records() to the end, or to that of rows.

    swift .. column_work: as encode_records takes them; rows: uint64[blocks, ROW + 4], what it tells
    of each block and then the last four results of make_block. Returns (i, j, blocks).
    """
    count = ZERO
    while count < U64(rows.shape[0]) and (i < n or j < m):
        row = rows[count]
        i, j, written, states, again, pending, incident = make_block(
            own,
            payload,
            U64(i),
            n,
            keys,
            bits,
            U64(j),
            m,
            widths,
            full,
            half,
            shift,
            ends,
            out,
            out_payload,
        )
        row[TOLD] = states
        row[TOLD + ONE] = again
        row[TOLD + U64(2)] = pending
        row[TOLD + U64(3)] = incident
        row[ZERO] = written
        if written != ZERO:
            at = encode_records(
                out[:written],
                out_payload[:written],
                swift,
                buffer,
                at,
                work,
                column_work,
                row,
            )
        count += ONE
    return i, j, count


def warm() -> None:
    """Compile or load every kernel of this module, and those that send."""
    fibre_edges.warm()
    keys = np.array([1, 2, LAST], np.uint64)
    small = np.zeros(8, np.uint32)
    table = np.zeros(16, np.uint32)
    out = np.zeros(8, np.uint64)
    two = U64(2)
    codes = np.arange(16, dtype=np.uint64)
    for dtype in (np.uint32, np.uint64):
        values = np.zeros(8, dtype)
        convert(values, two, ZERO, two, codes, ZERO, out.copy(), ZERO)
        for into in (np.zeros(8, np.uint32), np.zeros(8, np.uint64)):
            take_routed(values, two, ZERO, two, codes, codes, ZERO, into, ZERO)
        routed_fingerprint(values, two, ZERO, two, codes)
        collect(values, two, ZERO, table, out, small)
        weigh(values, two, ZERO)
        digits = np.zeros(64, np.uint64)
        work = values, values.copy(), two, two, two, digits
        arrange(*work, ZERO, table, two, out, out.copy(), small)
    weigh_keys(out, small, two, two)
    count_bits(small, two, two, two)
    ends = np.zeros((1, 2), np.uint64)
    count_incident(small, two, ends)
    turn(small.copy(), (two, two))
    ends_at = keys, small, two, two, keys, small, two, two
    combine(*ends_at, two, small, two, out, small.copy())
    merge = *ends_at, (two, two), small, two
    make_block(*merge, two, ends, out, small.copy())
    place = True, np.zeros(1 << 12, np.uint8), ZERO, np.zeros(codec.WORK, np.uint64)
    column_work = np.zeros(column.ENCODER_WORK, np.uint64)
    rows = np.zeros((1, ROW + 4), np.uint64)
    make_blocks(*merge, two, ends, out, small.copy(), *place, column_work, rows)
