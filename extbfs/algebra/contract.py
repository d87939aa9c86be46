"""The small interface between the engine and a layer algebra.

The engine moves records: it cuts layers into pieces, holds arrivals in pools, spills them and
brings them together again by bucket. An algebra says what they mean. A layer's records are keys,
or keys with a payload; an arrival is one integer of the *arrival space*, routed by range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from extbfs.engine.budget import MemoryPlan
from extbfs.engine.laws import Tally
from extbfs.engine.ledger import Books
from extbfs.engine.worker import Worker
from store.buckets import Buckets
from store.layer import Layer
from store.pool import Records
from store.run import RunBuilder, RunMeta

Keys = npt.NDArray[np.uint64]


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
    """What a record is and how records combine.

    payload_bits: of the payload column of a layer's runs. worst: the most arrivals that one key of
    a layer can send. record_bytes: memory that merging takes for every arrival of a bucket;
    most_arrivals: of a bucket, for which it is worth reserving that memory.
    """

    name: str
    payload_bits: int
    worst: int
    record_bytes: int
    most_arrivals: int

    def workspace(self, memory: MemoryPlan) -> Any:
        """The arrays that one worker's jobs need, allocated once: Worker.space."""

    def warm(self) -> None:
        """Compile, or load from the cache, every kernel of the puzzle and of this algebra."""

    def builder(self) -> RunBuilder:
        """A builder of runs of this algebra's layers."""

    def begin(self) -> tuple[Keys, npt.NDArray[Any] | None, Books]:
        """Layer 0: its keys, payload and books."""

    def stored(self, layer: Layer) -> Tally:
        """The tally of all that a layer holds, as recorded: reading it again must give the same."""

    def history(self, depth: int) -> Sequence[int] | None:
        """The earlier layers, below depth - 1, that building layer `depth` reads; None for all."""

    def plan(
        self, worker: Worker, layer: Layer, depth: int, growth: float | None, memory: MemoryPlan
    ) -> Buckets:
        """The buckets for the children of `layer`, at depth - 1.

        growth: arrivals a key of the depth before, None when unknown.
        """

    def open(self, depth: int, buckets: Buckets) -> bool:
        """Layer `depth` is about to be built; whether its children must be routed at all."""

    def expand(self, worker: Worker, layer: Layer, start: int, stop: int) -> None:
        """Route the children of blocks start .. stop - 1 of a layer; add to the worker's books."""

    def work(self, layer: Layer, arrivals: Keys, buckets: Buckets) -> Keys:
        """uint64[buckets]: how much there is to merge; 0 where a bucket will be empty.

        arrivals: uint64[buckets], the records sent to each.
        """

    def combine(
        self,
        worker: Worker,
        layer: Layer,
        arrivals: Arrivals,
        bucket: int,
        history: Sequence[Layer],
        sink: Sink,
    ) -> Books:
        """Make a bucket's runs of the next layer, in key order, of what was sent to it.

        Checks the bucket's conservation laws; LawBroken when they do not hold.
        """

    def close(self, where: str, layer: Layer, row: dict[str, Any], total: Books) -> dict[str, int]:
        """Check the laws of a whole depth; what its row of the depth table tells beside the counts.

        layer, row: of the depth before. total: the books of all buckets.
        """

    def count(self, depth: int, keys: Keys, payload: npt.NDArray[Any] | None) -> tuple[int, int]:
        """(states, moves still to be made) that some records of layer `depth` stand for."""

    def states(self, depth: int, keys: Keys, payload: npt.NDArray[Any] | None) -> Keys:
        """The states, ascending, that some records of layer `depth` stand for."""

    def contains(self, layer: Layer, states: Keys) -> npt.NDArray[np.bool_]:
        """Which of some states lie in a layer; bool[n]."""
