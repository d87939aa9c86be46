"""A window on a layer: its records of one key range after the other, in arrays, decoded once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from extbfs.algebra.contract import Keys
from store.layer import Layer, Scratch, Target


class Overfull(Exception):
    """A key range has more records or arrivals than a worker's arrays."""


class Window:
    """Whole blocks of a layer side by side, among them the records of the range asked for last.

    Ranges that ascend, as those of neighbouring buckets do, share a block at each bound: what was
    read of it beyond the range stays, and moves to the front when the next range wants it.
    """

    def __init__(self, records: int, spare: int) -> None:
        """records: the most that fit; spare: room behind them that is never filled."""
        self.keys: Keys = np.empty(records + spare, np.uint64)
        self.payload: npt.NDArray[np.uint32] = np.empty(records + spare, np.uint32)
        self._records = records
        self.forget()

    def forget(self) -> None:
        """Hold nothing."""
        self._layer: Layer | None = None
        self._low = 0
        self._next = 0
        self._end = 0

    def load(
        self,
        layer: Layer,
        blocks: tuple[int, int],
        keys_before: Sequence[int],
        bounds: tuple[int, int],
        scratch: Scratch,
    ) -> tuple[int, int]:
        """Where in keys and payload the records of a half-open range of keys lie: such a range too.

        blocks: those that hold the keys; keys_before: for every block of the layer, and for its
        end, the keys of the blocks before. The records stay until the next call. Raises Overfull
        when the blocks do not fit.
        """
        start, stop = blocks
        low = bounds[0]
        at = 0
        if layer is self._layer and low >= self._low and start < self._next <= stop:
            kept = slice(int(self.keys[: self._end].searchsorted(np.uint64(low))), self._end)
            at = kept.stop - kept.start
            self.keys[:at] = self.keys[kept]
            self.payload[:at] = self.payload[kept]
            start = self._next
        self.forget()
        if at + keys_before[stop] - keys_before[start] > self._records:
            raise Overfull
        target = Target(self.keys[: self._records], self.payload[: self._records], at)
        layer.read_into(start, stop, target, scratch)
        self._layer, self._low, self._next, self._end = layer, low, stop, target.at
        begin, end = self.keys[: target.at].searchsorted(np.array(bounds, np.uint64)).tolist()
        return begin, end
