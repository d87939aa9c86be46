"""A worker: one thread's buffers, pool and readers, allocated once and used for every depth."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from extbfs.engine.budget import BITMAP, BLOCK_KEYS, STAGING, MemoryPlan
from extbfs.engine.laws import Tally
from store.external import ExternalSorter
from store.layer import Scratch
from store.pool import Pool
from store.run import RunBuilder

BITMAP_WORDS = BITMAP // 8
DIGIT_TABLE = 6 << 11
PAD = 64
"""Room behind the arrays: kernels write a slot before they decide whether to keep it."""


class Clock:
    """Nanoseconds of one thread by stage; each lap is booked on the stage that it ends."""

    def __init__(self) -> None:
        self.nanoseconds: dict[str, int] = {}
        self._last = 0

    def start(self) -> None:
        """Begin a lap."""
        self._last = time.perf_counter_ns()

    def lap(self, stage: str) -> None:
        """End a lap, begin the next."""
        now = time.perf_counter_ns()
        self.nanoseconds[stage] = self.nanoseconds.get(stage, 0) + now - self._last
        self._last = now


class Worker:
    """Everything a thread needs so that its jobs allocate nothing.

    first, second: raw record memory of `arrivals` records of up to 8 bytes each, viewed in the
    depth's dtype. `pieces`, `children` and `parents` are the books of what the pool holds.
    """

    def __init__(
        self,
        number: int,
        memory: MemoryPlan,
        max_successors: int,
        external: Callable[[int], ExternalSorter],
    ) -> None:
        self.number = number
        self._external = external
        self.clock = Clock()
        self.memory = memory
        self.pool = Pool(memory.pool)
        self.children = np.empty(memory.slice_keys * max_successors, np.uint64)
        self.first = np.empty(memory.arrivals + PAD, np.uint64)
        self.second = np.empty(memory.arrivals + PAD, np.uint64)
        self.out = np.empty(2 * BLOCK_KEYS + PAD, np.uint64)
        self.digits = np.empty(DIGIT_TABLE, np.uint64)
        self.bitmap = np.zeros(BITMAP_WORDS, np.uint64)
        self.staging = np.empty(STAGING, np.uint8)
        self.scratch = Scratch()
        self.history_scratch = Scratch()
        self.builder = RunBuilder()
        self.flushed = 0
        self.clear()

    def external_sorter(self) -> ExternalSorter:
        """An external merge sort of this worker's own."""
        return self._external(self.number)

    def clear(self) -> None:
        """Close the books of the pool."""
        self.pieces: list[int] = []
        self.sent = Tally()
        self.parents = Tally()
