"""A pool: the arrivals one worker holds in memory, chained by bucket until they are spilled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from store.buckets import Buckets
from store.kernels import route

U64 = np.uint64
SMALLEST_BLOCK = 6
LARGEST_BLOCK = 10

Records = npt.NDArray[np.uint32] | npt.NDArray[np.uint64]


class Pool:
    """Records of one depth in one preallocated array; one worker writes, anyone reads afterwards.

    `capacity` bytes are reserved at construction and only touched as far as they are used, low
    addresses first, so that small depths stay small. Not thread-safe while routing.
    """

    def __init__(self, capacity: int) -> None:
        self._memory = np.empty(max(capacity, 1 << 16) // 8, np.uint64)
        self.buckets: Buckets | None = None
        self._used = U64(0)

    @property
    def capacity(self) -> int:
        """Bytes of record memory."""
        return int(self._memory.nbytes)

    def open(self, buckets: Buckets) -> None:
        """Empty the pool and lay it out for the buckets of a depth."""
        self.buckets = buckets
        self._data = self._memory.view(buckets.dtype)
        share = self._data.size // (4 * buckets.count)
        self._log_block = U64(min(LARGEST_BLOCK, max(SMALLEST_BLOCK, share.bit_length() - 1)))
        blocks = self._data.size >> int(self._log_block)
        self._chain = np.empty(blocks, np.uint32)
        self._head = np.empty(buckets.count, np.uint32)
        self._cursor = np.empty(buckets.count, np.uint64)
        self.clear()

    def clear(self) -> None:
        """Forget all records; the layout stays."""
        self._cursor.fill(route.NONE)
        self._used = U64(0)
        self.records = 0

    def has_room(self, records: int) -> bool:
        """Whether that many more records fit, however they spread over the buckets."""
        assert self.buckets is not None
        worst = (records >> int(self._log_block)) + min(records, self.buckets.count) + 1
        return int(self._used) + worst <= self._chain.size

    def route(self, keys: npt.NDArray[np.uint64], n: int) -> None:
        """Append keys[:n] to their buckets. The caller has asked has_room()."""
        buckets = self.buckets
        assert buckets is not None
        self._used = U64(
            route.route_keys(
                keys,
                U64(n),
                buckets.lows,
                buckets.lut,
                buckets.shift,
                self._data,
                self._chain,
                self._head,
                self._cursor,
                self._used,
                self._log_block,
            )
        )
        self.records += n

    def counts(self) -> npt.NDArray[np.uint64]:
        """uint64[buckets]: the records held for every bucket."""
        counts = np.empty(self._cursor.size, np.uint64)
        route.count_buckets(self._chain, self._head, self._cursor, self._log_block, counts)
        return counts

    def gather(self, bucket: int, out: Records, start: int) -> int:
        """Copy the records of a bucket to out[start:]; the position after the last one."""
        return int(
            route.gather_bucket(
                U64(bucket),
                self._data,
                self._chain,
                self._head,
                self._cursor,
                self._log_block,
                out,
                U64(start),
            )
        )

    def parts(self, bucket: int, out: Records) -> Iterator[int]:
        """Copy the records of a bucket to out, at most out.size at a time; each part's number."""
        end = self._cursor[bucket]
        if end == route.NONE:
            return
        at = U64(self._head[bucket]) << self._log_block
        while at != end:
            at, copied = route.gather_part(
                at, end, self._data, self._chain, self._log_block, out, U64(0), U64(out.size)
            )
            at = U64(at)
            yield int(copied)
