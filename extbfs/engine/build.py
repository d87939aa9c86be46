"""Building one depth: expand the layer before it, then merge what arrived, bucket by bucket.

Both stages checkpoint while they run. A piece of the old layer is finished when the spill file with
its children is durable and recorded; a bucket of the new layer when its runs and books are. What is
recorded is never done again. Either record is complete in itself: since bounds are fixed and moves
are the same every time, any set of them may survive a crash.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from extbfs.engine.arrivals import StoredArrivals
from extbfs.engine.context import Engine
from extbfs.engine.crew import Event
from extbfs.engine.laws import Tally, require
from extbfs.engine.layerfile import LayerFiles
from extbfs.engine.ledger import Books, DepthPlan, StoredRun, file_number
from extbfs.engine.runstore import RunStore
from extbfs.engine.spilling import spill_pool
from extbfs.engine.worker import Worker
from store import names
from store.layer import Layer
from store.run import RunMeta
from store.spill import SpillMeta, SpillReader

NEIGHBOURS = 8
"""Buckets that one worker merges in a row, at most."""
WRITE_BEHIND = 1 << 24
"""Bytes of a layer that wait at most to be made durable: little is left to do at the end."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A merged bucket: its runs, not durable yet, and its books."""

    number: int
    runs: list[StoredRun]
    books: Books


@dataclass(frozen=True, slots=True)
class Built:
    """A complete layer, staged in the ledger, all its files durable."""

    runs: list[StoredRun]
    books: Books
    told: dict[str, int]
    expand_seconds: float
    merge_seconds: float
    spilled: int
    on_files: bool


class DepthBuild:
    """The building of one layer. Made anew for every depth and on every resume."""

    def __init__(
        self,
        engine: Engine,
        plan: DepthPlan,
        layer: Layer,
        row: dict[str, Any],
        history: Sequence[Layer],
    ) -> None:
        """layer, row: the depth before; history: the earlier layers that the algebra asked for."""
        self.engine = engine
        self._row = row
        self.plan = plan
        self.layer = layer
        self.history = history
        depth = plan.depth
        self._spills: list[SpillMeta] = engine.ledger.spills(depth)
        self._books: dict[int, Books] = engine.ledger.books(depth)
        self._runs: dict[int, list[StoredRun]] = {}
        self._numbers = itertools.count(
            1 + max((file_number(spill.file) for spill in self._spills), default=-1)
        )
        self._keys_before = np.zeros(1, np.int64)
        if plan.pieces:
            self._keys_before = layer.keys_before()
        self._readers: list[SpillReader] = []
        self._pending: list[Bucket] = []
        self._last: list[Bucket] = []
        self._lock = threading.Lock()
        self._syncing = 0
        self._epoch = 0
        self._merging = False
        self._finishing = False
        self._recorded = bool(self._spills or self._books)
        self._on_files = False
        self._files = LayerFiles(engine, partial(names.layer_file, depth))
        self._store = RunStore(self._files)

    # The whole

    def build(self) -> Built | None:
        """Build the layer; None when stopped first, with everything done so far recorded."""
        engine = self.engine
        engine.algebra.open(self.plan.depth, self.plan.buckets)
        for worker in engine.crew.workers:
            worker.pool.open(self.plan.buckets)
            worker.clear()
            worker.flushed = 0
            worker.written = []
            worker.spill_part = self._spill
        arrivals: StoredArrivals | None = None
        try:
            begun = time.monotonic()
            if not self._expand():
                self._leave()
                return None
            expanded = time.monotonic()
            arrivals = self._close_expand()
            if not self._merge(arrivals):
                self._leave()
                return None
            return self._finish(expanded - begun, time.monotonic() - expanded)
        except BaseException:
            self._save_what_is_durable()
            raise
        finally:
            for worker in engine.crew.workers:
                worker.spill_part = None  # a ring of references would outlive the search
            for reader in self._readers:
                reader.close()
            self._files.close()

    def _save_what_is_durable(self) -> None:
        """After an error: record what had become durable, as far as that still works."""
        try:
            self._drain(reraise=False)
            self.engine.ledger.commit()
        except Exception as error:
            self.engine.journal.write("unsaved", detail=str(error))

    def _leave(self) -> None:
        """Stopped in an orderly way: make all finished work durable and record it."""
        crew = self.engine.crew
        self._epoch += 1
        crew.run(range(len(crew.workers)), self._flush_job, self._handle, bool, everyone=True)
        self._submit_buckets()
        self._drain()
        self.engine.ledger.commit()

    # Stage 1: expand

    def _expand(self) -> bool:
        engine, plan = self.engine, self.plan
        done = {piece for spill in self._spills for piece in spill.pieces}
        jobs = [piece for piece in range(plan.pieces) if piece not in done]
        engine.board.stage("expand", plan.depth, len(done), plan.pieces)
        return engine.crew.run(jobs, self._expand_piece, self._handle, self._tick)

    def _expand_piece(self, worker: Worker, piece: int) -> Event:
        plan, algebra = self.plan, self.engine.algebra
        start = piece * plan.piece_blocks
        stop = min(start + plan.piece_blocks, self.layer.blocks)
        keys = int(self._keys_before[stop] - self._keys_before[start])
        likely = worker.likely(keys, algebra.worst)
        if worker.flushed != self._epoch or not worker.pool.has_room(likely):
            self._flush(worker)
        worker.clock.start()
        algebra.expand(worker, self.layer, start, stop)
        worker.pieces.append(piece)
        return "piece", piece

    def _flush(self, worker: Worker) -> None:
        """Write the worker's finished pieces as a spill file, to be recorded once it is durable."""
        worker.flushed = self._epoch
        if worker.pieces:
            self._spill(worker)
            written, worker.written = worker.written, []
            self._submit(lambda: None, ("spilled", written))

    def _spill(self, worker: Worker) -> None:
        """Write the worker's pool as a spill file and let the syncer make it durable.

        Inside a piece that file alone means nothing: it is recorded with the one that ends it.
        """
        meta, sync = spill_pool(self.engine, self.plan, worker, next(self._numbers))
        if self._merging:
            # the pool stays what the merge reads; only its books are closed
            worker.pieces = []
        else:
            worker.pool.clear()
            worker.clear()
        worker.written.append(meta)
        self._spills.append(meta)
        self._submit(sync, ("synced", None))

    def _submit(self, sync: Callable[[], None], event: Event) -> None:
        """Hand a job to the syncer; any thread may."""
        with self._lock:
            self._syncing += 1
        self.engine.syncer.submit(sync, event)

    def _flush_job(self, worker: Worker, _: int) -> None:
        self._flush(worker)

    def _close_expand(self) -> StoredArrivals:
        """All pieces are expanded: check that every key was read, and bring the arrivals together.

        The pools stay in memory, unless some bucket is past a worker's memory: an external sort
        reads spill files only.
        """
        engine, plan = self.engine, self.plan
        workers = engine.crew.workers
        arrivals = self._arrived()
        if int(arrivals.counts.max()) > engine.memory.arrivals:
            crew = engine.crew
            crew.run(range(len(workers)), self._flush_job, self._handle, bool, everyone=True)
            arrivals = self._arrived()
        self._merging = True
        where = f"depth {plan.depth}"
        parents = sum((w.parents for w in workers), Tally())
        sent = sum((w.sent for w in workers), Tally())
        pieces = [piece for w in workers for piece in w.pieces]
        for spill in self._spills:
            parents += Tally(spill.parents, spill.parents_fingerprint)
            sent += Tally(spill.records, spill.fingerprint)
            pieces.extend(spill.pieces)
        if sorted(pieces) != list(range(plan.pieces)):
            require(where, "piece", Tally(len(pieces)), Tally(plan.pieces))
        if plan.pieces:
            require(where, "expand", engine.algebra.stored(self.layer), parents)
        self._sent = sent
        return arrivals

    def _arrived(self) -> StoredArrivals:
        """What lies in pools and spill files now."""
        engine, buckets = self.engine, self.plan.buckets
        for spill in self._spills[len(self._readers) :]:
            self._readers.append(SpillReader(engine.fs, engine.run, spill, buckets))
        pools = [worker.pool for worker in engine.crew.workers]
        return StoredArrivals(buckets, pools, self._readers)

    # Stage 2: merge

    def _merge(self, arrivals: StoredArrivals) -> bool:
        engine, plan = self.engine, self.plan
        self._arrivals = arrivals
        stored = engine.ledger.runs_by_bucket("layer", plan.depth)
        self._runs = {bucket: stored.get(bucket, []) for bucket in self._books}
        files = [run.meta.file for runs in self._runs.values() for run in runs if run.meta.file]
        self._on_files = bool(files)
        self._files.continue_after(files)
        self._work = engine.algebra.work(self.layer, arrivals.counts, plan.buckets)
        jobs = [b for b in self._work.nonzero()[0].tolist() if b not in self._books]
        total = int(self._work.sum())
        done = total - int(self._work[jobs].sum())
        engine.board.stage("merge", plan.depth, done, total)
        engine.board.merged = sum(books.states for books in self._books.values())
        # neighbouring buckets share a block of the old layers, which is then decoded once
        grain = max(1, min(NEIGHBOURS, len(jobs) // (16 * len(engine.crew.workers))))
        return engine.crew.run(jobs, self._merge_bucket, self._handle, self._tick, grain=grain)

    def _merge_bucket(self, worker: Worker, bucket: int) -> Event:
        if worker.flushed != self._epoch:
            self._flush(worker)
        worker.clock.start()
        runs: list[StoredRun] = []

        def sink(meta: RunMeta, data: memoryview) -> None:
            runs.append(self._store.put(meta, data, worker))
            worker.clock.lap("write")

        books = self.engine.algebra.combine(
            worker, self.layer, self._arrivals, bucket, self.history, sink
        )
        return "bucket", Bucket(bucket, runs, books)

    def _finish(self, expand_seconds: float, merge_seconds: float) -> Built:
        """All buckets are merged: sync, check the books of the whole depth, stage its records."""
        plan, ledger = self.plan, self.engine.ledger
        self._finishing = True
        self._submit_buckets()
        self._drain()
        total = sum(self._books.values(), Books())
        where = f"depth {plan.depth}"
        require(where, "routing", self._sent, total.arrivals)
        told = self.engine.algebra.close(where, self.layer, self._row, total)
        runs = [run for bucket in sorted(self._runs) for run in self._runs[bucket]]
        for bucket in self._last:
            ledger.put_runs("layer", plan.depth, bucket.number, bucket.runs)
        if self._recorded:
            ledger.drop_progress(plan.depth)
        return Built(
            runs,
            total,
            told,
            expand_seconds,
            merge_seconds,
            sum(spill.length for spill in self._spills),
            self._on_files or bool(self._spills),
        )

    # The coordinator's side

    def _handle(self, event: Event) -> None:
        kind, value = event
        board = self.engine.board
        if kind == "news":
            for news in value:
                self._handle(news)
        elif kind == "piece":
            board.advance(1)
        elif kind == "bucket":
            self._pending.append(value)
            self._books[value.number] = value.books
            self._runs[value.number] = value.runs
            board.advance(int(self._work[value.number]))
            board.merged += value.books.states
        elif kind == "sync-failed":
            self._synced()
            raise value
        else:
            self._synced()
            if kind == "spilled" and not self._finishing:
                self._record_spills(value)
            elif kind == "merged":
                self._merged(value)

    def _synced(self) -> None:
        with self._lock:
            self._syncing -= 1

    def _record_spills(self, spills: list[SpillMeta]) -> None:
        """Some pieces are expanded for good."""
        depth, ledger = self.plan.depth, self.engine.ledger
        self._record_plan()
        for spill in spills:
            ledger.put_spill(depth, spill)
        ledger.commit()
        self.engine.board.checkpointed()
        pieces = [piece for spill in spills for piece in spill.pieces]
        self.engine.journal.write("spill", depth=depth, pieces=pieces)

    def _merged(self, buckets: list[Bucket]) -> None:
        """Some buckets are merged for good; the last ones are recorded with the whole depth."""
        if self._finishing:
            self._last.extend(buckets)
            return
        depth, ledger = self.plan.depth, self.engine.ledger
        self._record_plan()
        for bucket in buckets:
            ledger.put_runs("layer", depth, bucket.number, bucket.runs)
            ledger.put_books(depth, bucket.number, bucket.books)
        ledger.commit()
        self.engine.board.checkpointed()
        self.engine.journal.write("merge", depth=depth, buckets=[b.number for b in buckets])

    def _record_plan(self) -> None:
        """Before the first record of progress: without its plan it would mean nothing."""
        if not self._recorded:
            self.engine.ledger.put_plan(self.plan)
            self._recorded = True

    def _submit_buckets(self) -> None:
        """Let the syncer make the buckets merged so far durable; they are recorded after that."""
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        if any(run.meta.file for bucket in pending for run in bucket.runs):
            self._on_files = True
            self._submit(self._files.sync, ("merged", pending))
        else:
            self._merged(pending)

    def _drain(self, *, reraise: bool = True) -> None:
        """Wait until all that was handed to the syncer is durable and recorded."""
        while self._syncing or not self.engine.crew.events.empty():
            try:
                self._handle(self.engine.crew.events.get())
            except Exception:
                if reraise:
                    raise

    def _tick(self) -> bool:
        control = self.engine.control
        if control.checkpoint_due:
            control.checkpoint_begun()
            self._epoch += 1
            self._submit_buckets()
        elif self._files.behind >= WRITE_BEHIND:
            self._submit(self._files.sync, ("synced", None))
        self.engine.board.refresh()
        return control.go_on
