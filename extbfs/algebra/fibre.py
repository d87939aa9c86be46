"""The fibre algebra: one record a key, with masks of places and of moves still to be made.

For a puzzle whose state is a key and one of a few places (`puzzles.fibre`). A layer's record says
at which places its states stand, which places one free move away are not visited yet, and through
which key-changing edges none of them has gone or come. So the next layer needs neither the layer
before nor any parent again: a free move is a bit of its own record, and only arrivals through
edges are computed and sorted. Korf's used-operator bits (frontier search), a mask at a time.

Edges that keep inside a bucket's key range are taken when the bucket is merged; the others are
routed, as arrivals (key << 4) | edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from extbfs.algebra import fibre_kernels
from extbfs.algebra.bounds import WORD, aligned_bounds, block_ranges, sample_keys
from extbfs.algebra.contract import Arrivals, Keys, Sink
from extbfs.algebra.fibre_kernels import EDGE_BITS, LAST
from extbfs.algebra.fibre_work import (
    FibreEmitter,
    FibreSpace,
    Overfull,
    append_within,
    weight_of,
)
from extbfs.algebra.records import sort_records, tally, tally_of, tally_records
from extbfs.engine.budget import MemoryPlan
from extbfs.engine.laws import NOTHING, Tally, require
from extbfs.engine.ledger import Books
from extbfs.engine.worker import PAD, Worker
from puzzles.contract import Puzzle
from puzzles.errors import PuzzleError
from puzzles.fibre import Fibre
from store.buckets import Buckets
from store.layer import Layer
from store.pool import Records
from store.run import RunBuilder

U64 = np.uint64
ZERO = U64(0)
OWN_KEYS = 1 << 16
"""Records of the old layer that a bucket aims at: what is made of them stays in the caches."""
SLICE = 1 << 16
"""Records expanded in one call."""
LANE = (1 << 14) - 2
"""Records and arrivals that each of two lanes merges in one call: a block of the next layer."""
NARROW_ABOVE = 1 << 27
"""Records of a layer from which buckets are made so narrow that arrivals take four bytes."""
WIDEST = 1 << (32 - int(EDGE_BITS))

Payload = npt.NDArray[np.uint32]


class FibreAlgebra:
    """Layers of keys with masks, for puzzles that have a fibre."""

    name = "fibre"
    payload_bits = 32
    record_bytes = 32

    def __init__(self, puzzle: Puzzle, fibre: Fibre) -> None:
        self.puzzle = puzzle
        self.fibre = fibre
        self.worst = max(1, fibre.edges)
        sides = {int(fibre.side_of[int(key) % fibre.places]) for key in puzzle.starts()}
        if len(sides) != 1:
            raise PuzzleError(f"the starts of {puzzle.name} do not all stand on one side")
        self._first_side = sides.pop()
        self._widths = [U64(side.size) for side in fibre.place_of]
        self._all_edges = (1 << fibre.edges) - 1

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
        return RunBuilder(payload_bits=self.payload_bits)

    def begin(self) -> tuple[Keys, Payload, Books]:
        fibre, side = self.fibre, self.side(0)
        starts = np.unique(np.asarray(self.puzzle.starts(), np.uint64))
        masks: dict[int, int] = {}
        for key in starts.tolist():
            h, place = divmod(key, fibre.places)
            masks[h] = masks.get(h, 0) | 1 << int(fibre.bit_of[place])
        wide, narrow = int(self._widths[side]), int(self._widths[1 - side])
        payload = [
            m | int(fibre.free[side][m]) << wide | int(fibre.incident[side][m]) << (wide + narrow)
            for m in masks.values()
        ]
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
        return keys, np.array(payload, np.uint32), books

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
        target = min(OWN_KEYS, memory.arrivals // 4)
        most = memory.pool // 8 // 256
        wanted = max(1, min(most, layer.count // target))
        keys = sample_keys(layer, 32 * wanted, worker.scratch) if wanted > 1 else None
        narrow = layer.count >= NARROW_ABOVE and fibre.key_space // WIDEST + wanted <= most
        widest = WIDEST if narrow else fibre.key_space
        lows = aligned_bounds(keys, wanted, fibre.key_space, fibre.spans, widest)
        return Buckets.of(lows << EDGE_BITS)

    def open(self, depth: int, buckets: Buckets) -> bool:
        """Which edges keep inside which bucket; whether any does not."""
        fibre = self.fibre
        lows = buckets.lows >> EDGE_BITS
        local = np.zeros(buckets.count, np.uint32)
        for edge in range(fibre.edges):
            aligned = lows % fibre.edge_span[edge] == 0
            local |= (aligned[:-1] & aligned[1:]).astype(np.uint32) << np.uint32(edge)
        self._local = local
        self._remote = local ^ np.uint32(self._all_edges)
        side = self.side(depth - 1)
        self._old_side, self.new_side = side, 1 - side
        self._shift = self._widths[0] + self._widths[1]
        self.record_bits = self._widths[self.new_side], self._shift
        places = fibre.edge_bit[self.new_side].astype(np.uint32)
        edges = np.arange(fibre.edges, dtype=np.uint32)
        self._table = np.zeros(16, np.uint32)
        one = np.uint32(1)
        self._table[: fibre.edges] = one << places | one << (edges + np.uint32(16))
        return bool(self._remote.any())

    # Expanding

    def expand(self, worker: Worker, layer: Layer, start: int, stop: int) -> None:
        space: FibreSpace = worker.space
        lows = worker.pool.buckets.lows if worker.pool.buckets is not None else None
        assert lows is not None
        bucket = None
        clock = worker.clock
        for keys, payload in layer.read_records(start, stop, worker.scratch):
            clock.lap("read")
            worker.parents += tally_records(keys, payload)
            if bucket is None:
                first = keys[0] << EDGE_BITS
                bucket = U64(np.searchsorted(lows, first, side="right") - 1)
            for at in range(0, keys.size, SLICE):
                part = keys[at : at + SLICE]
                n = U64(part.size)
                masks = payload[at : at + SLICE]
                total, bucket = fibre_kernels.select_remote(
                    part, masks, n, self._shift, lows, self._remote, U64(bucket), space.pending
                )
                sent = self._children(space, part, int(total))
                if sent.size and int(sent.max()) >= int(lows[-1]):
                    raise self._astray(int(sent.max()) >> int(EDGE_BITS), 0, self.fibre.key_space)
                clock.lap("expand")
                worker.make_room(int(sent.size))
                worker.sent += tally(sent)
                worker.pool.route(sent, int(sent.size))
                clock.lap("route")

    def _children(self, space: FibreSpace, keys: Keys, total: int) -> Keys:
        """The arrivals that keys[i] sends through the edges space.pending[i], `total` in all."""
        if total == 0:
            return space.children[:0]
        side, counts = self._old_side, space.counts
        n = int(keys.size)
        got = self.fibre.expand(keys, space.pending, n, side, space.children, counts)
        require("expand", "pending edges", Tally(total), Tally(int(got)))
        fibre_kernels.tag(space.children, counts)
        return space.children[:got]

    def _astray(self, key: int, low: int, high: int) -> PuzzleError:
        return PuzzleError(
            f"the fibre of {self.puzzle.name} leads to key {key}, out of the range {low} to "
            f"{high - 1} that its edges should keep to"
        )

    # Merging

    def work(self, layer: Layer, arrivals: Keys, buckets: Buckets) -> Keys:
        """The arrivals routed to each bucket, and about as many keys as it has of the old layer."""
        firsts, lasts, counts = block_ranges(layer)
        lows = buckets.lows >> EDGE_BITS
        begun = np.searchsorted(firsts, lows[1:], side="left")
        ended = np.searchsorted(lasts, lows[:-1], side="left")
        before = np.concatenate([[0], np.cumsum(counts)])
        own = np.where(begun > ended, before[begun] - before[ended], 0)
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
        emitter = FibreEmitter(worker, self, sink)
        low, high = arrivals.buckets.low(bucket), arrivals.buckets.high(bucket)
        try:
            self._combine_range(worker, layer, arrivals, bucket, (low, high), emitter)
        except Overfull:
            emitter.restart()
            self._combine_parts(worker, layer, arrivals, bucket, emitter)
        return emitter.close(bucket)

    def _combine_parts(
        self,
        worker: Worker,
        layer: Layer,
        arrivals: Arrivals,
        bucket: int,
        emitter: FibreEmitter,
    ) -> None:
        """A bucket past the worker's memory, in ranges that fit, each found by halving."""
        unit = 1 << int(EDGE_BITS)
        low, end = arrivals.buckets.low(bucket), arrivals.buckets.high(bucket)
        width = end - low
        while low < end:
            width = min(width, end - low)
            try:
                span = (low, low + width)
                self._combine_range(worker, layer, arrivals, bucket, span, emitter)
            except Overfull:
                width = max(unit, width // unit // 2 * unit)
                continue
            low += width
            width *= 2

    def _combine_range(
        self,
        worker: Worker,
        layer: Layer,
        arrivals: Arrivals,
        bucket: int,
        span: tuple[int, int],
        emitter: FibreEmitter,
    ) -> None:
        """Merge the part of a bucket whose arrivals lie in the half-open range `span`."""
        space: FibreSpace = worker.space
        buckets = arrivals.buckets
        whole = span == (buckets.low(bucket), buckets.high(bucket))
        narrow = span[1] - span[0] <= WORD
        first: Records = space.first.view(np.uint32) if narrow else space.first
        second: Records = space.second.view(np.uint32) if narrow else space.second
        own, own_tally, local = self._own(worker, layer, buckets, bucket, span, first)
        n, came, routed = local.count, local, NOTHING
        for start, end in self._routed(space, arrivals, bucket, span, whole, first, n):
            routed += tally_of(first[start:end], end - start, span[0])
            came += weight_of(first[start:end], span[0])
            n = end
        worker.clock.lap("gather")
        values, _ = sort_records(first, second, n, span[1] - span[0], space.digits, EDGE_BITS)
        worker.clock.lap("sort")
        spare = space.second if values is first else space.first
        m = int(fibre_kernels.collect(values, U64(n), U64(span[0]), self._table, spare, space.bits))
        found = Tally(*map(int, fibre_kernels.weigh_keys(spare, space.bits, U64(m))))
        require(f"bucket {bucket}", "sort", came, found)
        spare[m] = LAST
        space.own[own] = LAST
        emitter.take(own_tally, local, routed)
        i = j = ZERO
        done = 0
        while int(i) < own or int(j) < m:
            i, j, written, states, pending, arrived = fibre_kernels.combine(
                space.own,
                space.payload,
                U64(i),
                U64(own),
                spare,
                space.bits,
                U64(j),
                U64(m),
                (self._widths[self._old_side], self._widths[self.new_side]),
                self.fibre.free[self.new_side],
                self.fibre.incident[self.new_side],
                U64(LANE),
                space.out,
                space.out_payload,
            )
            done += int(arrived)
            worker.clock.lap("merge")
            emitter.add(int(written), int(states), int(pending))
        require(f"bucket {bucket}", "cleared edges", Tally(n), Tally(done))
        require(f"bucket {bucket}", "merge", Tally(own, m), Tally(int(i), int(j)))

    def _own(
        self,
        worker: Worker,
        layer: Layer,
        buckets: Buckets,
        bucket: int,
        span: tuple[int, int],
        first: Records,
    ) -> tuple[int, Tally, Tally]:
        """Read the old records of a range, and let those of its bucket send along local edges.

        Returns (own records, their tally, number and weight of the local arrivals in `first`).
        """
        space: FibreSpace = worker.space
        clock = worker.clock
        low, high = buckets.low(bucket) >> 4, buckets.high(bucket) >> 4
        wanted = U64(self._local[bucket])
        part = (span[0] >> 4, span[1] >> 4)
        own = 0
        local = NOTHING
        for keys, payload in layer.read_range_records(low, high, worker.scratch):
            clock.lap("read")
            inside = slice(None)
            if part != (low, high):
                inside = slice(*np.searchsorted(keys, np.array(part, np.uint64)).tolist())
            mine, masks = keys[inside], payload[inside]
            if own + mine.size > space.arrivals:
                raise Overfull
            space.own[own : own + mine.size] = mine
            space.payload[own : own + mine.size] = masks
            own += int(mine.size)
            if part != (low, high):
                local = self._expand_local(space, keys, payload, wanted, span, False, first, local)
                clock.lap("expand")
        own_tally = tally_records(space.own[:own], space.payload[:own])
        clock.lap("read")
        if part == (low, high):
            keys, payload = space.own[:own], space.payload[:own]
            local = self._expand_local(space, keys, payload, wanted, span, True, first, local)
            clock.lap("expand")
        return own, own_tally, local

    def _expand_local(
        self,
        space: FibreSpace,
        keys: Keys,
        payload: Payload,
        wanted: np.uint64,
        span: tuple[int, int],
        whole: bool,
        out: Records,
        before: Tally,
    ) -> Tally:
        """Append what some records send along the edges `wanted`; number and weight of all in out.

        whole: whether all of it should lie in `span`; else what does not is left out.
        """
        low, width = span[0], span[1] - span[0]
        for at in range(0, keys.size, SLICE):
            few = keys[at : at + SLICE]
            total = fibre_kernels.select_edges(
                payload[at : at + SLICE], U64(few.size), self._shift, wanted, space.pending
            )
            children = self._children(space, few, int(total))
            n = before.count
            if not whole:
                end = append_within(space, children, 0, span, out, n)
                before += weight_of(out[n:end], low)
            elif n + children.size > space.arrivals:
                raise Overfull
            elif children.size:
                before += weight_of(children, 0)
                fibre_kernels.append(children, U64(children.size), U64(low), out, U64(n))
                if int(out[n : before.count].max()) >= width:
                    raise self._astray(int(children.max()) >> 4, low >> 4, span[1] >> 4)
        return before

    @staticmethod
    def _routed(
        space: FibreSpace,
        arrivals: Arrivals,
        bucket: int,
        span: tuple[int, int],
        whole: bool,
        first: Records,
        n: int,
    ) -> Iterator[tuple[int, int]]:
        """Append the routed arrivals that lie in `span` to first[n:]; each part's (start, end)."""
        count = arrivals.count(bucket)
        second: Records = space.second.view(arrivals.buckets.dtype)
        if whole and n + count > space.arrivals:
            raise Overfull
        if whole and first.dtype == second.dtype:
            yield n, n + arrivals.gather(bucket, first[n : n + count + PAD])
            return
        base = arrivals.buckets.low(bucket)
        if count <= space.arrivals:
            parts: Iterator[int] = iter([arrivals.gather(bucket, second)])
        else:
            parts = arrivals.chunks(bucket, second[: space.arrivals])
        for size in parts:
            end = append_within(space, second[:size], base, span, first, n)
            yield n, end
            n = end

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
