"""A layer: the runs of one depth, read as one ascending sequence of blocks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from store.block import BlockFault, BlockHeader, Bytes, Keys
from store.errors import IntegrityError
from store.index import IndexCache, RunIndex, index_length
from store.kernels.fingerprint import fingerprint, fingerprint_records
from store.run import MASK_64, RunMeta
from store.scratch import Scratch, Target
from store.source import Source

__all__ = ["Layer", "Scratch", "Target", "verify_run"]

Payload = npt.NDArray[Any]
Look = Callable[[Keys, Payload], None]


class Layer:
    """The runs `metas` of one depth; they are in key order and do not overlap.

    inline: the bytes of the runs without a file, by their position in metas; indexes: those of runs
    that need not be read from their files, by position. Thread-safe, as long as every thread brings
    its own Scratch. Block numbers run through all runs in key order. Whatever is wrong with the
    bytes is an IntegrityError that names file and block, raised before a key of that block is
    handed out.
    """

    def __init__(
        self,
        source: Source,
        depth: int,
        metas: Sequence[RunMeta],
        inline: Mapping[int, bytes] | None = None,
        indexes: Mapping[int, RunIndex] | None = None,
    ) -> None:
        self.depth = depth
        self.metas = list(metas)
        self._source = source
        self._inline = dict(inline or {})
        self._indexes = IndexCache(self._load_index, indexes)
        self._filled = [r for r, meta in enumerate(self.metas) if meta.count]
        before = -1
        for r in self._filled:
            meta = self.metas[r]
            try:
                meta.check()
            except ValueError as error:
                raise self._error(r, "-", str(error)) from None
            if meta.first <= before:
                raise self._error(r, "-", "its keys overlap those of the run before it")
            before = meta.last
            if not meta.file and len(self._inline.get(r, b"")) != meta.length:
                raise self._error(r, "-", "its bytes are not as long as recorded")
        filled = [self.metas[r] for r in self._filled]
        self._firsts = np.array([m.first for m in filled], np.uint64)
        self._starts = list(accumulate((m.blocks for m in filled), initial=0))
        self.count = sum(m.count for m in filled)
        self.bytes = sum(m.length for m in filled)
        self.blocks = self._starts[-1]
        self.first = filled[0].first if filled else 0
        self.last = filled[-1].last if filled else 0
        self.fingerprint = sum(m.fingerprint for m in filled) & MASK_64
        self.record_fingerprint = sum(m.record_fingerprint for m in filled) & MASK_64

    def _error(self, run: int, block: int | str, detail: str, at: int = 0) -> IntegrityError:
        """The error for a block, or "index", or "-", that lies at byte `at` of a run."""
        meta = self.metas[run]
        file = meta.file or f"depth {self.depth} in the catalogue"
        return IntegrityError(file, block, f"{detail} (run {run}, byte {meta.offset + at})")

    # Bytes

    def _read_bytes(
        self, run: int, block: int | str, offset: int, length: int, target: Bytes
    ) -> None:
        """Fill target[:length] with the bytes of a run from `offset` on; `block` is the first."""
        meta = self.metas[run]
        if meta.file:
            try:
                self._source.pread(meta.file, meta.offset + offset, length, target.data)
            except IntegrityError as error:
                raise self._error(run, block, error.detail, offset) from error
        else:
            data = np.frombuffer(self._inline[run], np.uint8)
            target[:length] = data[offset : offset + length]

    def _load_index(self, run: int) -> RunIndex:
        meta = self.metas[run]
        # Whether the last byte is there decides whether so much memory is worth taking.
        self._read_bytes(run, "index", meta.length - 1, 1, np.empty(1, np.uint8))
        data = np.empty(index_length(meta.blocks), np.uint8)
        self._read_bytes(run, "index", meta.index_offset, data.size, data)
        try:
            return RunIndex(meta, data)
        except BlockFault as fault:
            raise self._error(run, "index", str(fault), meta.index_offset) from None

    # Blocks

    def _run_blocks(
        self,
        run: int,
        start: int,
        stop: int,
        scratch: Scratch,
        wanted: bool,
        target: Target | None = None,
    ) -> Iterator[tuple[BlockHeader, Keys, Payload]]:
        """(header, keys, payload) of blocks start .. stop - 1 of one run.

        wanted: whether the payload is; target: as Scratch.decode takes it.
        """
        index = self._indexes.get(run)
        offsets = index.offsets[start : stop + 1].tolist()
        done = start
        while done < stop:
            base = offsets[done - start]
            end = done + 1
            while end < stop and offsets[end + 1 - start] - base <= scratch.READ_BYTES:
                end += 1
            turn = scratch.begin()
            self._read_bytes(run, done, base, offsets[end - start] - base, scratch.read)
            for block in range(done, end):
                scratch.check(turn)
                at = offsets[block - start] - base
                length = offsets[block - start + 1] - base - at
                try:
                    header, keys, payload = scratch.decode(at, length, wanted, target)
                    self._compare(index, self.metas[run], block, header)
                except BlockFault as fault:
                    raise self._error(run, block, str(fault), int(index.offsets[block])) from None
                yield header, keys, payload
            done = end

    @staticmethod
    def _compare(index: RunIndex, meta: RunMeta, block: int, header: BlockHeader) -> None:
        final = block + 1 == meta.blocks
        if (
            header.checksum & 0xFFFFFFFF != index.checks.item(block)
            or header.first != index.firsts.item(block)
            or header.keys != index.counts.item(block)
            or header.payload_bits != meta.payload_bits
            or (header.last != meta.last if final else header.last >= index.firsts.item(block + 1))
        ):
            raise BlockFault("it is not the block that the index names")

    def _split(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """(run, its first block wanted, the end) for the layer's blocks start .. stop - 1."""
        if not 0 <= start <= stop <= self.blocks:
            raise ValueError(f"blocks {start} to {stop} of a layer with {self.blocks}")
        at = bisect_right(self._starts, start) - 1
        while start < stop:
            begin = self._starts[at]
            end = min(stop, self._starts[at + 1])
            yield self._filled[at], start - begin, end - begin
            start = end
            at += 1

    def read_blocks(self, start: int, stop: int, scratch: Scratch) -> Iterator[Keys]:
        """The keys of blocks start .. stop - 1, as uint64 views, ascending, one a block.

        A view is valid until the next step, and `scratch` serves no other reader meanwhile.
        """
        for keys, _ in self._read(start, stop, scratch, False):
            yield keys

    def read_records(
        self, start: int, stop: int, scratch: Scratch
    ) -> Iterator[tuple[Keys, Payload]]:
        """As read_blocks, with the payload of each block: uint8, uint16 or uint32, one a key."""
        return self._read(start, stop, scratch, True)

    def _read(
        self, start: int, stop: int, scratch: Scratch, wanted: bool
    ) -> Iterator[tuple[Keys, Payload]]:
        """Keys and, if wanted, payload. The block that the scratch still holds is not read again:
        neighbouring ranges share one.
        """
        held = scratch.held
        again = held is not None and held[:2] == (self, start) and start < stop
        if again and held is not None and (held[3].size or not wanted):
            scratch.begin()
            yield held[2:]
            start += 1
        number = start
        for run, begin, end in self._split(start, stop):
            for _, keys, payload in self._run_blocks(run, begin, end, scratch, wanted):
                scratch.held = self, number, keys, payload
                number += 1
                yield keys, payload

    def read_into(self, start: int, stop: int, target: Target, scratch: Scratch) -> None:
        """Append the records of blocks start .. stop - 1 to a target, which has room for them all.

        The same as copying what read_records gives, without the copy.
        """
        for run, begin, end in self._split(start, stop):
            for header, _, _ in self._run_blocks(run, begin, end, scratch, True, target):
                target.at += header.keys

    def blocks_of(self, low: int, high: int) -> tuple[int, int]:
        """The least range of blocks that holds all keys with low <= key < high."""
        if not self._filled or low >= high or low > self.last or high <= self.first:
            return 0, 0
        return self._block_of(max(low, self.first)), self._block_of(min(high - 1, self.last)) + 1

    def _block_of(self, key: int) -> int:
        """The last block whose first key is <= key; self.first <= key <= self.last."""
        at = int(np.searchsorted(self._firsts, np.uint64(key), side="right")) - 1
        index = self._indexes.get(self._filled[at])
        inside = int(np.searchsorted(index.firsts, np.uint64(key), side="right")) - 1
        return self._starts[at] + inside

    def read_range(self, low: int, high: int, scratch: Scratch) -> Iterator[Keys]:
        """The keys with low <= key < high, as read_blocks gives them; no view is empty."""
        start, stop = self.blocks_of(low, high)
        for keys in self.read_blocks(start, stop, scratch):
            begin, end = _cut(keys, low, high)
            if begin < end:
                yield keys[begin:end]

    def read_range_records(
        self, low: int, high: int, scratch: Scratch
    ) -> Iterator[tuple[Keys, Payload]]:
        """As read_range, with the payload of the keys as read_records gives it."""
        start, stop = self.blocks_of(low, high)
        for keys, payload in self.read_records(start, stop, scratch):
            begin, end = _cut(keys, low, high)
            if begin < end:
                yield keys[begin:end], payload[begin:end]

    def weights(self) -> tuple[Keys, npt.NDArray[np.int64]]:
        """(first key, number of keys) of every block of the layer, from the indexes."""
        indexes = [self._indexes.get(run) for run in self._filled]
        if not indexes:
            return np.empty(0, np.uint64), np.empty(0, np.int64)
        firsts = np.concatenate([index.firsts for index in indexes])
        counts = np.concatenate([index.counts for index in indexes]).astype(np.int64)
        return firsts, counts

    def keys_before(self) -> npt.NDArray[np.int64]:
        """int64[blocks + 1]: for every block, and for the end, how many keys lie before it."""
        return sums_before(self.weights()[1])

    def verify(self, run: int, scratch: Scratch, look: Look | None = None) -> None:
        """Read all of one run and compare it with its record; IntegrityError if they differ."""
        meta = self.metas[run]
        if not meta.count:
            return
        self._indexes.forget(run)
        count = 0
        total = 0
        both = 0
        for _, keys, payload in self._run_blocks(run, 0, meta.blocks, scratch, True):
            count += keys.size
            total += int(fingerprint(keys))
            if payload.size:
                both += int(fingerprint_records(keys, payload))
            if look is not None:
                look(keys, payload)
        if count != meta.count or total & MASK_64 != meta.fingerprint:
            raise self._error(run, "-", "its keys are not those that were recorded")
        if both & MASK_64 != meta.record_fingerprint:
            raise self._error(run, "-", "its payload is not the one that was recorded")

    # Point look-ups

    def contains(self, keys: Keys, scratch: Scratch | None = None) -> npt.NDArray[np.bool_]:
        """bool[n]: which of keys uint64[n], in any order, are in the layer."""
        return self.lookup(keys, scratch)[0]

    def lookup(
        self, keys: Keys, scratch: Scratch | None = None
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.uint32]]:
        """(bool[n] whether present, uint32[n] payload, 0 for an absent key) of keys uint64[n].

        Each block that can hold one of the keys is read and decoded once.
        """
        found = np.zeros(keys.size, np.bool_)
        payload = np.zeros(keys.size, np.uint32)
        scratch = scratch or Scratch()
        order = np.argsort(keys)
        ordered = keys[order]
        low, end = 0, 0
        if self._filled:
            low = int(np.searchsorted(ordered, np.uint64(self.first)))
            end = int(np.searchsorted(ordered, np.uint64(self.last), side="right"))
        while low < end:
            number = self._block_of(int(ordered[low]))
            run, block, _ = next(self._split(number, number + 1))
            for _, held, column in self._run_blocks(run, block, block + 1, scratch, True):
                index = self._indexes.get(run)
                high = end
                if number + 1 < self.blocks:
                    following = self._first_after(number, index, block)
                    high = int(np.searchsorted(ordered, np.uint64(following)))
                where = np.searchsorted(held, ordered[low:high])
                where = np.minimum(where, held.size - 1)
                hit = held[where] == ordered[low:high]
                found[order[low:high]] = hit
                if column.size:
                    payload[order[low:high]] = np.where(hit, column[where], 0)
                low = high
        return found, payload

    def _first_after(self, number: int, index: RunIndex, block: int) -> int:
        """The first key of the layer's block number + 1."""
        if block + 1 < index.firsts.size:
            return int(index.firsts[block + 1])
        return int(self._firsts[bisect_right(self._starts, number + 1) - 1])


def sums_before(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """int64[n + 1]: the sum of the counts before each of them, and of them all."""
    return np.concatenate([[0], np.cumsum(counts)])


def _cut(keys: Keys, low: int, high: int) -> tuple[int, int]:
    """The positions in `keys`, ascending and not empty, of those with low <= key < high."""
    begin, end = 0, keys.size
    if int(keys[0]) < low:
        begin = end if int(keys[-1]) < low else int(np.searchsorted(keys, np.uint64(low)))
    if int(keys[-1]) >= high:
        end = 0 if int(keys[0]) >= high else int(np.searchsorted(keys, np.uint64(high)))
    return begin, end


def verify_run(layer: Layer, run: int, scratch: Scratch, look: Look | None = None) -> None:
    """Read all of run number `run` of a layer and compare it with what is recorded of it.

    Every checksum, the order, the count, first and last key and the fingerprints are recomputed.
    Raises IntegrityError naming file, block and byte. look: is shown every block, keys and payload.
    """
    layer.verify(run, scratch, look)
