"""The engine's context: everything one search shares, made once when it starts or resumes."""

from __future__ import annotations

from dataclasses import dataclass

from extbfs.algebra.contract import LayerAlgebra
from extbfs.engine.background import Background
from extbfs.engine.board import Board
from extbfs.engine.budget import MemoryPlan
from extbfs.engine.control import Control
from extbfs.engine.crew import Crew
from extbfs.engine.disk import DiskMeter
from extbfs.engine.journal import Journal
from extbfs.engine.ledger import Ledger, StoredRun
from extbfs.engine.syncer import Syncer
from puzzles.contract import Puzzle
from store.fs import FileSystem
from store.layer import Layer
from store.source import FileSource


@dataclass(slots=True)
class Engine:
    """One search's parts. Only the coordinator's thread uses ledger, board, control and journal."""

    fs: FileSystem
    run: str
    ledger: Ledger
    source: FileSource
    meter: DiskMeter
    puzzle: Puzzle
    algebra: LayerAlgebra
    memory: MemoryPlan
    crew: Crew
    syncer: Syncer
    writer: Background
    control: Control
    board: Board
    journal: Journal

    def layer(self, depth: int, runs: list[StoredRun]) -> Layer:
        """A readable layer of runs in key order."""
        inline = {i: run.inline for i, run in enumerate(runs) if not run.meta.file}
        indexes = {i: run.index for i, run in enumerate(runs) if run.index is not None}
        layer = Layer(self.source, depth, [run.meta for run in runs], inline, indexes)
        if layer.bytes > self.memory.page_cache:
            self.source.keep_out({meta.file for meta in layer.metas})
        return layer
