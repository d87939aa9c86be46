"""The arrivals of the depth under way: what lies in the pools and in the spill files, by bucket."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from store.buckets import Buckets
from store.errors import IntegrityError
from store.pool import Pool, Records
from store.spill import SpillReader


class StoredArrivals:
    """Everything the expand stage sent, fixed once that stage is complete. Thread-safe."""

    def __init__(
        self, buckets: Buckets, pools: Sequence[Pool], spills: Sequence[SpillReader]
    ) -> None:
        self.buckets = buckets
        self._pools = [pool for pool in pools if pool.records]
        self._spills = list(spills)
        self.counts = np.zeros(buckets.count, np.uint64)
        for pool in self._pools:
            self.counts += pool.counts()
        for spill in self._spills:
            self.counts += spill.counts()

    def count(self, bucket: int) -> int:
        """Number of records sent to the bucket."""
        return int(self.counts[bucket])

    def gather(self, bucket: int, out: Records) -> int:
        """Copy the bucket's records to out, which has room for them; their number."""
        at = 0
        for pool in self._pools:
            at = pool.gather(bucket, out, at)
        for spill in self._spills:
            at = spill.gather(bucket, out, at)
        self._require(bucket, at)
        return at

    def chunks(self, bucket: int, out: Records) -> Iterator[int]:
        """Copy the bucket's records to out part by part; each part's number. Only from spills."""
        assert not self._pools, "a bucket past memory is read from spill files"
        total = 0
        for spill in self._spills:
            for n in spill.chunks(bucket, out):
                total += n
                yield n
        self._require(bucket, total)

    def _require(self, bucket: int, found: int) -> None:
        """What was read for a bucket is as much as the tables said when the merge began."""
        if found != self.count(bucket):
            raise IntegrityError(
                f"the arrivals of bucket {bucket}",
                None,
                f"{found} records were read, and {self.count(bucket)} were sent",
            )

    def close(self) -> None:
        """Give the spill files' descriptors back."""
        for spill in self._spills:
            spill.close()
