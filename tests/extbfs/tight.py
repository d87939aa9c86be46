"""A tight engine: every limit so small that a search of a few thousand states does all there is.

What takes billions of states in production (pieces, spill files, external sorts, many buckets,
several files a layer) then happens within a fraction of a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

import store.external
from extbfs.algebra import emitter, fibre, sets
from extbfs.engine import budget, layerfile, runstore, visited
from store.run import RunBuilder


@dataclass(frozen=True)
class Tight:
    """Sizes in place of those that the memory limit would give.

    pool: bytes of a worker's pool. arrivals: records a worker merges at once; a bucket with more is
    sorted externally. lane: records of a lane of the fibre algebra's merge. inline: bytes of runs
    in the catalogue. slots: keys an arrival up to which a bitmap is used. split: arrivals from
    which records take 4 bytes. handed_over: bytes of a run from which another thread writes it;
    page_cache: bytes of the run directory from which that goes past the page cache.
    """

    block_keys: int = 32
    pool: int = 1 << 16
    arrivals: int = 1 << 10
    slice_keys: int = 16
    piece_blocks: int = 2
    bucket_arrivals: int = 256
    run_keys: int = 100
    inline: int = 256
    layer_file: int = 3 << 12
    handed_over: int = 300
    page_cache: int = 1 << 15
    slots: int = 40
    lane: int = 14
    split: int = 1 << 25
    most_splits: int = 1 << 13

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Put these sizes in place of the engine's own until `patch` is undone."""

        def plan_memory(
            limit: int, threads: int, worst: int, baseline: int, *merge: int
        ) -> budget.MemoryPlan:
            piece = self.piece_blocks * self.block_keys
            return budget.MemoryPlan(
                limit, baseline, threads, self.pool, self.arrivals, self.slice_keys, piece
            )

        patch.setattr(budget, "plan_memory", plan_memory)
        small: Any = partial(RunBuilder, block_keys=self.block_keys)
        for module in (sets, visited, store.external):
            patch.setattr(module, "RunBuilder", small)
        patch.setattr(sets, "BLOCK_KEYS", self.block_keys)
        patch.setattr(fibre, "MAX_BLOCK_KEYS", self.block_keys)
        for module in (emitter, visited, store.external):
            patch.setattr(module, "RUN_KEYS", self.run_keys)
        patch.setattr(sets, "BUCKET_ARRIVALS", self.bucket_arrivals)
        patch.setattr(sets, "SPLIT_ABOVE", self.split)
        patch.setattr(sets, "MOST_SPLITS", self.most_splits)
        patch.setattr(fibre, "OWN_KEYS", self.bucket_arrivals)
        patch.setattr(fibre, "SLICE", self.slice_keys)
        patch.setattr(fibre, "LANE", self.lane)
        patch.setattr(fibre, "NARROW_ABOVE", self.split)
        patch.setattr(runstore, "INLINE_RUN", self.inline)
        patch.setattr(sets, "SLOTS_PER_ARRIVAL", self.slots)
        patch.setattr(layerfile, "LARGEST_FILE", self.layer_file)
        patch.setattr(runstore, "HANDED_OVER", self.handed_over)
        patch.setattr(budget.MemoryPlan, "page_cache", property(lambda _: self.page_cache))
