"""The merge of one bucket in the fibre algebra: own records and arrivals become the next layer.

A bucket's own records send along the edges that keep inside it, and meet what was routed to it.
What does not fit the worker's arrays is taken in ranges that do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from extbfs.algebra import fibre_edges, fibre_kernels
from extbfs.algebra.bounds import WORD
from extbfs.algebra.contract import Arrivals, Keys, Sink
from extbfs.algebra.fibre_kernels import EDGE_BITS, LAST
from extbfs.algebra.fibre_routes import IDENTITY
from extbfs.algebra.fibre_work import (
    FibreEmitter,
    FibreSpace,
    Payload,
    append_within,
    weight_of,
)
from extbfs.algebra.records import digits_of, tally_records
from extbfs.algebra.window import Overfull
from extbfs.engine.laws import NOTHING, Tally, require
from extbfs.engine.ledger import Books
from extbfs.engine.worker import Worker
from store.layer import Layer
from store.pool import Records

if TYPE_CHECKING:
    from extbfs.algebra.fibre import FibreAlgebra

U64 = np.uint64
ZERO = U64(0)


class FibreMerge:
    """One bucket's merge by one worker."""

    def __init__(
        self,
        algebra: FibreAlgebra,
        worker: Worker,
        layer: Layer,
        arrivals: Arrivals,
        bucket: int,
        sink: Sink,
    ) -> None:
        self._algebra = algebra
        self._worker = worker
        self._space: FibreSpace = worker.space
        self._layer = layer
        self._arrivals = arrivals
        self._bucket = bucket
        self._where = f"bucket {bucket}"
        routes = self._routes = algebra.routes
        self._keys = int(routes.lows[bucket]), int(routes.lows[bucket + 1])
        self._range = self._keys[0] << int(EDGE_BITS), self._keys[1] << int(EDGE_BITS)
        self._wanted = U64(routes.local[bucket])
        self._emitter = FibreEmitter(worker, algebra, sink)

    def run(self) -> Books:
        """Merge it all; its books."""
        try:
            self._merge(self._range)
        except Overfull:
            self._emitter.restart()
            self._merge_parts()
        return self._emitter.close()

    def _merge_parts(self) -> None:
        """A bucket past the worker's memory, in ranges that fit, each found by halving."""
        unit = 1 << int(EDGE_BITS)
        low, end = self._range
        width = end - low
        while low < end:
            width = min(width, end - low)
            try:
                self._merge((low, low + width))
            except Overfull:
                width = max(unit, width // unit // 2 * unit)
                continue
            low += width
            width *= 2

    def _merge(self, span: tuple[int, int]) -> None:
        """Merge the part of the bucket whose arrivals lie in the half-open range `span`."""
        space = self._space
        whole = span == self._range
        narrow = span[1] - span[0] <= WORD
        first: Records = space.first.view(np.uint32) if narrow else space.first
        second: Records = space.second.view(np.uint32) if narrow else space.second
        own, taken, local = self._own(first) if whole else self._own_part(span, first)
        n, came, routed = local.count, local, NOTHING
        for end, mixed, weight in self._routed(span, whole, first, n):
            routed += Tally(end - n, mixed)
            came += Tally(end - n, weight)
            n = end
        self._worker.clock.lap("gather")
        in_second, m, arrived, weight = fibre_kernels.arrange(
            first,
            second,
            U64(n),
            *digits_of(n, span[1] - span[0], EDGE_BITS),
            space.digits,
            U64(span[0]),
            self._algebra.table,
            self._algebra.shift,
            space.first,
            space.second,
            space.bits,
        )
        require(self._where, "sort", came, Tally(int(arrived), int(weight)))
        self._worker.clock.lap("sort")
        self._emitter.take(taken, local, routed)
        self._combine(own, space.second if in_second else space.first, int(m), n)

    def _combine(self, own: tuple[int, int], keys: Keys, m: int, arrivals: int) -> None:
        """Make the next layer of the own records in a range, whose payload it uses up, and of
        keys[:m] and their bits."""
        algebra, space, emitter = self._algebra, self._space, self._emitter
        fibre_kernels.turn(space.payload[own[0] : own[1]], algebra.merge_widths)
        keys[m] = LAST
        kept = space.own[own[1]]
        space.own[own[1]] = LAST
        n, end = U64(own[1]), U64(m)
        rest = algebra.merge_widths, algebra.full, space.lane, algebra.shift, algebra.ends
        out = space.out, space.out_payload
        i, j = own[0], 0
        done = 0
        while i < own[1] or j < m:
            merge = space.own, space.payload, U64(i), n, keys, space.bits, U64(j), end, *rest
            if emitter.looks:
                i, j, *told = map(int, fibre_kernels.make_block(*merge, *out))
                self._worker.clock.lap("merge")
                done += emitter.add(*told)
            else:
                left = own[1] - i + m - j
                rows = space.rows[: left // (2 * int(space.lane)) + 1]
                place = emitter.place(len(rows), min(left, space.out.size))
                i, j, count = map(int, fibre_kernels.make_blocks(*merge, *out, *place, rows))
                self._worker.clock.lap("merge")
                done += emitter.add_blocks(rows[:count])
        space.own[own[1]] = kept
        require(self._where, "cleared edges", Tally(arrivals), Tally(done))
        require(self._where, "merge", Tally(own[1], m), Tally(i, j))

    # What comes in

    def _own(self, out: Records) -> tuple[tuple[int, int], Tally, Tally]:
        """Read the bucket's old records and let them send along the edges that keep inside.

        Returns (where they begin and end in the window, their tally, number and weight of what is
        in `out`).
        """
        space, clock = self._space, self._worker.clock
        begin, end = space.window.load(
            self._layer,
            self._algebra.blocks[self._bucket],
            self._algebra.keys_before,
            self._keys,
            self._worker.scratch,
        )
        clock.lap("read")
        taken = local = NOTHING
        for children, few in self._children(space.own[begin:end], space.payload[begin:end]):
            taken += few
            n = local.count
            if n + children.size > space.arrivals:
                raise Overfull
            if children.size:
                base, width = U64(self._range[0]), self._range[1] - self._range[0]
                weight, most = fibre_edges.land(children, space.counts, IDENTITY, base, out, U64(n))
                local += Tally(children.size, int(weight))
                if int(most) >= width:
                    astray = int(children.max()) >> int(EDGE_BITS)
                    raise self._algebra.astray(astray, self._keys)
            clock.lap("expand")
        return (begin, end), taken, local

    def _own_part(
        self, span: tuple[int, int], out: Records
    ) -> tuple[tuple[int, int], Tally, Tally]:
        """As _own, for a part of the bucket: all its records are read, and most are let go."""
        space, clock = self._space, self._worker.clock
        space.window.forget()
        ends = np.array([bound >> int(EDGE_BITS) for bound in span], np.uint64)
        own = 0
        local = NOTHING
        scratch = self._worker.scratch
        for keys, payload in self._layer.read_range_records(*self._keys, scratch):
            clock.lap("read")
            inside = slice(*np.searchsorted(keys, ends).tolist())
            mine = keys[inside]
            if own + mine.size > space.arrivals:
                raise Overfull
            space.own[own : own + mine.size] = mine
            space.payload[own : own + mine.size] = payload[inside]
            own += int(mine.size)
            for children, _ in self._children(keys, payload):
                n = local.count
                fibre_edges.tag(children, space.counts, EDGE_BITS, IDENTITY)
                end = append_within(space, children, span, out, n)
                local += weight_of(out[n:end], span[0])
            clock.lap("expand")
        return (0, own), tally_records(space.own[:own], space.payload[:own]), local

    def _children(self, keys: Keys, payload: Payload) -> Iterator[tuple[Keys, Tally]]:
        """What some of its records send along the edges that keep inside, part by part, and the
        tally of the records of a part."""
        algebra, space = self._algebra, self._space
        for at in range(0, keys.size, space.pending.size):
            few = keys[at : at + space.pending.size]
            masks = payload[at : at + few.size]
            total, mixed = fibre_edges.stay(few, masks, algebra.shift, self._wanted, space.pending)
            yield algebra.children(space, few, int(total)), Tally(few.size, int(mixed))

    def _routed(
        self, span: tuple[int, int], whole: bool, first: Records, n: int
    ) -> Iterator[tuple[int, int, int]]:
        """Append the routed arrivals that lie in `span` to first[n:], part by part.

        For each part: (its end, its fingerprint as it was routed, its weight).
        """
        space, arrivals, bucket = self._space, self._arrivals, self._bucket
        routes, low = self._routes, U64(span[0])
        count = arrivals.count(bucket)
        second: Records = space.second.view(arrivals.buckets.dtype)
        base = U64(arrivals.buckets.low(bucket))
        if whole:
            if n + count > space.arrivals:
                raise Overfull
            arrivals.gather(bucket, second)
            codes = routes.bits, routes.edge_of, routes.code_of
            found = fibre_kernels.take_routed(second, U64(count), base, *codes, low, first, U64(n))
            yield n + count, int(found[0]), int(found[1])
            return
        if count <= space.arrivals:
            parts: Iterator[int] = iter([arrivals.gather(bucket, second)])
        else:
            parts = arrivals.chunks(bucket, second[: space.arrivals])
        for size in parts:
            for at in range(0, size, space.children.size):
                few = second[at : min(size, at + space.children.size)]
                some = space.children[: few.size]
                fibre_kernels.convert(
                    few, U64(few.size), base, routes.bits, routes.edge_of, ZERO, some, ZERO
                )
                end = append_within(space, some, span, first, n)
                taken, number = first[n:end], U64(end - n)
                mixed = fibre_kernels.routed_fingerprint(
                    taken, number, low, routes.bits, routes.code_of
                )
                yield end, int(mixed), weight_of(taken, span[0]).fingerprint
                n = end
