"""Buckets: the contiguous key ranges that the children of one depth are routed to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from store.errors import IntegrityError

LUT_BITS = 16
"""log2 of the most cells of the look-up table that narrows the search for a key's bucket."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """A partition of [0, key_space) into half-open ranges.

    lows: uint64[buckets + 1], strictly ascending, lows[0] == 0, lows[-1] == key_space. Records
    hold the residual key - lows[bucket] in `dtype` (uint32 when every range fits, else uint64).
    """

    lows: npt.NDArray[np.uint64]
    lut: npt.NDArray[np.uint32]
    shift: np.uint64
    dtype: np.dtype[np.uint32] | np.dtype[np.uint64]

    @classmethod
    def of(cls, lows: npt.NDArray[np.uint64]) -> Buckets:
        """The partition with the given bounds."""
        if lows.dtype != np.uint64:
            raise TypeError(f"bucket bounds are uint64, not {lows.dtype}")
        if lows.size < 2 or lows[0] != 0 or not bool((lows[1:] > lows[:-1]).all()):
            raise IntegrityError("catalogue", "plan", "the bucket bounds are not ascending")
        last = int(lows[-1]) - 1
        bits = min(LUT_BITS, 6 + lows.size.bit_length())
        shift = max(0, last.bit_length() - bits)
        cells = (last >> shift) + 1
        starts = np.arange(cells, dtype=np.uint64) << np.uint64(shift)
        lut = np.empty(cells + 1, np.uint32)
        lut[:-1] = np.searchsorted(lows, starts, side="right") - 1
        lut[-1] = lows.size - 2
        widest = int((lows[1:] - lows[:-1]).max())
        narrow = widest <= 1 << 32
        return cls(
            lows, lut, np.uint64(shift), np.dtype(np.uint32) if narrow else np.dtype(np.uint64)
        )

    @property
    def count(self) -> int:
        """Number of buckets."""
        return int(self.lows.size) - 1

    def low(self, bucket: int) -> int:
        """First key of the bucket's range."""
        return int(self.lows[bucket])

    def high(self, bucket: int) -> int:
        """End of the bucket's range (exclusive)."""
        return int(self.lows[bucket + 1])

    def width(self, bucket: int) -> int:
        """Number of keys in the bucket's range."""
        return self.high(bucket) - self.low(bucket)
