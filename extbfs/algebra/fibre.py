"""The fibre algebra: one record a key, with masks of places and of moves still to be made.

For a puzzle whose state is a key and one of a few places (`puzzles.fibre`). A layer's record says
at which places its states stand, which places one free move away are not visited yet, and through
which key-changing edges none of them has gone or come. So the next layer needs neither the layer
before nor any parent again: a free move is a bit of its own record, and only arrivals through
edges are computed and sorted. Korf's used-operator bits (frontier search), a mask at a time.

Edges that keep inside a bucket's key range are taken when the bucket is merged; the others are
routed (`extbfs.algebra.fibre_routes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from extbfs.algebra import fibre_edges, fibre_kernels
from extbfs.algebra.bounds import block_ranges, sample_keys
from extbfs.algebra.contract import Arrivals, Keys, Sink
from extbfs.algebra.fibre_merge import FibreMerge
from extbfs.algebra.fibre_routes import Routes, plan_buckets
from extbfs.algebra.fibre_work import FibreSpace, Payload
from extbfs.algebra.records import tally
from extbfs.engine.budget import MemoryPlan
from extbfs.engine.laws import Tally, require
from extbfs.engine.ledger import Books
from extbfs.engine.worker import Worker
from puzzles.contract import Puzzle
from puzzles.errors import PuzzleError
from puzzles.fibre import Fibre
from store.block import MAX_BLOCK_KEYS
from store.buckets import Buckets
from store.layer import Layer, sums_before
from store.run import RunBuilder

U64 = np.uint64
OWN_KEYS = 1 << 18
"""Records of the old layer that a bucket aims at: what is made of them stays in the caches."""
SAMPLES = 1
"""Keys of the old layer that are looked at for every bucket wanted, at least."""
SLICE = 1 << 17
"""Records expanded in one call."""
LANE = (1 << 16) - 2
"""Records and arrivals that each of two lanes merges in one call: a block of the next layer."""
NARROW_ABOVE = 1 << 27
"""Records of a layer from which buckets are made so narrow that arrivals take four bytes."""


class FibreAlgebra:
    """Layers of keys with masks, for puzzles that have a fibre."""

    name = "fibre"
    payload_bits = 32
    record_bytes = 32
    most_arrivals = 3 * OWN_KEYS

    def __init__(self, puzzle: Puzzle, fibre: Fibre) -> None:
        self.puzzle = puzzle
        self.fibre = fibre
        self.worst = max(1, fibre.edges)
        sides = {int(fibre.side_of[int(key) % fibre.places]) for key in puzzle.starts()}
        if len(sides) != 1:
            raise PuzzleError(f"the starts of {puzzle.name} do not all stand on one side")
        self._first_side = sides.pop()
        self._widths = [U64(side.size) for side in fibre.place_of]
        self.shift = self._widths[0] + self._widths[1]
        """Where the edges begin in a payload."""
        self._full = [self._without_moves(side) for side in (0, 1)]
        self._ends = [_ends(fibre.incident[side]) for side in (0, 1)]

    def _without_moves(self, side: int) -> Payload:
        """For every mask of places of a side: the payload when no move is made from any."""
        narrow, shift = np.uint32(self._widths[side]), np.uint32(self.shift)
        masks = np.arange(1 << int(narrow), dtype=np.uint32)
        free = self.fibre.free[side].astype(np.uint32)
        incident = self.fibre.incident[side].astype(np.uint32)
        return np.asarray(masks | free << narrow | incident << shift, np.uint32)

    def side(self, depth: int) -> int:
        """The side that the places of a layer's states are on."""
        return (self._first_side + depth) % 2

    def workspace(self, memory: MemoryPlan) -> FibreSpace:
        return FibreSpace(memory.arrivals, self.fibre.edges, SLICE, LANE)

    def warm(self) -> None:
        self.puzzle.warm()
        self.fibre.warm()
        fibre_kernels.warm()

    def builder(self) -> RunBuilder:
        return RunBuilder(MAX_BLOCK_KEYS, self.payload_bits, "swift")

    def begin(self) -> tuple[Keys, Payload, Books]:
        fibre, side = self.fibre, self.side(0)
        starts = np.unique(np.asarray(self.puzzle.starts(), np.uint64))
        masks: dict[int, int] = {}
        for key in starts.tolist():
            h, place = divmod(key, fibre.places)
            masks[h] = masks.get(h, 0) | 1 << int(fibre.bit_of[place])
        payload = self._full[side][list(masks.values())]
        keys = np.array(list(masks), np.uint64)
        pending = sum(int(fibre.incident[side][m]).bit_count() for m in masks.values())
        goals = starts[self.puzzle.is_goal(starts)] if self.puzzle.has_goal else starts[:0]
        books = Books(
            kept=tally(keys),
            states=int(starts.size),
            pending=pending,
            goals=int(goals.size),
            goal_key=int(goals[0]) if goals.size else 0,
        )
        return keys, payload, books

    def stored(self, layer: Layer) -> Tally:
        return Tally(layer.count, layer.record_fingerprint)

    def history(self, depth: int) -> Sequence[int]:
        """None of the earlier layers: the records know what of them matters."""
        return ()

    # Planning

    def plan(
        self, worker: Worker, layer: Layer, depth: int, growth: float | None, memory: MemoryPlan
    ) -> Buckets:
        fibre = self.fibre
        target = min(OWN_KEYS, memory.arrivals // 3)
        most = memory.pool // 8 // 256
        wanted = max(1, min(most, layer.count // target))
        keys = sample_keys(layer, SAMPLES * wanted, worker.scratch) if wanted > 1 else None
        return plan_buckets(fibre, keys, wanted, most, layer.count >= NARROW_ABOVE)

    def open(self, depth: int, buckets: Buckets) -> bool:
        """Which edges keep inside which bucket; whether any does not."""
        fibre = self.fibre
        self.routes = Routes.of(fibre, buckets)
        side = self.side(depth - 1)
        self._old_side, self.new_side = side, 1 - side
        self.merge_widths = self._widths[side], self._widths[1 - side]
        self.full = self._full[1 - side]
        self.ends = self._ends[1 - side]
        places = fibre.edge_bit[self.new_side].astype(np.uint32)
        edges = np.arange(fibre.edges, dtype=np.uint32)
        self.table = np.zeros(16, np.uint32)
        one = np.uint32(1)
        self.table[: fibre.edges] = one << places | one << (edges + np.uint32(self.shift))
        return bool(self.routes.remote.any())

    # Expanding

    def expand(self, worker: Worker, layer: Layer, start: int, stop: int) -> None:
        space: FibreSpace = worker.space
        routes = self.routes
        end = int(routes.lows[-1]) << int(routes.bits)
        bucket = None
        clock = worker.clock
        for keys, payload in layer.read_records(start, stop, worker.scratch):
            clock.lap("read")
            if bucket is None:
                bucket = routes.lows.searchsorted(keys[0], side="right") - 1
            for at in range(0, keys.size, SLICE):
                part = keys[at : at + SLICE]
                total, bucket, mixed = fibre_edges.leave(
                    part,
                    payload[at : at + SLICE],
                    self.shift,
                    routes.lows,
                    routes.remote,
                    U64(bucket),
                    space.pending,
                )
                worker.parents += Tally(part.size, int(mixed))
                sent = self.children(space, part, int(total))
                codes = routes.bits, routes.code_of
                most, mixed = fibre_edges.send(sent, space.counts, *codes)
                if int(most) >= end:
                    astray = int(sent.max()) >> int(routes.bits)
                    raise self.astray(astray, (0, int(routes.lows[-1])))
                clock.lap("expand")
                worker.make_room(sent.size)
                worker.sent += Tally(sent.size, int(mixed))
                worker.pool.route(sent, sent.size)
                clock.lap("route")

    def children(self, space: FibreSpace, keys: Keys, total: int) -> Keys:
        """The keys that keys[i] leads to through the edges space.pending[i], `total` in all.

        Grouped by edge; space.counts: the sizes of the groups.
        """
        if total == 0:
            return space.children[:0]
        side, counts = self._old_side, space.counts
        n = int(keys.size)
        got = self.fibre.expand(keys, space.pending, n, side, space.children, counts)
        require("expand", "pending edges", Tally(total), Tally(int(got)))
        return space.children[:got]

    def astray(self, key: int, bounds: tuple[int, int]) -> PuzzleError:
        """The error for a key that does not lie in the half-open range `bounds`."""
        return PuzzleError(
            f"the fibre of {self.puzzle.name} leads to key {key}, out of the range {bounds[0]} to "
            f"{bounds[1] - 1} that its edges should keep to"
        )

    # Merging

    def work(self, layer: Layer, arrivals: Keys, buckets: Buckets) -> Keys:
        """The arrivals routed to each bucket, and about as many keys as it has of the old layer."""
        firsts, lasts, counts = block_ranges(layer)
        lows = self.routes.lows
        begun = np.searchsorted(firsts, lows[1:], side="left")
        ended = np.searchsorted(lasts, lows[:-1], side="left")
        before = sums_before(counts)
        own = np.where(begun > ended, before[begun] - before[ended], 0)
        self.blocks = list(zip(ended.tolist(), np.maximum(begun, ended).tolist(), strict=True))
        self.keys_before = before.tolist()
        return np.asarray(arrivals + own.astype(np.uint64), np.uint64)

    def combine(
        self,
        worker: Worker,
        layer: Layer,
        arrivals: Arrivals,
        bucket: int,
        history: Sequence[Layer],
        sink: Sink,
    ) -> Books:
        return FibreMerge(self, worker, layer, arrivals, bucket, sink).run()

    # Laws and reading

    def close(self, where: str, layer: Layer, row: dict[str, Any], total: Books) -> dict[str, int]:
        require(where, "merged records", self.stored(layer), total.first)
        came = total.arrivals.count + total.second.count
        require(where, "pending edges", Tally(row["pending"]), Tally(came))
        return {"arrivals": came, "routed": total.arrivals.count}

    def count(self, depth: int, keys: Keys, payload: npt.NDArray[Any] | None) -> tuple[int, int]:
        assert payload is not None
        width, shift = self._widths[self.side(depth)], self._widths[0] + self._widths[1]
        states, pending = fibre_kernels.count_bits(payload, U64(payload.size), width, shift)
        return int(states), int(pending)

    def states(self, depth: int, keys: Keys, payload: npt.NDArray[Any] | None) -> Keys:
        assert payload is not None
        side = self.side(depth)
        places = self.fibre.place_of[side].astype(np.uint64)
        bits = np.arange(places.size, dtype=np.uint32)
        rows, columns = np.nonzero((payload[:, None] >> bits) & np.uint32(1))
        found = keys[rows] * U64(self.fibre.places) + places[columns]
        return np.sort(found)

    def contains(self, layer: Layer, states: Keys) -> npt.NDArray[np.bool_]:
        fibre, side = self.fibre, self.side(layer.depth)
        keys, places = np.divmod(states, U64(fibre.places))
        found, payload = layer.lookup(keys)
        here = fibre.side_of[places] == side
        bit = (payload >> fibre.bit_of[places].astype(np.uint32)) & np.uint32(1)
        return np.asarray(found & here & (bit == 1), np.bool_)


def _ends(incident: npt.NDArray[np.uint16]) -> Keys:
    """The masks of places that count_incident takes. incident: as in Fibre, for one side."""
    degrees = [int(incident[1 << bit]).bit_count() for bit in range(incident.size.bit_length() - 1)]
    masks = [
        sum(1 << bit for bit, degree in enumerate(degrees) if degree > level) for level in range(16)
    ]
    rows = [
        [one | three << 32, two | four << 32]
        for one, two, three, four in zip(*(masks[k::4] for k in range(4)), strict=True)
        if one
    ]
    return np.array(rows, np.uint64).reshape(-1, 2)
