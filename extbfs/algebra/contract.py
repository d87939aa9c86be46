"""The small interface between the engine and a layer algebra.

The engine moves records: it cuts layers into pieces, holds arrivals in pools, spills them and
brings them together again by bucket. An algebra says what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from extbfs.engine.ledger import Books
from extbfs.engine.worker import Worker
from store.buckets import Buckets
from store.layer import Layer
from store.pool import Records
from store.run import RunMeta


class Arrivals(Protocol):
    """The records sent to the buckets of the depth under way, wherever they lie."""

    buckets: Buckets

    def count(self, bucket: int) -> int:
        """Number of records sent to the bucket."""

    def gather(self, bucket: int, out: Records) -> int:
        """Copy them all to out; their number."""

    def chunks(self, bucket: int, out: Records) -> Iterator[int]:
        """Copy them to out part by part, for a bucket larger than `out`; each part's number."""


Sink = Callable[[RunMeta, memoryview], None]
"""Takes a finished run of the next layer; the bytes are valid only during the call."""


class LayerAlgebra(Protocol):
    """What a record is and how records combine."""

    name: str

    def history(self, depth: int) -> Sequence[int] | None:
        """The earlier layers that building layer `depth` reads; None for all of them."""

    def sample(self, worker: Worker, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """Where the children of some keys of a layer go: keys, from which bounds are drawn."""

    def expand(self, worker: Worker, keys: npt.NDArray[np.uint64]) -> None:
        """Send the children of a block to the worker's pool and add to its books."""

    def worst_children(self, keys: int) -> int:
        """The most arrivals that so many keys of a layer can send."""

    def combine(
        self,
        worker: Worker,
        arrivals: Arrivals,
        bucket: int,
        history: Sequence[Layer],
        sink: Sink,
    ) -> Books:
        """Turn a bucket's arrivals into runs of the next layer, in key order.

        Checks its conservation laws; IntegrityError when they do not hold.
        """
