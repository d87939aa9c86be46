"""Weights and counts of records and arrivals, by which the laws of the fibre algebra hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels.fingerprint import mix64
from store.kernels.jit import kernel, popcount64

U64 = np.uint64
ZERO = U64(0)
ONE = U64(1)
EDGE_BITS = U64(4)
EDGE_MASK = U64(15)
SIXTEEN = U64(16)
LOW_16 = U64(0xFFFF)
GOLDEN = U64(0x9E3779B97F4A7C15)


@kernel
def weigh(arrivals: Any, n: Any, low: Any) -> Any:
    """The weight of arrivals[:n], residuals to `low`: the same for all orders, and after collect().

    That of (key, edge) is key + ((key + 1) << edge) * GOLDEN, modulo 2**64.
    """
    keys = ZERO
    mixed = ZERO
    for i in range(n):
        arrival = U64(arrivals[U64(i)]) + low
        key = arrival >> EDGE_BITS
        keys += key
        mixed += (key + ONE) << (arrival & EDGE_MASK)
    return keys + mixed * GOLDEN


@kernel
def weigh_keys(keys: Any, bits: Any, m: Any, shift: Any) -> Any:
    """(arrivals, their weight) that stand in keys[:m] and bits[:m], which collect() made.

    shift: where the edges begin in bits.
    """
    arrived = ZERO
    total = ZERO
    mixed = ZERO
    for j in range(m):
        key = keys[U64(j)]
        edges = U64(bits[U64(j)]) >> shift
        n = popcount64(edges)
        arrived += n
        total += key * n
        mixed += (key + ONE) * edges
    return arrived, total + mixed * GOLDEN


@kernel
def count_bits(payload: Any, n: Any, width: Any, shift: Any) -> Any:
    """(states, pending edges) of n records; width: of the places; shift: where the edges begin."""
    here = (ONE << width) - ONE
    states = ZERO
    pending = ZERO
    for i in range(n):
        record = U64(payload[U64(i)])
        states += popcount64(record & here)
        pending += popcount64(record >> shift)
    return states, pending


@kernel
def count_incident(payload: Any, n: Any, ends: Any) -> Any:
    """How many edges end at the places of n records' states, pending or not.

    ends: uint64[k, 2]. Masks of the places at which at least one or two edges end are ends[0, 0]
    and ends[0, 1], three or four the upper half words of both; for more edges the next row.
    """
    total = ZERO
    for row in range(U64(ends.shape[0])):
        one = ends[U64(row), ZERO]
        two = ends[U64(row), ONE]
        for i in range(n):
            record = U64(payload[U64(i)]) & LOW_16
            record |= record << SIXTEEN << SIXTEEN
            total += popcount64((record & one) | ((record & two) << SIXTEEN))
    return total


@kernel
def routed_fingerprint(arrivals: Any, n: Any, low: Any, bits: Any, codes: Any) -> Any:
    """The fingerprint that arrivals[:n], residuals to `low`, had when they were routed.

    bits, codes: as tag took them.
    """
    total = ZERO
    for i in range(n):
        arrival = U64(arrivals[U64(i)]) + low
        total += mix64(((arrival >> EDGE_BITS) << bits) | codes[arrival & EDGE_MASK])
    return total
