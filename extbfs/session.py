"""A session: one process's hold on a run directory, from the lock to the last status."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

import extbfs
from extbfs import kernels
from extbfs.algebra.choice import choose, make
from extbfs.algebra.contract import LayerAlgebra
from extbfs.engine import budget
from extbfs.engine.background import Background
from extbfs.engine.board import Board
from extbfs.engine.context import Engine
from extbfs.engine.control import Control
from extbfs.engine.crew import Crew
from extbfs.engine.disk import DiskMeter
from extbfs.engine.journal import Journal
from extbfs.engine.known import compare_with_known
from extbfs.engine.ledger import Ledger
from extbfs.engine.recover import recover
from extbfs.engine.search import Ending, Goals, Search
from extbfs.engine.syncer import Syncer
from extbfs.engine.worker import Worker
from extbfs.errors import LimitError
from extbfs.identity import compare_samples, rebuild, samples_of, symmetry_note
from extbfs.sizes import format_size, parse_size
from puzzles.contract import Puzzle
from store import fs, names
from store.catalogue import Catalogue, as_json
from store.errors import NotARun, StoreError
from store.external import ExternalSorter
from store.lock import WriterLock
from store.mounts import is_network_file_system
from store.source import FileSource

if TYPE_CHECKING:
    from extbfs.api import Limits, Observer

LEAST_DISK = 1 << 20


class Session:
    """Holds the lock of a run directory while it searches. A context manager, used once."""

    def __init__(
        self, run: str, limits: Limits, observer: Observer | None, *, create: bool
    ) -> None:
        self.run = run
        self._limits = limits
        self._observer = observer
        self._create = create
        self._catalogue: Catalogue | None = None
        self.memory: budget.MemoryPlan | None = None

    def __enter__(self) -> Session:
        disk = fs.current()
        if self._create:
            _make_directories(self.run)
        elif not os.path.isdir(self.run):
            what = "it is a file" if os.path.exists(self.run) else "there is no such directory"
            raise NotARun(self.run, what)
        elif not os.path.isfile(os.path.join(self.run, names.CATALOGUE_DATA)):
            raise NotARun(self.run, "it holds no catalogue")
        if is_network_file_system(self.run):
            raise StoreError(f"{self.run} is on a network file system, where no run is safe")
        self._lock = WriterLock.acquire(self.run)
        try:
            if self._create:
                for directory in (names.LAYERS, names.SPILL):
                    disk.mkdir(os.path.join(self.run, directory))
                disk.sync_dir(self.run)
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self._catalogue is not None:
                self._catalogue.close()
        finally:
            self._lock.release()

    def _tell(self, text: str) -> None:
        if self._observer is not None:
            self._observer.on_event({"event": "message", "text": text})

    # The two ways in

    def start(
        self, puzzle: Puzzle, *, keep: str, exhaust: bool, algebra: str
    ) -> tuple[Ending, dict[str, Any]]:
        """Begin a run: check the puzzle, make the catalogue, search."""
        from puzzles.check import quick_check

        chosen = {"keep": keep, "exhaust": exhaust, "algebra": choose(puzzle, algebra)}
        parameters = {**chosen, **self._asked()}
        made = make(parameters["algebra"], puzzle)
        kernels.warm(made, self._tell)
        quick_check(puzzle)
        self._plan(made, parameters)  # refuses limits that cannot work before a run exists
        self._catalogue = Catalogue.create(
            self.run,
            {"extbfs": extbfs.__version__, "algebra": made.name},
            {
                "run/spec": as_json(
                    {"name": puzzle.name, "puzzle": puzzle.spec, "parameters": parameters}
                ),
                "run/samples": as_json(samples_of(puzzle)),
            },
        )
        return self._search(puzzle, Ledger(self._catalogue), parameters)

    def resume(
        self, named: str | Puzzle | None, given: dict[str, Any]
    ) -> tuple[Ending, dict[str, Any]]:
        """Go on with a run: rebuild its puzzle, compare it, clean up, search.

        given: the parameters that replace what they were before, sizes apart.
        """
        self._catalogue = Catalogue.open(self.run)
        ledger = Ledger(self._catalogue)
        stored = ledger.get_json("run/spec")
        if stored is None:
            raise NotARun(self.run, "its catalogue names no puzzle")
        puzzle = rebuild(stored["puzzle"], named)
        kernels.warm(make(stored["parameters"]["algebra"], puzzle), self._tell)
        compare_samples(puzzle, ledger.get_json("run/samples"))
        sizes = {name: size for name, size in self._sizes().items() if size is not None}
        parameters = {**stored["parameters"], **given, **sizes}
        ledger.put_json("run/spec", {**stored, "parameters": parameters})
        return self._search(puzzle, ledger, parameters)

    def _sizes(self) -> dict[str, int | None]:
        limits = self._limits
        return {
            "memory": None if limits.memory is None else parse_size(limits.memory, "--memory"),
            "disk": None if limits.disk is None else parse_size(limits.disk, "--disk"),
        }

    def _asked(self) -> dict[str, Any]:
        limits = self._limits
        return {
            **self._sizes(),
            "threads": limits.threads,
            "max_depth": limits.max_depth,
            "max_seconds": limits.max_seconds,
            "checkpoint": limits.checkpoint,
        }

    def _plan(self, algebra: LayerAlgebra, parameters: dict[str, Any]) -> budget.MemoryPlan:
        machine = budget.machine_memory()
        limit = parameters["memory"] or budget.default_memory()
        if limit > machine:
            raise LimitError(
                f"--memory {format_size(limit)} is more than the {format_size(machine)} "
                "this machine or its control group has"
            )
        threads = parameters["threads"] or budget.default_threads()
        disk = parameters["disk"]
        if disk is not None and disk < LEAST_DISK:
            raise LimitError(
                f"--disk {format_size(disk)} cannot work: a run takes at least "
                f"{format_size(LEAST_DISK)}"
            )
        return budget.plan_memory(
            limit,
            threads,
            algebra.worst,
            budget.resident_bytes(),
            algebra.record_bytes,
            algebra.most_arrivals,
        )

    # The search itself

    def _search(
        self, puzzle: Puzzle, ledger: Ledger, parameters: dict[str, Any]
    ) -> tuple[Ending, dict[str, Any]]:
        algebra = make(parameters["algebra"], puzzle)
        memory = self.memory = self._plan(algebra, parameters)
        disk = fs.current()
        source = FileSource(self.run, disk)
        journal = Journal(self.run)
        state = ledger.get_json("run/state") or {}
        rows = ledger.depths()
        recover(disk, self.run, ledger, rows)
        meter = DiskMeter(self.run, 0)
        free = shutil.disk_usage(self.run).free
        meter.limit = parameters["disk"] or meter.used + max(0, free - budget.DISK_MARGIN)
        external = partial(ExternalSorter, disk, source, self.run, meter=meter)
        crew = Crew(
            [
                Worker(number, memory, algebra.workspace(memory), algebra.builder(), external)
                for number in range(memory.threads)
            ]
        )
        syncer = Syncer(crew.events)
        writer = Background("writer")
        fixed = {
            "puzzle": puzzle.name,
            "spec": puzzle.spec,
            "exhaust": parameters["exhaust"],
            "metric": puzzle.metric,
            "algebra": algebra.name,
            "has_goal": puzzle.has_goal,
            "symmetry": symmetry_note(puzzle),
            "keep": parameters["keep"],
            "threads": memory.threads,
            "max_depth": parameters["max_depth"],
            "memory_limit": memory.limit,
            "checkpoint": parameters["checkpoint"],
        }
        observe = None if self._observer is None else self._observer.on_event
        board = Board(disk, self.run, meter, fixed, float(state.get("seconds", 0.0)), observe)
        control = Control(parameters["checkpoint"], parameters["max_seconds"])
        engine = Engine(
            disk,
            self.run,
            ledger,
            source,
            meter,
            puzzle,
            algebra,
            memory,
            crew,
            syncer,
            writer,
            control,
            board,
            journal,
        )
        goals = Goals(parameters["max_depth"], parameters["exhaust"])
        search = Search(engine, goals, parameters["keep"], rows)
        journal.write("start" if not rows else "resume", depth=len(rows) - 1, **fixed)
        with control:
            board.publish()
            try:
                ending = search.run()
                compare_with_known(puzzle, board.rows, exhausted=board.frontier_empty)
            except BaseException as error:
                code = int(getattr(error, "exit_code", 1))
                board.end("failed", type(error).__name__, code)
                journal.write("failed", detail=str(error))
                raise
            finally:
                crew.close()
                syncer.close()
                writer.close()
                source.close()
            done = ending.reason in ("exhausted", "goal", "max-depth")
            meter.recount()
            board.end("finished" if done else "stopped", ending.reason, ending.exit_code)
        self.clocks = [worker.clock.nanoseconds for worker in crew.workers]
        journal.write("end", reason=ending.reason, stages=_sum(self.clocks))
        return ending, board.status()


def _make_directories(run: str) -> None:
    """Create the run directory and what is missing above it, names durable from the top down."""
    disk = fs.current()
    missing = []
    path = os.path.abspath(run)
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for path in reversed(missing):
        disk.mkdir(path)
        disk.sync_dir(os.path.dirname(path))


def _sum(clocks: Sequence[dict[str, int]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for clock in clocks:
        for stage, nanoseconds in clock.items():
            total[stage] = round(total.get(stage, 0.0) + nanoseconds / 1e9, 6)
    return total
