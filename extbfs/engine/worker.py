"""A worker: one thread's buffers, pool and readers, allocated once and used for every depth."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from extbfs.engine.background import Task
from extbfs.engine.budget import STAGING, MemoryPlan
from extbfs.engine.laws import Tally
from extbfs.errors import LimitError
from store.external import ExternalSorter
from store.layer import Scratch
from store.pool import Pool
from store.run import RunBuilder
from store.spill import SpillMeta

PAD = 64
"""Room behind the arrays: kernels write a slot before they decide whether to keep it."""


class Clock:
    """Nanoseconds of one thread by stage; each lap is booked on the stage that it ends."""

    def __init__(self) -> None:
        self.nanoseconds: defaultdict[str, int] = defaultdict(int)
        self._last = 0

    def start(self) -> None:
        """Begin a lap."""
        self._last = time.perf_counter_ns()

    def lap(self, stage: str) -> None:
        """End a lap, begin the next."""
        now = time.perf_counter_ns()
        self.nanoseconds[stage] += now - self._last
        self._last = now


class Worker:
    """Everything a thread needs so that its jobs allocate nothing.

    space: the arrays of the algebra. `pieces`, `sent` and `parents` are the books of what the pool
    holds; `written`: spill files that wait for the end of a piece, to be recorded with its rest.
    """

    def __init__(
        self,
        number: int,
        memory: MemoryPlan,
        space: Any,
        builder: RunBuilder,
        external: Callable[[int], ExternalSorter],
    ) -> None:
        self.number = number
        self._external = external
        self.clock = Clock()
        self.memory = memory
        self.space = space
        self.pool = Pool(memory.pool)
        self.staging = np.empty(STAGING, np.uint8)
        self.scratch = Scratch()
        self.history_scratch = Scratch()
        self.builder = builder
        self.writing: Task | None = None
        self.flushed = 0
        self.written: list[SpillMeta] = []
        self.spill_part: Callable[[Worker], None] | None = None
        self.clear()

    def wait_written(self) -> None:
        """Wait until the run handed over last is written; raises what went wrong with it."""
        if self.writing is not None:
            self.writing.result()

    def external_sorter(self) -> ExternalSorter:
        """An external merge sort of this worker's own."""
        return self._external(self.number)

    def likely(self, keys: int, worst: int) -> int:
        """Arrivals that the next so many keys will hardly exceed: twice what those since the pool
        was empty sent, or the most that any can, `worst` a key."""
        if not self.parents.count:
            return keys * worst
        return min(keys * worst, 2 * keys * self.sent.count // self.parents.count)

    def make_room(self, records: int) -> None:
        """See to it that so many more records fit the pool, by spilling inside a piece if need be.

        A piece is begun only when likely() fits, so that is rare unless the memory is less than
        that which the depth was cut up for. Raises LimitError when they fit no empty pool.
        """
        if self.pool.has_room(records):
            return
        if self.pool.records and self.spill_part is not None:
            self.spill_part(self)
        if not self.pool.has_room(records):
            raise LimitError(
                "the memory is too small for the buckets of this depth; resume with the --memory "
                "it was begun with, or fewer --threads"
            )

    def clear(self) -> None:
        """Close the books of the pool."""
        self.pieces: list[int] = []
        self.sent = Tally()
        self.parents = Tally()
