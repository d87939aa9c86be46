"""The search: depth after depth, until nothing new is found or a limit or a signal says stop.

A depth is complete at the one LMDB commit that names its runs and its row of the table. Depths that
take milliseconds share a commit, closed within GROUP seconds; a depth is reported only after it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from extbfs.engine.build import Built, DepthBuild
from extbfs.engine.context import Engine
from extbfs.engine.costs import Costs
from extbfs.engine.laws import Tally, require
from extbfs.engine.ledger import Books, StoredRun
from extbfs.engine.plan import plan_depth
from extbfs.engine.visited import Visited
from extbfs.sizes import format_size
from store import names
from store.errors import DiskFull, DiskLimit
from store.layer import Layer

GROUP = 0.15
COLLECT = 2.0
"""Seconds a depth takes from which cycles are collected behind it."""


@dataclass(frozen=True, slots=True)
class Goals:
    """When a search ends: at `max_depth`, and at the first goal unless told to exhaust."""

    max_depth: int | None
    exhaust: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a search ended, as one word and its exit code."""

    reason: str
    exit_code: int


@contextlib.contextmanager
def _quiet_collector() -> Iterator[None]:
    """Keep Python's cycle collector out of the search; it runs between long depths only.

    A thousand records of runs at a time, none of them in a cycle, would set it off again and again.
    """
    enabled = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()


class Search:
    """Runs one engine from the last complete depth on."""

    def __init__(self, engine: Engine, goals: Goals, keep: str, rows: list[dict[str, Any]]) -> None:
        self.engine = engine
        self.goals = goals
        self.keep = keep
        self._visited = Visited(engine)
        self._layers: dict[int, Layer] = {}
        self._rows = rows
        self._unreported: list[tuple[dict[str, Any], float, dict[str, Any]]] = []
        self._costs = Costs(engine.crew.workers)
        self._committed = time.monotonic()
        self._garbage: list[str] = []
        self._growth: float | None = None

    # The loop

    def run(self) -> Ending:
        """Search until it ends; the run directory is consistent however this returns or raises."""
        with _quiet_collector():
            return self._run()

    def _run(self) -> Ending:
        try:
            if self._rows:
                self._load()
            else:
                self._begin()
            ending = None
            while ending is None:
                ending = self._ended() or self._next_depth()
            self._commit()
            return ending
        except DiskLimit as error:
            return self._stopped_by_disk(Ending("disk-limit", error.exit_code), str(error))
        except DiskFull as error:
            return self._stopped_by_disk(Ending("disk-full", error.exit_code), str(error))

    def _stopped_by_disk(self, ending: Ending, detail: str) -> Ending:
        self.engine.board.message(detail)
        self.engine.journal.write(ending.reason, detail=detail)
        try:
            self._commit()
        except DiskFull:
            self.engine.journal.write("disk-full", detail="the last small depths are found again")
        return ending

    def _ended(self) -> Ending | None:
        row = self._rows[-1]
        control = self.engine.control
        if self.engine.board.frontier_empty:
            return Ending("exhausted", 0)
        if self._goal_row() is not None and not self.goals.exhaust:
            return Ending("goal", 0)
        if self.goals.max_depth is not None and row["depth"] >= self.goals.max_depth:
            return Ending("max-depth", 0)
        if control.signal is not None:
            return Ending("signal", 128 + control.signal)
        if control.out_of_time:
            return Ending("max-seconds", 3)
        return None

    def _goal_row(self) -> dict[str, Any] | None:
        return next((row for row in self._rows if row.get("goals")), None)

    # Beginning

    def _begin(self) -> None:
        """Layer 0: the starts."""
        engine = self.engine
        keys, payload, books = engine.algebra.begin()
        builder = engine.algebra.builder()
        builder.begin()
        builder.append(keys, payload)
        meta, data = builder.finish()
        runs = [StoredRun(meta, bytes(data))]
        engine.ledger.put_runs("layer", 0, 0, runs)
        self._complete(
            self._row(0, books, runs, {"arrivals": books.states}, 0.0, 0),
            engine.layer(0, runs),
            0.5,
            {},
        )

    def _load(self) -> None:
        """The layers of a run that is resumed."""
        engine, ledger = self.engine, self.engine.ledger
        for row in self._rows:
            engine.board.rows.append(row)
        self._note_goal()
        last = self._rows[-1]
        engine.board.frontier_empty = ledger.get_json("run/exhausted") is not None
        if len(self._rows) > 1:
            self._growth = last["arrivals"] / self._rows[-2]["keys"]
        history = engine.algebra.history(last["depth"] + 1)
        wanted = self._visited.unmerged(last["depth"]) if history is None else history
        for depth in sorted({*wanted, last["depth"]}):
            layer = engine.layer(depth, ledger.runs("layer", depth))
            self._check_layer(layer)
            self._layers[depth] = layer
        if history is None:
            self._visited.load([self._layers[depth] for depth in wanted])

    def _check_layer(self, layer: Layer) -> None:
        row = self._rows[layer.depth]
        require(
            f"layer {layer.depth}",
            "catalogue",
            Tally(row["keys"], row["fingerprint"]),
            Tally(layer.count, layer.fingerprint),
        )

    # One depth

    def _next_depth(self) -> Ending | None:
        """Build one depth; an Ending when stopped inside it."""
        engine = self.engine
        depth = self._rows[-1]["depth"] + 1
        layer = self._layers[depth - 1]
        begun = time.monotonic()
        plan = engine.ledger.plan(depth) or plan_depth(
            layer,
            depth,
            self._growth,
            engine.algebra,
            engine.memory,
            engine.crew.workers[0],
        )
        history = self._history(depth)
        built = DepthBuild(engine, plan, layer, self._rows[-1], history).build()
        if built is None:
            self._commit()
            if engine.control.signal is not None:
                return Ending("signal", 128 + engine.control.signal)
            return Ending("max-seconds", 3)
        self._take(depth, built, time.monotonic() - begun)
        if time.monotonic() - begun >= COLLECT:
            gc.collect()
        return None

    def _history(self, depth: int) -> list[Layer]:
        wanted = self.engine.algebra.history(depth)
        if wanted is None:
            return list(self._visited.levels)
        return [self._layers[d] for d in wanted]

    def _take(self, depth: int, built: Built, seconds: float) -> None:
        """Enter a complete layer into the table; the last, empty one only ends the search."""
        engine = self.engine
        books = built.books
        previous = self._rows[-1]
        self._growth = books.arrivals.count / max(1, previous["keys"])
        for worker in engine.crew.workers:
            worker.pool.clear()
        if books.kept.count == 0:
            engine.board.frontier_empty = True
            engine.ledger.put_json("run/exhausted", {"depth": previous["depth"]})
            self._garbage.extend(self._spill_names())
            return
        layer = engine.layer(depth, built.runs)
        row = self._row(depth, books, built.runs, built.told, seconds, built.spilled)
        total = built.expand_seconds + built.merge_seconds
        share = built.expand_seconds / total if total > 0 else 0.5
        cost = {
            "expand_seconds": round(built.expand_seconds, 6),
            "merge_seconds": round(built.merge_seconds, 6),
            **self._costs.lap(),
        }
        self._complete(row, layer, share, cost)
        if built.on_files or time.monotonic() - self._committed >= GROUP:
            self._commit()

    def _row(
        self,
        depth: int,
        books: Books,
        runs: list[StoredRun],
        told: dict[str, int],
        seconds: float,
        spilled: int,
    ) -> dict[str, Any]:
        """A row of the depth table. keys, fingerprint: of the records that hold the states."""
        before = self._rows[-1]["cumulative"] if self._rows else 0
        return {
            "depth": depth,
            "states": books.states,
            "cumulative": before + books.states,
            "seconds": round(seconds, 6),
            "bytes": sum(run.meta.length for run in runs),
            **({"canonical": books.kept.count} if self.engine.puzzle.symmetric else {}),
            "keys": books.kept.count,
            "fingerprint": books.kept.fingerprint,
            "pending": books.pending,
            **told,
            "spilled": spilled,
            "goals": books.goals,
            "goal_key": books.goal_key,
        }

    def _complete(
        self, row: dict[str, Any], layer: Layer, share: float, cost: dict[str, Any]
    ) -> None:
        """Stage a complete layer and the removal of what is no longer needed.

        cost: what only the journal tells of the depth.
        """
        engine, ledger, depth = self.engine, self.engine.ledger, row["depth"]
        ledger.put_depth(row)
        self._rows.append(row)
        self._layers[depth] = layer
        self._unreported.append((row, share, cost))
        self._garbage.extend(self._spill_names())
        wanted = engine.algebra.history(depth + 1)
        if wanted is None:
            self._visited.add(layer)
            needed = {depth, *self._visited.layers()}
        else:
            needed = {depth, *wanted}
        for old in [d for d in self._layers if d not in needed]:
            gone = self._layers.pop(old)
            if self.keep == "frontier":
                self._drop(gone)

    def _spill_names(self) -> list[str]:
        directory = os.path.join(self.engine.run, names.SPILL)
        return [f"{names.SPILL}/{name}" for name in os.listdir(directory)]

    def _drop(self, layer: Layer) -> None:
        """Stage the removal of a layer's records; its files go after the commit."""
        self.engine.ledger.drop_runs("layer", layer.depth)
        self._garbage.extend(sorted({meta.file for meta in layer.metas if meta.file}))

    # Making it true

    def _commit(self) -> None:
        """Make the finished depths durable, then delete what they replace, then report them."""
        engine = self.engine
        self._note_goal()
        seconds = engine.board.status()["seconds"]
        engine.ledger.put_json("run/state", {"depth": self._rows[-1]["depth"], "seconds": seconds})
        engine.ledger.commit()
        self._committed = time.monotonic()
        self._delete_garbage()
        for row, share, cost in self._unreported:
            engine.board.depth_done(row, share)
            engine.journal.write("depth", **row, **cost)
        if self._unreported:
            engine.board.checkpointed()
        self._unreported = []
        engine.board.refresh()

    def _delete_garbage(self) -> None:
        engine = self.engine
        garbage, self._garbage = self._garbage + self._visited.garbage, []
        self._visited.garbage = []
        for name in garbage:
            path = os.path.join(engine.run, name)
            try:
                size = os.stat(path).st_size
            except OSError:
                continue
            engine.source.forget(name)
            engine.fs.unlink(path)
            engine.meter.give_back(size)

    def _note_goal(self) -> None:
        row = self._goal_row()
        if row is not None:
            key = row["goal_key"]
            self.engine.board.goal = {
                "depth": row["depth"],
                "states": row["goals"],
                "state": str(self.engine.puzzle.decode(key)),
            }


def sentence(ending: Ending, board_status: dict[str, Any], resume: str) -> str:
    """What happened, for a person."""
    rows = board_status["depths"]
    states, depth = board_status["states"], rows[-1]["depth"] if rows else 0
    goal = board_status["goal"]
    if ending.reason == "exhausted":
        last = rows[-1]["states"]
        end = (
            f"the farthest {last} at depth {depth}, "
            f"{format_size(board_status['disk']['used'])} on disk"
        )
        if goal is not None:
            return f"exhausted: {states} states, the goal at depth {goal['depth']}, {end}"
        if board_status.get("has_goal"):
            return f"no solution: all {states} states that can be reached were searched, {end}"
        return f"exhausted: {states} states, {end}"
    if ending.reason == "goal":
        if goal["depth"] == 0:
            return "the start is the goal: the solution has no moves"
        return f"goal reached at depth {goal['depth']} after {states} states"
    if ending.reason == "max-depth":
        found = ", no goal among them" if board_status.get("has_goal") and goal is None else ""
        return f"reached --max-depth {depth}: {states} states{found}; the frontier is not empty"
    what = {
        "signal": "stopped by a signal",
        "max-seconds": "stopped after --max-seconds",
        "disk-limit": "stopped at --disk",
        "disk-full": "stopped because the disk is full",
    }[ending.reason]
    return f"{what} with depth {depth} complete; go on with: {resume}"
