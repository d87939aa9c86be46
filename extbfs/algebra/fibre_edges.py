"""Kernels that send: the pending edges of records, and the arrivals of keys that they lead to.

A record's payload is three masks, one above the other: the places of its states, the free places
still to be visited, the edges still to be taken. An arrival is (key << EDGE_BITS) | edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from extbfs.algebra.fibre_weights import EDGE_BITS, weigh
from store.kernels.fingerprint import fingerprint, fingerprint_records
from store.kernels.jit import kernel, popcount64

U64 = np.uint64
ZERO = U64(0)
ONE = U64(1)


@kernel
def select_edges(payload: Any, n: Any, shift: Any, wanted: Any, out: Any) -> Any:
    """out[i] = pending edges of payload[i] among `wanted`, for i < n; how many in all.

    payload, out: uint32; shift: where the edges begin in a payload; wanted: mask of edges.
    """
    total = ZERO
    for i in range(n):
        edges = (U64(payload[U64(i)]) >> shift) & wanted
        out[U64(i)] = edges
        total += popcount64(edges)
    return total


@kernel
def select_remote(
    keys: Any, payload: Any, n: Any, shift: Any, lows: Any, remote: Any, bucket: Any, out: Any
) -> Any:
    """As select_edges, with remote[b] the wanted edges of a key in bucket b.

    keys: uint64 ascending; lows: uint64[buckets + 1], bounds in keys; bucket: one that is not
    behind keys[0]. Returns (total, the bucket of the last key).
    """
    total = ZERO
    i = ZERO
    while i < n:
        while lows[bucket + ONE] <= keys[i]:
            bucket += ONE
        high = lows[bucket + ONE]
        end = n
        if keys[n - ONE] >= high:
            low = i
            while low + ONE < end:
                middle = (low + end) >> ONE
                if keys[middle] < high:
                    low = middle
                else:
                    end = middle
        wanted = U64(remote[bucket])
        for k in range(i, end):
            edges = (U64(payload[U64(k)]) >> shift) & wanted
            out[U64(k)] = edges
            total += popcount64(edges)
        i = end
    return total, bucket


@kernel
def stay(keys: Any, payload: Any, shift: Any, wanted: Any, out: Any) -> Any:
    """select_edges() of some records; (total, the fingerprint of the records)."""
    total = select_edges(payload, U64(keys.size), shift, wanted, out)
    return total, fingerprint_records(keys, payload)


@kernel
def leave(
    keys: Any, payload: Any, shift: Any, lows: Any, remote: Any, bucket: Any, out: Any
) -> Any:
    """select_remote() of some records; (total, last bucket, the fingerprint of the records)."""
    n = U64(keys.size)
    total, bucket = select_remote(keys, payload, n, shift, lows, remote, bucket, out)
    return total, bucket, fingerprint_records(keys, payload)


@kernel
def tag(children: Any, counts: Any, bits: Any, codes: Any) -> Any:
    """Turn keys grouped by edge into arrivals, in place: (key << bits) | codes[edge].

    counts: uint64[edges], group sizes; codes: uint64[>= edges].
    """
    at = ZERO
    for edge in range(U64(counts.size)):
        code = codes[U64(edge)]
        for i in range(counts[U64(edge)]):
            children[at + U64(i)] = (children[at + U64(i)] << bits) | code
        at += counts[U64(edge)]


@kernel
def append(arrivals: Any, n: Any, low: Any, out: Any, at: Any) -> Any:
    """out[at + i] = arrivals[i] - low for i < n; the position after the last."""
    for i in range(n):
        out[at + U64(i)] = arrivals[U64(i)] - low
    return at + n


@kernel
def append_within(arrivals: Any, n: Any, width: Any, low: Any, out: Any, at: Any) -> Any:
    """Append arrivals[i] - low where that is below `width`; the position after the last.

    arrivals: uint64; out needs room for one value more.
    """
    for i in range(n):
        residual = arrivals[U64(i)] - low
        out[at] = residual
        at += U64(residual < width)
    return at


@kernel
def send(children: Any, counts: Any, bits: Any, codes: Any) -> Any:
    """Tag children, which were grouped by edge; (the greatest arrival, their fingerprint)."""
    tag(children, counts, bits, codes)
    most = ZERO
    for i in range(U64(children.size)):
        most = max(most, children[U64(i)])
    return most, fingerprint(children)


@kernel
def land(children: Any, counts: Any, codes: Any, low: Any, out: Any, at: Any) -> Any:
    """Tag children, which were grouped by edge, and append them to out[at:] as residuals to `low`.

    codes: each edge its own. Returns (their weight before, the greatest residual); children: at
    least one.
    """
    tag(children, counts, EDGE_BITS, codes)
    n = U64(children.size)
    weight = weigh(children, n, ZERO)
    append(children, n, low, out, at)
    return weight, U64(out[at : at + n].max())


def warm() -> None:
    """Compile or load every kernel of this module."""
    keys = np.array([1, 2], np.uint64)
    small = np.zeros(8, np.uint32)
    table = np.zeros(16, np.uint32)
    out = np.zeros(8, np.uint64)
    lows = np.array([0, 64], np.uint64)
    two = U64(2)
    select_edges(small, two, ZERO, ONE, small.copy())
    select_remote(keys, small, two, ZERO, lows, table, ZERO, small.copy())
    stay(keys, small[:2], ZERO, ONE, small.copy())
    leave(keys, small[:2], ZERO, lows, table, ZERO, small.copy())
    codes = np.arange(16, dtype=np.uint64)
    tag(out, np.zeros(2, np.uint64), two, codes)
    send(out[:2].copy(), np.zeros(2, np.uint64), two, codes)
    append_within(out, two, two, ZERO, out.copy(), ZERO)
    append_within(out, two, two, ZERO, small.copy(), ZERO)
    for dtype in (np.uint32, np.uint64):
        values = np.zeros(8, dtype)
        append(out, two, ZERO, values, ZERO)
        land(out[:2].copy(), np.zeros(2, np.uint64), codes, ZERO, values, ZERO)
