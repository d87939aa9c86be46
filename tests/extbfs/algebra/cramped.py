"""A cramped fibre algebra: the tight engine, and in it every size of the fibre algebra forced low.

`Tight` makes many buckets, pieces and files of a small search. Here pools hold a few records, so
that they spill inside every piece; a worker's arrays hold a few arrivals, so that buckets are
combined in parts; keys are expanded a few at a time; and buckets end at many bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import store.pool
from extbfs.algebra import bounds, fibre, fibre_merge, fibre_routes
from extbfs.engine import worker
from store.buckets import Buckets
from store.pool import Pool
from tests.extbfs.tight import Tight


@dataclass(frozen=True)
class Cramped(Tight):
    """pool_records: 8-byte slots of a pool, 0 for what `pool` says. part: records expanded at once.

    lane: records merged in one call. widest: most keys of a bucket. wide: residuals take 8 bytes.
    """

    pool: int = 1 << 20
    pool_records: int = 0
    part: int = 8
    lane: int = 5
    widest: int = 0
    wide: bool = False

    def install(self, patch: pytest.MonkeyPatch) -> None:
        super().install(patch)
        patch.setattr(fibre, "SLICE", self.part)
        patch.setattr(fibre, "LANE", self.lane)
        if self.widest:
            patch.setattr(fibre, "NARROW_ABOVE", 0)
            patch.setattr(fibre_routes, "WORD", self.widest << 4)
        if self.wide:
            patch.setattr(fibre_merge, "WORD", 1)
            patch.setattr(bounds, "WORD", 1)
            patch.setattr(fibre_routes, "Buckets", WideBuckets)
        if self.pool_records:
            slots = self.pool_records

            class SmallPool(Pool):
                def __init__(self, capacity: int) -> None:
                    super().__init__(capacity)
                    self._memory = np.empty(slots, np.uint64)

            patch.setattr(worker, "Pool", SmallPool)
            patch.setattr(store.pool, "SMALLEST_BLOCK", 1)


class WideBuckets(Buckets):
    """Buckets whose residuals take 8 bytes although 4 would do."""

    __slots__ = ()

    @classmethod
    def of(cls, lows: np.ndarray) -> Buckets:
        made = super().of(lows)
        return Buckets(made.lows, made.lut, made.shift, np.dtype(np.uint64))


class Ample(Cramped):
    """The sizes of production."""

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Change nothing."""


SETTINGS: dict[str, Cramped] = {
    "as in production": Ample(),
    "many buckets": Cramped(bucket_arrivals=40),
    "pieces spill inside": Cramped(
        bucket_arrivals=40, pool_records=64, part=2, piece_blocks=1000, inline=0, layer_file=1 << 9
    ),
    "every piece spills": Cramped(bucket_arrivals=100, pool_records=64, part=2, piece_blocks=1),
    "combined in parts": Cramped(arrivals=40, pool=1 << 13),
    "one bucket in parts": Cramped(arrivals=40, pool=1 << 11),
    "parts from spill files": Cramped(
        arrivals=40, pool=1 << 12, pool_records=64, part=2, piece_blocks=1
    ),
    "wide records": Cramped(bucket_arrivals=60, wide=True),
    "wide records in parts": Cramped(arrivals=40, pool=1 << 12, wide=True),
    "narrow buckets": Cramped(widest=97, bucket_arrivals=80, run_keys=7),
}
