"""The set algebra: a layer is a set of keys, an arrival is a child's key.

Korf & Schultze's delayed duplicate detection (AAAI 2005): children are routed to key ranges; each
range is sorted or, where dense, marked in a bitmap; duplicates go, then what earlier layers hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from extbfs.algebra.bounds import WORD, quantiles, split_wide
from extbfs.algebra.contract import Arrivals, Keys, Sink
from extbfs.algebra.emitter import Emitter, states_of
from extbfs.algebra.records import DIGIT_TABLE, sort_records, tally, tally_of
from extbfs.engine.budget import BITMAP, BLOCK_KEYS, LARGEST_ARRIVALS, MemoryPlan
from extbfs.engine.laws import Tally, require
from extbfs.engine.ledger import Books
from extbfs.engine.worker import PAD, Worker
from puzzles.contract import Puzzle
from puzzles.errors import PuzzleError
from store.buckets import Buckets
from store.kernels import bitmap, merge, sort
from store.kernels.fingerprint import survey_keys
from store.kernels.warm import warm_sets
from store.layer import Layer
from store.pool import Records
from store.run import RunBuilder

U64 = np.uint64
BUCKET_ARRIVALS = 1 << 20
"""Arrivals a bucket aims at: its sort stays in the caches."""
SAMPLE_BLOCKS = 64
"""Layers of up to so many blocks are read for the sample; of larger ones the indexes suffice."""
SAMPLE_KEYS = 1 << 16
SPLIT_ABOVE = 1 << 25
"""Expected arrivals from which wide buckets are split so that records take four bytes."""
MOST_SPLITS = 1 << 13


SLOTS_PER_ARRIVAL = 40
"""A bitmap pays while the range has at most so many keys an arrival."""
BITMAP_WORDS = BITMAP // 8


class SetSpace:
    """The arrays of one worker: children of a slice, two record arrays, a bitmap, an output block.

    first, second: memory of `arrivals` records of up to 8 bytes, viewed in the depth's dtype.
    """

    def __init__(self, memory: MemoryPlan, max_successors: int) -> None:
        self.children = np.empty(memory.slice_keys * max_successors, np.uint64)
        self.first = np.empty(memory.arrivals + PAD, np.uint64)
        self.second = np.empty(memory.arrivals + PAD, np.uint64)
        self.out = np.empty(2 * BLOCK_KEYS + PAD, np.uint64)
        self.digits = np.empty(DIGIT_TABLE, np.uint64)
        self.bitmap = np.zeros(BITMAP_WORDS, np.uint64)


class SetAlgebra:
    """Layers of plain keys, for every puzzle."""

    name = "set"
    payload_bits = 0
    record_bytes = 16
    most_arrivals = LARGEST_ARRIVALS

    def __init__(self, puzzle: Puzzle) -> None:
        self.puzzle = puzzle
        self.worst = puzzle.max_successors
        self._key_space = puzzle.key_space

    def workspace(self, memory: MemoryPlan) -> SetSpace:
        return SetSpace(memory, self.puzzle.max_successors)

    def warm(self) -> None:
        warm_sets()
        self.puzzle.warm()

    def builder(self) -> RunBuilder:
        return RunBuilder()

    def begin(self) -> tuple[Keys, None, Books]:
        starts = np.unique(np.asarray(self.puzzle.starts(), np.uint64))
        goals = starts[self.puzzle.is_goal(starts)] if self.puzzle.has_goal else starts[:0]
        here = tally(starts)
        return (
            starts,
            None,
            Books(
                arrivals=here,
                kept=here,
                states=states_of(self.puzzle, starts),
                goals=states_of(self.puzzle, goals),
                goal_key=int(goals[0]) if goals.size else 0,
            ),
        )

    def stored(self, layer: Layer) -> Tally:
        return Tally(layer.count, layer.fingerprint)

    def history(self, depth: int) -> Sequence[int] | None:
        """d-2 when moves change sides, also d-1 when they are undirected, else all."""
        if not self.puzzle.undirected:
            return None
        first = depth - 2
        return [d for d in ((first,) if self.puzzle.bipartite else (first, depth - 1)) if d >= 0]

    def plan(
        self, worker: Worker, layer: Layer, depth: int, growth: float | None, memory: MemoryPlan
    ) -> Buckets:
        rate = self.worst if growth is None else min(growth, self.worst)
        expected = int(layer.count * rate) + 1
        target = min(BUCKET_ARRIVALS, memory.arrivals // 2)
        most = max(1, memory.pool // 8 // 256)
        wanted = max(1, min(most, expected // target))
        lows = np.array([0, self._key_space], np.uint64)
        if wanted > 1:
            lows = quantiles(self._sample(worker, layer, wanted), wanted, self._key_space)
        if expected >= SPLIT_ABOVE and self._key_space // WORD + lows.size <= min(
            MOST_SPLITS, most
        ):
            lows = split_wide(lows)
        return Buckets.of(lows)

    def _sample(self, worker: Worker, layer: Layer, wanted: int) -> Keys:
        """Sorted children of keys drawn evenly from the whole layer.

        The first key of every block is such a sample; in small layers more keys are needed. The
        more children a key may have, the fewer keys: the sample's memory is nobody's share.
        """
        parts: list[Keys] = []
        most = max(SAMPLE_KEYS, 64 * wanted) * 4 // max(4, self.worst)
        if layer.blocks > SAMPLE_BLOCKS:
            firsts, _ = layer.weights()
            few = firsts[:: max(1, firsts.size // most)].copy()
            parts.extend(children.copy() for children, _ in self._children(worker, few))
        else:
            stride = max(1, layer.count // most)
            for keys in layer.read_blocks(0, layer.blocks, worker.scratch):
                few = keys[::stride].copy()
                parts.extend(children.copy() for children, _ in self._children(worker, few))
        children = np.concatenate([*parts, np.empty(0, np.uint64)])
        children.sort()
        return children

    def open(self, depth: int, buckets: Buckets) -> bool:
        return True

    def expand(self, worker: Worker, layer: Layer, start: int, stop: int) -> None:
        clock = worker.clock
        for keys in layer.read_blocks(start, stop, worker.scratch):
            clock.lap("read")
            worker.parents += tally(keys)
            for children, sent in self._children(worker, keys):
                clock.lap("expand")
                worker.make_room(sent.count)
                worker.sent += sent
                worker.pool.route(children, sent.count)
                clock.lap("route")

    def work(self, layer: Layer, arrivals: Keys, buckets: Buckets) -> Keys:
        return arrivals

    def close(self, where: str, layer: Layer, row: dict[str, Any], total: Books) -> dict[str, int]:
        require(where, "merge", total.arrivals, total.first + total.second + total.kept)
        return {
            "arrivals": total.arrivals.count,
            "duplicates": total.first.count,
            "hits": total.second.count,
        }

    def count(self, depth: int, keys: Keys, payload: npt.NDArray[Any] | None) -> tuple[int, int]:
        return states_of(self.puzzle, keys), 0

    def states(self, depth: int, keys: Keys, payload: npt.NDArray[Any] | None) -> Keys:
        return keys

    def contains(self, layer: Layer, states: Keys) -> npt.NDArray[np.bool_]:
        return layer.contains(states)

    def _children(self, worker: Worker, keys: Keys) -> Iterator[tuple[Keys, Tally]]:
        """The children of keys, a slice at a time, in the worker's buffer, and their tally; all
        below key_space."""
        step = worker.memory.slice_keys
        out: Keys = worker.space.children
        for start in range(0, keys.size, step):
            part = keys[start : start + step]
            n = self.puzzle.successors(part, out[: part.size * self.puzzle.max_successors])
            if n:
                mixed, most = survey_keys(out[:n])
                if int(most) >= self._key_space:
                    self._refuse_key(part, int(most))
                yield out[:n], Tally(n, int(mixed))

    def _refuse_key(self, parents: Keys, key: int) -> None:
        raise PuzzleError(
            f"{self.puzzle.name} sends a state to key {key}, which is not below its key space "
            f"{self._key_space} (parents {int(parents[0])} to {int(parents[-1])})"
        )

    def combine(
        self,
        worker: Worker,
        layer: Layer,
        arrivals: Arrivals,
        bucket: int,
        history: Sequence[Layer],
        sink: Sink,
    ) -> Books:
        buckets = arrivals.buckets
        emitter = SetEmitter(worker, self.puzzle, sink)
        if arrivals.count(bucket) > worker.memory.arrivals:
            return self._combine_external(worker, arrivals, bucket, history, emitter)
        first: Records = worker.space.first.view(buckets.dtype)
        second: Records = worker.space.second.view(buckets.dtype)
        n = arrivals.gather(bucket, first)
        low, width = buckets.low(bucket), buckets.width(bucket)
        came = tally_of(first, n, low)
        worker.clock.lap("gather")
        dense = width <= SLOTS_PER_ARRIVAL * n and width <= 64 * BITMAP_WORDS
        method = self._combine_dense if dense else self._combine_sorted
        duplicates, hits = method(worker, first, second, n, low, width, history, emitter)
        return emitter.close(bucket, came, duplicates, hits)

    def _combine_dense(
        self,
        worker: Worker,
        first: Records,
        second: Records,
        n: int,
        low: int,
        width: int,
        history: Sequence[Layer],
        emitter: SetEmitter,
    ) -> tuple[Tally, Tally]:
        """Mark, clear what earlier layers hold, sweep."""
        bits = worker.space.bitmap
        words = (width + 63) // 64
        dropped = int(bitmap.mark(bits, first, U64(n), second))
        duplicates = tally_of(second, dropped, low)
        worker.clock.lap("sort")
        hits = Tally()
        for layer in history:
            for keys in layer.read_range(low, low + width, worker.history_scratch):
                found = int(bitmap.clear_hits(bits, keys, U64(keys.size), U64(low), second))
                hits += tally_of(second, found, low)
        worker.clock.lap("subtract")
        word = 0
        out = worker.space.out
        while word < words:
            at, got = bitmap.sweep(bits, U64(word), U64(words), U64(low), out, U64(out.size - 64))
            word = int(at)
            if got:
                emitter.emit(out[: int(got)])
        return duplicates, hits

    def _combine_sorted(
        self,
        worker: Worker,
        first: Records,
        second: Records,
        n: int,
        low: int,
        width: int,
        history: Sequence[Layer],
        emitter: SetEmitter,
    ) -> tuple[Tally, Tally]:
        """Sort, drop equal neighbours, merge against earlier layers."""
        values, spare, kept, dropped = sort_distinct(worker, first, second, n, width)
        duplicates = tally_of(spare, dropped, low)
        worker.clock.lap("sort")
        hits = Tally()
        for layer in history:
            kept, gone = subtract_layer(worker, values, spare, kept, low, (low, low + width), layer)
            hits += gone
        worker.clock.lap("subtract")
        for keys in widened(worker, values, kept, low):
            emitter.emit(keys)
        return duplicates, hits

    def _combine_external(
        self,
        worker: Worker,
        arrivals: Arrivals,
        bucket: int,
        history: Sequence[Layer],
        emitter: SetEmitter,
    ) -> Books:
        """A bucket larger than the worker's memory: an external merge sort, then the same laws."""
        buckets = arrivals.buckets
        low, width = buckets.low(bucket), buckets.width(bucket)
        first: Records = worker.space.first.view(buckets.dtype)
        second: Records = worker.space.second.view(buckets.dtype)
        came = hits = Tally()
        dropped: list[Tally] = []
        with worker.external_sorter() as sorter:
            for n in arrivals.chunks(bucket, first[: worker.memory.arrivals]):
                came += tally_of(first, n, low)
                values, spare, kept, twice = sort_distinct(worker, first, second, n, width)
                dropped.append(tally_of(spare, twice, low))
                sorter.add(widened(worker, values, kept, low))
            for window in sorter.merged(lambda keys: dropped.append(tally(keys))):
                for start in range(0, window.size, worker.memory.arrivals):
                    keys = window[start : start + worker.memory.arrivals]
                    size = int(keys.size)
                    span = int(keys[0]), int(keys[-1]) + 1
                    worker.space.first[:size] = keys
                    for layer in history:
                        size, gone = subtract_layer(
                            worker, worker.space.first, worker.space.second, size, 0, span, layer
                        )
                        hits += gone
                    if size:
                        emitter.emit(worker.space.first[:size])
        return emitter.close(bucket, came, sum(dropped, Tally()), hits)


class SetEmitter(Emitter):
    """Writes keys, which are states or stand for their orbits, and keeps the books of a bucket."""

    def begin(self) -> None:
        super().begin()
        self._states = 0

    def emit(self, keys: Keys, payload: npt.NDArray[Any] | None = None) -> None:
        super().emit(keys, payload)
        self._states += states_of(self._puzzle, keys)
        if self._puzzle.has_goal:
            self.look(keys)

    def close(self, bucket: int, arrivals: Tally, duplicates: Tally, hits: Tally) -> Books:
        """Close the run and the books; raise LawBroken when they do not balance."""
        self.finish_run()
        kept = self.kept
        require(f"bucket {bucket}", "merge", arrivals, duplicates + hits + kept)
        return Books(arrivals, kept, duplicates, hits, self._states, 0, self.goals, self.goal_key)


def sort_distinct(
    worker: Worker, first: Records, second: Records, n: int, width: int
) -> tuple[Records, Records, int, int]:
    """Sort first[:n] and split off duplicates: (distinct, duplicates, their numbers)."""
    values, spare = sort_records(first, second, n, width, worker.space.digits)
    kept, dropped = sort.split_duplicates(values, U64(n), spare)
    return values, spare, int(kept), int(dropped)


def widened(worker: Worker, values: Records, n: int, low: int) -> Iterator[Keys]:
    """values[:n] + low as uint64 arrays of a block each, valid until the next step."""
    for start in range(0, n, BLOCK_KEYS):
        size = min(BLOCK_KEYS, n - start)
        merge.widen(values[start : start + size], U64(size), U64(low), worker.space.out)
        yield worker.space.out[:size]


def subtract_layer(
    worker: Worker,
    values: Records,
    spare: Records,
    n: int,
    low: int,
    span: tuple[int, int],
    layer: Layer,
) -> tuple[int, Tally]:
    """Drop from values[:n], residuals to `low`, what a layer holds; (how many stay, the hits).

    span: half-open key range that all the values lie in.
    """
    read = write = U64(0)
    hits = Tally()
    for keys in layer.read_range(*span, worker.history_scratch):
        read, write, found = merge.subtract(
            values, U64(n), read, write, keys, U64(keys.size), U64(low), spare
        )
        hits += tally_of(spare, int(found), low)
        if int(read) == n:
            break
    return int(merge.move_down(values, read, U64(n), write)), hits
