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
from extbfs.kernel_cache import MISSES
from store import fs, names
from store.errors import IntegrityError
from store.layer import Layer, Scratch, verify_run
from store.source import FileSource
from store.spill import SpillReader

if TYPE_CHECKING:
    from extbfs.reader import Run, Watcher


class Verification:
    """One verification; collects problems instead of stopping at the first."""

    def __init__(self, run: Run, quick: bool, observer: Watcher | None) -> None:
        self._path = run.directory
        self._ledger: Ledger = run.ledger
        self._quick = quick
        self._observer = observer
        self._source = FileSource(run.directory, fs.current())
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
        scratch = Scratch()
        for i, meta in enumerate(layer.metas):
            try:
                verify_run(layer, i, scratch)
            except IntegrityError as error:
                self._problem(error)
            self.checked["blocks"] += meta.blocks
            self.checked["keys"] += meta.count
        if layer.bytes > 1 << 24:
            self._tell(f"{kind} {depth}: {layer.count} keys checked")

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
