"""External merge sort: the union of sorted arrays that do not fit in memory together.

Each array is written as a run to a scratch file; the runs are merged in windows of the key range,
at most FAN_IN at a time. Scratch files are never named by a catalogue.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Protocol

import numpy as np
import numpy.typing as npt

from store import names
from store.errors import IntegrityError
from store.fs import FileSystem
from store.kernels import merge
from store.layer import Layer, Scratch
from store.run import RunBuilder, RunMeta
from store.source import FileSource

U64 = np.uint64
FAN_IN = 8
RUN_KEYS = 1 << 18
Keys = npt.NDArray[np.uint64]


class SpaceMeter(Protocol):
    """Who is asked before bytes are written and told when they are deleted."""

    def take(self, size: int) -> None: ...

    def give_back(self, size: int) -> None: ...


def union(streams: list[Iterator[Keys]], on_duplicates: Callable[[Keys], None]) -> Iterator[Keys]:
    """The union of sorted streams of distinct keys, as ascending uint64 arrays.

    Holds one array of each stream at a time; what it yields is valid until the next step. A key
    found in m streams is passed to on_duplicates m - 1 times, in arrays of any order.
    """
    heads: list[Keys] = []
    rest: list[Iterator[Keys]] = []
    for stream in streams:
        _refill(stream, heads, rest)
    while heads:
        limit = min(int(head[-1]) for head in heads)
        window: Keys | None = None
        kept_heads: list[Keys] = []
        kept_rest: list[Iterator[Keys]] = []
        for head, stream in zip(heads, rest, strict=True):
            cut = int(np.searchsorted(head, U64(limit), side="right"))
            part = head[:cut]
            window = part if window is None else _unite(window, part, on_duplicates)
            if cut < head.size:
                kept_heads.append(head[cut:])
                kept_rest.append(stream)
            else:
                # the part may still be a view of the stream's buffer, so copy before moving on
                window = np.array(window)
                _refill(stream, kept_heads, kept_rest)
        heads, rest = kept_heads, kept_rest
        if window is not None and window.size:
            yield window


def _refill(stream: Iterator[Keys], heads: list[Keys], rest: list[Iterator[Keys]]) -> None:
    for keys in stream:
        if keys.size:
            heads.append(keys)
            rest.append(stream)
            return


def _unite(a: Keys, b: Keys, on_duplicates: Callable[[Keys], None]) -> Keys:
    if not b.size:
        return a
    out = np.empty(a.size + b.size + 1, np.uint64)
    twice = np.empty(min(a.size, b.size) + 1, np.uint64)
    size, both = merge.unite(a, U64(a.size), b, U64(b.size), out, twice)
    if both:
        on_duplicates(twice[: int(both)])
    return out[: int(size)]


class ExternalSorter:
    """Sorted arrays in, their union out, through scratch files in RUN/spill.

    number: makes the scratch names unique among those who sort at the same time.
    """

    def __init__(
        self, fs: FileSystem, source: FileSource, run: str, number: int, meter: SpaceMeter
    ) -> None:
        self._fs = fs
        self._source = source
        self._run = run
        self._number = number
        self._builder = RunBuilder()
        self._meter = meter
        self._made = 0
        self._sequences: list[list[RunMeta]] = []

    def __enter__(self) -> ExternalSorter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for sequence in self._sequences:
            self._remove(sequence)
        self._sequences = []

    def add(self, arrays: Iterator[Keys]) -> None:
        """Take ascending distinct keys; they are on disk, not durable, when this returns."""
        self._sequences.append(self._write(arrays))

    def merged(self, on_duplicates: Callable[[Keys], None]) -> Iterator[Keys]:
        """The union of all that was added, ascending, in arrays of at most FAN_IN blocks."""
        while len(self._sequences) > FAN_IN:
            group = self._sequences[:FAN_IN]
            merged = self._write(union(self._streams(group), on_duplicates))
            self._sequences = [*self._sequences[FAN_IN:], merged]
            for sequence in group:
                self._remove(sequence)
        yield from union(self._streams(self._sequences), on_duplicates)

    def _streams(self, sequences: list[list[RunMeta]]) -> list[Iterator[Keys]]:
        streams = []
        for sequence in sequences:
            layer = Layer(self._source, 0, sequence, {})
            streams.append(layer.read_blocks(0, layer.blocks, Scratch()))
        return streams

    def _write(self, arrays: Iterator[Keys]) -> list[RunMeta]:
        """Write one ascending sequence to a new scratch file, as runs of bounded size."""
        fs = self._fs
        name = names.scratch_file(self._number, self._made)
        self._made += 1
        fd = fs.create(os.path.join(self._run, name))
        sequence: list[RunMeta] = []
        end = held = 0
        try:
            self._builder.begin()
            for keys in itertools.chain(arrays, [None]):
                if keys is not None:
                    self._append(keys, name)
                    held += int(keys.size)
                if held >= RUN_KEYS or (keys is None and held):
                    meta, data = self._builder.finish()
                    self._meter.take(len(data))
                    fs.pwrite(fd, data, end)
                    sequence.append(meta.placed(name, end))
                    end += len(data)
                    held = 0
                    self._builder.begin()
        finally:
            fs.close(fd)
        return sequence

    def _append(self, keys: Keys, name: str) -> None:
        try:
            self._builder.append(keys)
        except ValueError as error:
            raise IntegrityError(name, None, f"what was to be written is not: {error}") from error

    def _remove(self, sequence: list[RunMeta]) -> None:
        if sequence:
            self._source.forget(sequence[0].file)
            self._fs.unlink(os.path.join(self._run, sequence[0].file))
            self._meter.give_back(sum(meta.length for meta in sequence))
