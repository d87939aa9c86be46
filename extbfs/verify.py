"""Verifying a run: every checksum, order, count, fingerprint and conservation law.

The report is plain data: ok; problems, a list of {file, block, detail}; checked, how many depths,
runs, blocks, keys and spill files were looked at.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from extbfs.engine.laws import Tally, require
from extbfs.engine.ledger import Ledger
from extbfs.engine.recover import recorded_ends
from extbfs.errors import SearchError
from extbfs.kernel_cache import MISSES
from puzzles.errors import PuzzleError
from store import fs, names
from store.errors import IntegrityError
from store.layer import Layer, Scratch, verify_run
from store.source import FileSource
from store.spill import SpillReader

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from extbfs.algebra.contract import LayerAlgebra
    from extbfs.reader import Run, Watcher

    Keys = npt.NDArray[np.uint64]


class Verification:
    """One verification; collects problems instead of stopping at the first."""

    def __init__(self, run: Run, quick: bool, observer: Watcher | None) -> None:
        self._run = run
        self._path = run.directory
        self._ledger: Ledger = run.ledger
        self._quick = quick
        self._observer = observer
        self._source = FileSource(run.directory, fs.current())
        self._told = False
        self.problems: list[dict[str, Any]] = []
        self.checked = {"depths": 0, "runs": 0, "blocks": 0, "keys": 0, "spill files": 0}

    def close(self) -> None:
        """Close the files that were read."""
        self._source.close()

    def _problem(self, error: IntegrityError) -> None:
        self.problems.append(
            {"file": error.file, "block": str(error.block), "detail": error.detail}
        )

    def _tell(self, text: str) -> None:
        if self._observer is not None:
            self._observer.on_event({"event": "message", "text": text})

    def all(self) -> None:
        """Check catalogue, files, layers, table, spill files and the books of the depth at work."""
        self._ledger.catalogue.check()
        rows = self._ledger.depths()
        self._files(len(rows))
        for index, row in enumerate(rows):
            self._row(index, row, rows[index - 1] if index else None)
            self._layer("layer", row["depth"], row)
        for depth in self._ledger.depths_of("visited"):
            self._layer("visited", depth, None)
        self._progress(len(rows))

    def _files(self, building: int) -> None:
        """Every recorded file is there and long enough."""
        for name, end in recorded_ends(self._ledger, building).items():
            try:
                size = os.path.getsize(os.path.join(self._path, name))
            except OSError:
                self._problem(IntegrityError(name, "all", "it is missing"))
                continue
            if size < end:
                self._problem(
                    IntegrityError(name, "all", f"it has {size} bytes, {end} are recorded")
                )

    def _row(self, index: int, row: dict[str, Any], before: dict[str, Any] | None) -> None:
        """A row of the depth table agrees with itself and with the row before it."""
        self.checked["depths"] += 1
        where = f"depth {index}"
        total = row["states"] + (before["cumulative"] if before else 0)
        if row["depth"] != index or row["cumulative"] != total:
            self._problem(IntegrityError(where, "table", "the depth table does not add up"))
        if "hits" in row and row["arrivals"] != row["duplicates"] + row["hits"] + row["keys"]:
            self._problem(IntegrityError(where, "table", "arrivals are not what became of them"))
        if "routed" in row and before is not None and row["arrivals"] != before["pending"]:
            self._problem(IntegrityError(where, "table", "arrivals are not the moves that pended"))

    def _layer(self, kind: str, depth: int, row: dict[str, Any] | None) -> None:
        runs = self._ledger.runs(kind, depth)
        if not runs:
            return
        inline = {i: run.inline for i, run in enumerate(runs) if not run.meta.file}
        try:
            layer = Layer(self._source, depth, [run.meta for run in runs], inline)
            if row is not None:
                require(
                    f"layer {depth}",
                    "catalogue",
                    Tally(row["keys"], row["fingerprint"]),
                    Tally(layer.count, layer.fingerprint),
                )
        except IntegrityError as error:
            self._problem(error)
            return
        self.checked["runs"] += len(runs)
        if self._quick:
            try:
                layer.weights()
            except IntegrityError as error:
                self._problem(error)
            return
        self._blocks(layer, row)
        if layer.bytes > 1 << 24:
            self._tell(f"{kind} {depth}: {layer.count} keys checked")

    def _blocks(self, layer: Layer, row: dict[str, Any] | None) -> None:
        """Every block of a layer; where records have a payload, also what they stand for."""
        scratch = Scratch()
        sums = [0, 0]
        algebra = self._algebra() if row is not None and layer.metas[0].payload_bits else None

        def look(keys: Keys, payload: npt.NDArray[Any]) -> None:
            assert algebra is not None
            states, pending = algebra.count(layer.depth, keys, payload)
            sums[0] += states
            sums[1] += pending

        before = len(self.problems)
        for i, meta in enumerate(layer.metas):
            try:
                verify_run(layer, i, scratch, None if algebra is None else look)
            except IntegrityError as error:
                self._problem(error)
            self.checked["blocks"] += meta.blocks
            self.checked["keys"] += meta.count
        if algebra is None or row is None or len(self.problems) > before:
            return
        recorded = [row["states"], row["pending"]]
        if sums != recorded:
            detail = (
                f"its records hold {sums[0]} states and {sums[1]} pending moves; "
                f"{recorded[0]} and {recorded[1]} are recorded"
            )
            self._problem(IntegrityError(f"layer {layer.depth}", "all", detail))

    def _algebra(self) -> LayerAlgebra | None:
        """What the records of this run mean; None, and a word about it, where nobody can tell."""
        try:
            return self._run.algebra
        except (PuzzleError, SearchError) as error:
            if not self._told:
                self._tell(f"the states that records stand for are not counted: {error}")
            self._told = True
            return None

    def _progress(self, depth: int) -> None:
        """The depth under way: its spill files segment by segment, and its books."""
        plan = self._ledger.plan(depth)
        if plan is None:
            return
        for spill in self._ledger.spills(depth):
            self.checked["spill files"] += 1
            try:
                reader = SpillReader(fs.current(), self._path, spill, plan.buckets)
                try:
                    if not self._quick:
                        reader.verify(plan.buckets)
                finally:
                    reader.close()
            except IntegrityError as error:
                self._problem(error)
        runs, books = self._ledger.runs_by_bucket("layer", depth), self._ledger.books(depth)
        for bucket in sorted(runs.keys() | books.keys()):
            metas = [run.meta for run in runs.get(bucket, [])]
            kept = sum((Tally(meta.count, meta.fingerprint) for meta in metas), Tally())
            if bucket not in books or books[bucket].kept != kept:
                where = f"bucket {bucket} of depth {depth}"
                self._problem(IntegrityError(where, "books", "its runs are not what it kept"))
        self._layer("layer", depth, None)


def verify_run_directory(
    run: Run, *, quick: bool = False, observer: Watcher | None = None
) -> dict[str, Any]:
    """The report on a run. quick: the catalogue, the indexes and the lengths of files only."""
    verification = Verification(run, quick, observer)
    MISSES.tell = lambda: verification._tell("compiling kernels, once on this machine ...")
    try:
        verification.all()
    except IntegrityError as error:
        verification._problem(error)
    finally:
        verification.close()
    MISSES.tell = None
    orphans = [name for name in names.files_of(run.directory) if names.classify(name) is None]
    return {
        "ok": not verification.problems,
        "quick": quick,
        "problems": verification.problems,
        "checked": verification.checked,
        "foreign_files": orphans,
    }
