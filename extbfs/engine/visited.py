"""The visited set of a directed graph: all earlier layers, kept as a few compacted levels.

Levels grow geometrically: when the newest level is more than half as large as the one before it,
they are merged, so n layers stand in O(log n) levels and every key is rewritten O(log n) times.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from extbfs.engine.context import Engine
from extbfs.engine.laws import LawBroken, Tally, require
from extbfs.engine.layerfile import LayerFiles
from extbfs.engine.ledger import StoredRun
from extbfs.engine.runstore import RunStore
from store import names
from store.external import union
from store.kernels.fingerprint import fingerprint
from store.layer import Layer, Scratch
from store.run import RunBuilder

RUN_KEYS = 1 << 18


class Visited:
    """The levels, oldest first. `garbage`: files that no level needs after the next commit."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.levels: list[Layer] = []
        self._merged: set[int] = set()
        self.garbage: list[str] = []

    def layers(self) -> set[int]:
        """The depths whose own layers are still levels."""
        return {level.depth for level in self.levels} - self._merged

    def unmerged(self, last: int) -> list[int]:
        """The depths up to `last` that no level of the catalogue covers, ascending."""
        reach = max(self._engine.ledger.depths_of("visited"), default=-1)
        return list(range(reach + 1, last + 1))

    def load(self, layers: list[Layer]) -> None:
        """Take the levels a catalogue records, and the layers that they do not cover."""
        ledger = self._engine.ledger
        for depth in ledger.depths_of("visited"):
            self.levels.append(self._engine.layer(depth, ledger.runs("visited", depth)))
            self._merged.add(depth)
        self.levels.extend(layers)

    def add(self, layer: Layer) -> None:
        """Add a complete layer; compact levels where that is due, staged in the ledger."""
        self.levels.append(layer)
        start = len(self.levels) - 1
        size = layer.count
        while start and self.levels[start - 1].count < 2 * size:
            start -= 1
            size += self.levels[start].count
        if start < len(self.levels) - 1:
            self._compact(start)

    def _compact(self, start: int) -> None:
        engine = self._engine
        old = self.levels[start:]
        depth = old[-1].depth
        files = LayerFiles(engine, partial(names.visited_file, depth))
        try:
            runs = list(self._write(old, RunStore(files)))
            files.sync()
        finally:
            files.close()
        expected = sum((Tally(level.count, level.fingerprint) for level in old), Tally())
        found = sum((Tally(run.meta.count, run.meta.fingerprint) for run in runs), Tally())
        require(f"visited keys up to depth {depth}", "compaction", expected, found)
        for level in old:
            if level.depth in self._merged:
                engine.ledger.drop_runs("visited", level.depth)
                self.garbage.extend(sorted({meta.file for meta in level.metas if meta.file}))
                self._merged.discard(level.depth)
        engine.ledger.put_runs("visited", depth, 0, runs)
        self._merged.add(depth)
        self.levels[start:] = [engine.layer(depth, runs)]

    def _write(self, levels: list[Layer], store: RunStore) -> Iterator[StoredRun]:
        """The disjoint union of the levels as runs of bounded size."""
        builder = RunBuilder()
        builder.begin()

        def twice(keys: object) -> None:
            where = f"visited keys up to depth {levels[-1].depth}"
            require(where, "disjoint layers", Tally(), Tally(1, int(fingerprint(keys))))

        streams = [level.read_blocks(0, level.blocks, Scratch()) for level in levels]
        for keys in union(streams, twice):
            try:
                builder.append(keys)
            except ValueError as error:
                where = f"visited keys up to depth {levels[-1].depth}"
                raise LawBroken(where, "order", f"what it made cannot be: {error}") from error
            if builder.count >= RUN_KEYS:
                yield store.put(*builder.finish())
                builder.begin()
        if builder.count:
            yield store.put(*builder.finish())
