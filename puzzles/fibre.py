"""Fibres: how the states of a puzzle lie over few keys, so that a search can keep masks of places.

The states over one *fibre key* h are numbered by their *place* s:

    state key = h * places + s.

A move either keeps h (a *free* move, between places that are the same over every key) or goes
through one of a few *edges*. An edge joins one place of side 0 with one place of side 1, the same
two over every key, and permutes the keys: from (h, its end on side 0) the move leads to (p(h), its
end on side 1), and back. Every move changes the side, so the puzzle is bipartite, and all moves
can be undone.

Masks: bit b of a mask of places on side t is the place `place_of[t][b]`; bit e of a mask of edges
is edge e.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Masks = NDArray[np.uint32]

MOST_PLACES = 10  # on one side
MOST_EDGES = 16
MOST_BITS = 32  # places of both sides and edges
MOST_KEYS = 2**60 - 1  # a fibre key and an edge's number share 64 bits


@runtime_checkable
class Fibre(Protocol):
    """The fibres of a puzzle: at most 10 places a side, 16 edges, and 32 of all these together.

    key_space: fibre keys h are 0 <= h < key_space < 2**60.
    places: the number of places; the puzzle's own key_space is key_space * places.
    side_of, bit_of: uint8[places], the side (0 or 1) of a place and its bit in masks of that side.
    place_of: for each side uint8[places of that side], the place of each bit.
    edges: the number of edges.
    edge_bit: uint8[2, edges], the bit, on that side, of the edge's end on side 0 and on side 1.
    free: for each side uint16[2**places of that side]: for a mask of places of that side the mask,
        on the other side, of all places one free move away.
    incident: for each side uint16[2**places of that side]: for a mask of places of that side the
        mask of the edges that have an end in it.
    edge_span: uint64[edges]; edge e maps every range [i * span, (i + 1) * span) of fibre keys onto
        itself, and `edge_span[e]` is the least span of which this is true.
    spans: uint64[>= 1], descending: the lengths of ranges that the keys fall into by nature, each
        a multiple of the next, among them every edge_span; the last one is 1.
    """

    key_space: int
    places: int
    side_of: NDArray[np.uint8]
    bit_of: NDArray[np.uint8]
    place_of: tuple[NDArray[np.uint8], NDArray[np.uint8]]
    edges: int
    edge_bit: NDArray[np.uint8]
    free: tuple[NDArray[np.uint16], NDArray[np.uint16]]
    incident: tuple[NDArray[np.uint16], NDArray[np.uint16]]
    edge_span: Keys
    spans: Keys

    def expand(self, keys: Keys, pending: Masks, n: int, side: int, out: Keys, counts: Keys) -> int:
        """Take the first `n` keys through their pending edges; return how many keys were written.

        For every i < n and every edge e in pending[i], `out` gets the fibre key that the move
        through e leads to from keys[i] and the end of e on `side`. Grouped by edge, edge 0 first;
        within a group in the order of the keys. counts[e] becomes the size of group e.

        keys: uint64[>= n], any order. pending: uint32[>= n], masks of edges. out: uint64 with room
        for all of them (n * edges is always enough), not overlapping the others; what is behind
        the last key written may be overwritten too. counts: uint64[>= edges]. May be called by
        several threads at once.
        """

    def warm(self) -> None:
        """Compile, or load from the cache, what `expand` needs."""
