"""Which edges keep inside which bucket, and how arrivals through the others are written down.

A routed arrival is (key << bits) | code: only edges that leave some bucket have a code, so that few
bits are enough and a bucket may be as wide as 2**(32 - bits) keys before its arrivals take eight
bytes instead of four.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extbfs.algebra.bounds import WORD, aligned_bounds
from extbfs.algebra.contract import Keys
from extbfs.algebra.fibre_kernels import EDGE_BITS
from puzzles.fibre import Fibre
from store.buckets import Buckets

U64 = np.uint64
CODES = 1 << int(EDGE_BITS)
IDENTITY: Keys = np.arange(CODES, dtype=np.uint64)
"""The codes of arrivals that meet in a bucket: each edge is its own, in EDGE_BITS bits."""


@dataclass(frozen=True, slots=True)
class Routes:
    """The edges of a depth. Which is all that its buckets' bounds decide.

    bits: of a code; code_of, edge_of: uint64[16], for edges, for codes; lows: uint64[buckets + 1],
    in keys; local, remote: uint32[buckets], masks of edges that keep inside, and of the others.
    """

    bits: np.uint64
    code_of: Keys
    edge_of: Keys
    lows: Keys
    local: npt.NDArray[np.uint32]
    remote: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, fibre: Fibre, buckets: Buckets) -> Routes:
        """The routes of the buckets that plan_buckets() made, or that were recorded of it."""
        bits = (int(buckets.lows[-1]) // fibre.key_space).bit_length() - 1
        lows = buckets.lows >> U64(bits)
        local = local_edges(fibre, lows)
        remote = local ^ np.uint32((1 << fibre.edges) - 1)
        code_of, edge_of = IDENTITY.copy(), IDENTITY.copy()
        if bits < int(EDGE_BITS):
            for code, edge in enumerate(_edges_in(remote)):
                code_of[edge], edge_of[code] = code, edge
        return cls(U64(bits), code_of, edge_of, lows, local, remote)


def plan_buckets(
    fibre: Fibre, sample: Keys | None, wanted: int, most: int, narrow: bool
) -> Buckets:
    """Buckets of about equal shares of a sample of keys, bounded where many edges keep inside.

    narrow: routed arrivals shall take four bytes, if that needs no more than `most` buckets.
    """
    for bits in range(int(EDGE_BITS) + 1):
        widest = max(1, WORD >> bits)
        if not narrow or fibre.key_space // widest + wanted > most:
            break
        lows = aligned_bounds(sample, wanted, fibre.key_space, fibre.spans, widest)
        if code_bits(fibre, lows) <= bits:
            return Buckets.of(lows << U64(bits))
    lows = aligned_bounds(sample, wanted, fibre.key_space, fibre.spans, fibre.key_space)
    return Buckets.of(lows << U64(code_bits(fibre, lows)))


def local_edges(fibre: Fibre, lows: Keys) -> npt.NDArray[np.uint32]:
    """For every range between two bounds the mask of edges that keep inside."""
    local = np.zeros(lows.size - 1, np.uint32)
    for edge in range(fibre.edges):
        aligned = lows % fibre.edge_span[edge] == 0
        local |= (aligned[:-1] & aligned[1:]).astype(np.uint32) << np.uint32(edge)
    return local


def code_bits(fibre: Fibre, lows: Keys) -> int:
    """How many bits tell the edges apart that leave some range between two bounds."""
    remote = local_edges(fibre, lows) ^ np.uint32((1 << fibre.edges) - 1)
    return max(0, len(_edges_in(remote)) - 1).bit_length()


def _edges_in(masks: npt.NDArray[np.uint32]) -> list[int]:
    together = int(np.bitwise_or.reduce(masks))
    return [edge for edge in range(CODES) if together >> edge & 1]
