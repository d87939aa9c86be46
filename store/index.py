"""The index of a run: where each block begins, and with which key.

The bytes are described in store/FORMAT.md.
"""

from __future__ import annotations

import struct
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from xxhash import xxh3_64_intdigest

from store import block
from store.block import BlockFault, Bytes, Keys
from store.errors import UnknownVersion

if TYPE_CHECKING:
    from store.run import RunMeta

VERSION = 1
MAGIC = b"xidx"
HEADER = struct.Struct("<Q4sBBHI4x")
ROW = np.dtype([("first", "<u8"), ("offset", "<u8"), ("keys", "<u4"), ("check", "<u4")])

CACHED_ROWS = 1 << 18
CACHED_RUNS = 1 << 12


def index_length(blocks: int) -> int:
    """Bytes of the index of that many blocks."""
    return HEADER.size + blocks * ROW.itemsize


def write_index(rows: Sequence[tuple[int, int, int, int]], payload_bits: int, target: Bytes) -> int:
    """Write the index of rows (first key, offset, keys, checksum's low half); its checksum.

    target: uint8[index_length].
    """
    HEADER.pack_into(target.data, 0, 0, MAGIC, VERSION, payload_bits, 0, len(rows))
    target[HEADER.size :].view(ROW)[:] = np.array(rows, ROW)
    checksum = xxh3_64_intdigest(target.data[8:])
    struct.pack_into("<Q", target.data, 0, checksum)
    return checksum


class RunIndex:
    """The index of one run, checked.

    firsts: uint64[blocks]; offsets: uint64[blocks + 1] within the run, the last one the end of the
    last block; counts: uint32[blocks], keys a block; checks: uint32[blocks], the low halves of the
    blocks' checksums.
    """

    def __init__(self, meta: RunMeta, data: Bytes) -> None:
        """Take apart the index `data`, uint8[index_length], of the run recorded as `meta`.

        Raises BlockFault, or UnknownVersion when all is well but the version.
        """
        checksum, magic, version, payload_bits, zero, blocks = HEADER.unpack_from(data.data)
        if xxh3_64_intdigest(data.data[8:]) != checksum:
            raise BlockFault("the checksum of the index is wrong")
        if checksum != meta.index_checksum:
            raise BlockFault("this is the index of another run")
        if magic != MAGIC or zero != 0:
            raise BlockFault("the index does not begin like one")
        if version != VERSION:
            raise UnknownVersion("a run", version, VERSION)
        if blocks != meta.blocks or payload_bits != meta.payload_bits:
            raise BlockFault("the index is not what was recorded of it")
        self._take(data, meta.index_offset)
        if not self._consistent(meta):
            raise BlockFault("the rows of the index contradict each other")

    @classmethod
    def of_builder(cls, data: Bytes, end: int) -> RunIndex:
        """The index that write_index() has just written to `data`, which nothing has touched since.

        end: of the last block within the run.
        """
        index = cls.__new__(cls)
        index._take(data, end)
        return index

    def _take(self, data: Bytes, end: int) -> None:
        rows = data[HEADER.size :].view(ROW)
        self.firsts: Keys = rows["first"].astype(np.uint64)
        self.offsets = np.empty(rows.size + 1, np.uint64)
        self.offsets[:-1] = rows["offset"]
        self.offsets[-1] = end
        self.counts = rows["keys"].astype(np.uint32)
        self.checks = rows["check"].astype(np.uint32)

    def _consistent(self, meta: RunMeta) -> bool:
        longest = block.max_stored(block.MAX_BLOCK_KEYS, meta.payload_bits)
        return bool(
            self.offsets[0] == 0
            and (self.offsets[1:] >= self.offsets[:-1]).all()
            and (self.offsets[1:] - self.offsets[:-1] <= longest).all()
            and self.firsts[0] == meta.first
            and (self.firsts[1:] > self.firsts[:-1]).all()
            and self.firsts[-1] <= meta.last
            and int(self.counts.sum(dtype=np.uint64)) == meta.count
        )


class IndexCache:
    """The indexes used last, so many that a hundred thousand runs do not fill memory; thread-safe.

    At most CACHED_RUNS indexes with CACHED_ROWS rows together (6 MB), but always the last one.
    """

    def __init__(
        self, load: Callable[[int], RunIndex], known: Mapping[int, RunIndex] | None = None
    ) -> None:
        """load: reads the index of run number i; known: some that need not be read."""
        self._load = load
        self._lock = threading.Lock()
        self._held: OrderedDict[int, RunIndex] = OrderedDict()
        self._rows = 0
        for run, index in (known or {}).items():
            self._keep(run, index)

    def get(self, run: int) -> RunIndex:
        """The index of a run, read if need be. Two threads may read the same one at once."""
        with self._lock:
            index = self._held.get(run)
            if index is not None:
                self._held.move_to_end(run)
                return index
        index = self._load(run)
        with self._lock:
            if run not in self._held:
                self._keep(run, index)
        return index

    def _keep(self, run: int, index: RunIndex) -> None:
        self._held[run] = index
        self._rows += index.firsts.size
        while len(self._held) > 1 and (self._rows > CACHED_ROWS or len(self._held) > CACHED_RUNS):
            self._rows -= self._held.popitem(last=False)[1].firsts.size

    def forget(self, run: int) -> None:
        """Read that index anew the next time."""
        with self._lock:
            index = self._held.pop(run, None)
            if index is not None:
                self._rows -= index.firsts.size
