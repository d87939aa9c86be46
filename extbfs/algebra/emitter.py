"""The emitter: a bucket's records, in key order, become runs of bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from extbfs.algebra.contract import Keys, Sink
from extbfs.engine.laws import NOTHING, LawBroken, Tally
from extbfs.engine.worker import Worker
from puzzles.contract import Puzzle
from store.kernels.records import Row

RUN_KEYS = 1 << 20
"""Keys after which a run is closed and the next begun."""
WHOLE = 1 << 14


def states_of(puzzle: Puzzle, keys: Keys) -> int:
    """How many states some keys stand for: one each, or the sizes of their orbits."""
    return int(puzzle.orbit_size(keys).sum()) if puzzle.symmetric else int(keys.size)


class Emitter:
    """Writes the runs of one bucket to a sink. `kept` tallies the records of finished runs.

    goals, goal_key: how many goal states look() has seen, symmetric ones too, and one of them.
    """

    def __init__(self, worker: Worker, puzzle: Puzzle, sink: Sink) -> None:
        self._builder = worker.builder
        self._clock = worker.clock
        self._puzzle = puzzle
        self._sink = sink
        self.begin()

    def begin(self) -> None:
        """Begin anew with nothing."""
        self.kept = NOTHING
        self.goals = 0
        self.goal_key = 0
        self._builder.begin()

    def emit(self, keys: Keys, payload: npt.NDArray[Any] | None = None) -> None:
        """Append ascending keys; many at once become blocks as they are."""
        try:
            self._builder.append(keys, payload, whole=keys.size >= WHOLE)
        except ValueError as error:
            raise _disorder(error) from error
        self._grown()

    def place(self, blocks: int, keys: int) -> tuple[bool, Any, Any, Any, Any]:
        """Where so many blocks of so many keys can be written as adopt() takes them
        (RunBuilder.place)."""
        return self._builder.place(blocks, keys)

    def adopt(self, rows: Sequence[Row]) -> None:
        """As emit, for blocks that were written where place() said."""
        try:
            self._builder.adopt(rows)
        except ValueError as error:
            raise _disorder(error) from error
        self._grown()

    def _grown(self) -> None:
        """The run has grown: it is closed when large."""
        self._clock.lap("encode")
        if self._builder.count >= RUN_KEYS:
            self.finish_run()

    def look(self, states: Keys) -> None:
        """Look for goals among some states."""
        found = states[self._puzzle.is_goal(states)]
        if found.size and not self.goals:
            self.goal_key = int(found[0])
        self.goals += states_of(self._puzzle, found)

    def finish_run(self) -> None:
        """Close the run, hand it on and begin the next."""
        meta, data = self._builder.finish()
        self._clock.lap("encode")
        self.kept += Tally(meta.count, meta.fingerprint)
        if meta.count:
            self._sink(meta, data)
        self._builder.begin()


def _disorder(error: ValueError) -> LawBroken:
    """What a builder's refusal of keys means here."""
    return LawBroken("the merge", "order", f"what it made cannot be: {error}")
