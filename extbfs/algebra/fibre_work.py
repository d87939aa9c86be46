"""What the jobs of the fibre algebra work with: a worker's arrays, and the emitter of a bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from extbfs.algebra import fibre_edges, fibre_kernels
from extbfs.algebra.contract import Keys, Sink
from extbfs.algebra.emitter import Emitter
from extbfs.algebra.records import DIGIT_TABLE
from extbfs.algebra.window import Overfull, Window
from extbfs.engine.laws import NOTHING, Tally, require
from extbfs.engine.ledger import Books
from extbfs.engine.worker import PAD, Worker
from store.kernels.records import ROW, Row
from store.pool import Records

if TYPE_CHECKING:
    from extbfs.algebra.fibre import FibreAlgebra

U64 = np.uint64
BLOCKS = 8
"""Blocks of the next layer that are made in one call."""


Payload = npt.NDArray[np.uint32]


class FibreSpace:
    """The arrays of one worker. `arrivals` bounds both the own records and the arrivals.

    part: records expanded in one call; lane: of each of the two lanes of a merge. own, payload: the
    records in the window.
    """

    def __init__(self, arrivals: int, edges: int, part: int, lane: int) -> None:
        self.arrivals = arrivals
        self.lane = U64(lane)
        self.window = Window(arrivals, PAD)
        self.own, self.payload = self.window.keys, self.window.payload
        self.first = np.empty(arrivals + PAD, np.uint64)
        self.second = np.empty(arrivals + PAD, np.uint64)
        self.bits = np.empty(arrivals + PAD, np.uint32)
        self.children = np.empty(part * max(1, edges), np.uint64)
        self.pending = np.empty(part, np.uint32)
        self.counts = np.zeros(edges, np.uint64)
        self.out = np.empty(2 * lane + PAD, np.uint64)
        self.out_payload = np.empty(2 * lane + PAD, np.uint32)
        self.digits = np.empty(DIGIT_TABLE, np.uint64)
        self.rows = np.empty((BLOCKS, ROW + 4), np.uint64)


def append_within(
    space: FibreSpace, arrivals: Keys, span: tuple[int, int], out: Records, n: int
) -> int:
    """Append those of the arrivals that lie in `span`; the number now in `out`.

    In small parts, each of which must fit whole, so that a span of few records never fails.
    """
    low, width = U64(span[0]), U64(span[1] - span[0])
    step = min(space.pending.size, space.arrivals // 2)
    for at in range(0, arrivals.size, step):
        few = arrivals[at : at + step]
        if n + few.size > space.arrivals:
            raise Overfull
        size = U64(few.size)
        n = int(fibre_edges.append_within(few, size, width, low, out, U64(n)))
    return n


def weight_of(arrivals: Records, low: int) -> Tally:
    """The number and the weight of some arrivals, residuals to `low`."""
    return Tally(arrivals.size, int(fibre_kernels.weigh(arrivals, U64(arrivals.size), U64(low))))


class FibreEmitter(Emitter):
    """Writes records and keeps the books of a bucket."""

    def __init__(self, worker: Worker, algebra: FibreAlgebra, sink: Sink) -> None:
        self._algebra = algebra
        self._space: FibreSpace = worker.space
        super().__init__(worker, algebra.puzzle, sink)
        self.looks = algebra.puzzle.has_goal
        """Whether each record must be looked at, for goals among its states."""
        self._own = self._local = self._routed = NOTHING
        self._states = self._pending = 0

    def restart(self) -> None:
        """Forget everything, since a range was begun that turned out too large."""
        require("bucket", "restart", NOTHING, self.kept)
        self._own = self._local = self._routed = NOTHING
        self._states = self._pending = 0
        self.begin()

    def take(self, own: Tally, local: Tally, routed: Tally) -> None:
        """Note what a range consumes."""
        self._own += own
        self._local += local
        self._routed += routed

    def add_blocks(self, rows: Keys) -> int:
        """As add, for blocks that are written already; rows: what make_blocks told of them."""
        told = rows.tolist()
        done = self._note(*(sum(row[at] for row in told) for at in range(ROW, ROW + 4)))
        self.adopt([Row._make(row[:ROW]) for row in told if row[0]])
        return done

    def _note(self, states: int, again: int, pending: int, incident: int) -> int:
        """Enter what was made in the books; the moves that were made into it."""
        require("the merge", "records", Tally(states), Tally(again))
        self._states += states
        self._pending += pending
        return incident - pending

    def add(self, records: int, states: int, again: int, pending: int, incident: int) -> int:
        """Emit the records in the output arrays; the moves that were made into them.

        The states are counted again, and of all edges that end at their places those are made that
        are not pending: so a record that the merge lost, doubled or changed shows.
        """
        done = self._note(states, again, pending, incident)
        if records:
            keys, payload = self._space.out[:records], self._space.out_payload[:records]
            self.emit(keys, payload)
            if self.looks:
                depth = 0 if self._algebra.side(0) == self._algebra.new_side else 1
                self.look(self._algebra.states(depth, keys, payload))
        return done

    def close(self) -> Books:
        """Close the run and the books."""
        self.finish_run()
        return Books(
            self._routed,
            self.kept,
            self._own,
            self._local,
            self._states,
            self._pending,
            self.goals,
            self.goal_key,
        )
