"""A run: blocks in key order, then an index of them for point look-ups.

The bytes are described in store/FORMAT.md.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from store import block
from store.block import BlockEncoder, Bytes, Keys
from store.errors import UnknownVersion
from store.index import RunIndex, index_length, write_index
from store.kernels.fingerprint import fingerprint_ascending, survey_records
from store.kernels.records import Row
from store.pages import empty_pages, whole

VERSION = 1
BLOCK_KEYS = 1 << 15
MASK_64 = (1 << 64) - 1
MAX_KEY = MASK_64 - 1

META = struct.Struct("<BBHIQQQQQQQQQ")
"""version, payload bits, length of the file's name, blocks, count, first, last, fingerprint, record
fingerprint, length, index offset, index checksum, offset; then the name."""


@dataclass(frozen=True, slots=True)
class RunMeta:
    """What is known of a run without reading it.

    count, first, last, fingerprint: of its keys (first and last are 0 when there are none); length:
    its bytes, the index included, 0 for no keys; blocks: their number; index_offset: where in the
    run the index begins; index_checksum: of the index; file: the name of the file it is in, or ''
    for a run that is kept inline; offset: where in that file it begins; record_fingerprint: of its
    keys and their payload (store.kernels.fingerprint), 0 when there is no payload.
    """

    count: int
    first: int
    last: int
    fingerprint: int
    length: int
    blocks: int
    index_offset: int
    index_checksum: int
    payload_bits: int = 0
    file: str = ""
    offset: int = 0
    record_fingerprint: int = 0

    def placed(self, file: str, offset: int) -> RunMeta:
        """The same run, at `offset` of `file`."""
        return replace(self, file=file, offset=offset)

    def pack(self) -> bytes:
        """All fields as bytes."""
        name = self.file.encode()
        fixed = META.pack(
            VERSION,
            self.payload_bits,
            len(name),
            self.blocks,
            self.count,
            self.first,
            self.last,
            self.fingerprint,
            self.record_fingerprint,
            self.length,
            self.index_offset,
            self.index_checksum,
            self.offset,
        )
        return fixed + name

    @classmethod
    def unpack(cls, data: bytes) -> RunMeta:
        """The inverse of pack. Raises UnknownVersion, or ValueError saying what is wrong."""
        if len(data) < META.size:
            raise ValueError(
                f"a run's record has {len(data)} bytes, at least {META.size} are needed"
            )
        version, bits, named, blocks, count, first, last, mix, both, length, at, check, offset = (
            META.unpack_from(data)
        )
        if version != VERSION:
            raise UnknownVersion("a run", version, VERSION)
        if len(data) != META.size + named:
            raise ValueError("a run's record has another length than its file name")
        meta = cls(
            count,
            first,
            last,
            mix,
            length,
            blocks,
            at,
            check,
            bits,
            data[META.size :].decode(),
            offset,
            both,
        )
        meta.check()
        return meta

    def check(self) -> None:
        """Raise ValueError if the fields contradict each other."""
        if self.payload_bits not in (0, 8, 16, 32):
            raise ValueError(f"a run's payload has {self.payload_bits} bits, not 0, 8, 16 or 32")
        if self.count == 0:
            good = self.first == self.last == self.blocks == self.length == 0
            good = good and self.record_fingerprint == 0
        else:
            good = (
                self.last - self.first >= self.count - 1
                and (self.payload_bits != 0 or self.record_fingerprint == 0)
                and self.last <= MAX_KEY
                and self.blocks <= self.count <= self.blocks * block.MAX_BLOCK_KEYS
                and self.index_offset + index_length(self.blocks) == self.length
                and self.index_offset >= self.blocks * block.HEADER.size
                and self.offset + self.length < 1 << 63
            )
        if not good:
            raise ValueError("the fields of a run's record contradict each other")


EMPTY = RunMeta(0, 0, 0, 0, 0, 0, 0, 0)


class RunBuilder:
    """Encodes one run after another into a buffer that it keeps; not thread-safe, one a worker.

    block_keys: keys a block; payload_bits: 0, 8, 16 or 32; profile: as BlockEncoder takes it.
    Memory: the encoded run, at most 9 bytes a key, twice that after swap(), and one block.
    """

    def __init__(
        self, block_keys: int = BLOCK_KEYS, payload_bits: int = 0, profile: str = "fast"
    ) -> None:
        if not 1 <= block_keys <= block.MAX_BLOCK_KEYS:
            raise ValueError(f"a block has 1 to {block.MAX_BLOCK_KEYS} keys, not {block_keys}")
        self._block_keys = block_keys
        self._payload_bits = payload_bits
        self._encoder = BlockEncoder(payload_bits, profile)
        self._other: Bytes = empty_pages(0)
        self._staged = np.empty(block_keys, np.uint64)
        self._staged_payload: npt.NDArray[Any] | None = None
        if payload_bits:
            self._staged_payload = np.empty(block_keys, block.PAYLOAD_TYPES[payload_bits])
        self.begin()

    def begin(self) -> None:
        """Start a new run; the bytes of the one before are no longer valid."""
        self._encoder.length = 0
        self._rows: list[tuple[int, int, int, int]] = []
        self._held = 0
        self._first = 0
        self._last = -1
        self._fingerprint = 0
        self._record_fingerprint = 0
        self.count = 0

    def swap(self) -> None:
        """Before begin(): keep the bytes of the run just finished until swap() is called again."""
        encoder = self._encoder
        encoder.buffer, self._other = self._other, encoder.buffer

    @property
    def size(self) -> int:
        """Bytes written so far: whole blocks without the index."""
        return self._encoder.length

    def append(
        self, keys: Keys, payload: npt.NDArray[Any] | None = None, *, whole: bool = False
    ) -> None:
        """Add keys uint64[n], strictly ascending and above all before; copies what it keeps.

        payload: unsigned integers [n] that fit payload_bits, given just when that is not 0. whole:
        write them in blocks of their own, without gathering full ones. Raises ValueError, after
        which begin() must be called.
        """
        if payload is not None:
            payload = self._narrowed(keys, payload)
        elif self._payload_bits:
            raise ValueError(f"the run takes {self._payload_bits} bits of payload with every key")
        n = keys.size
        if n == 0:
            return
        first, last = int(keys[0]), int(keys[-1])
        if first <= self._last or last > MAX_KEY:
            raise ValueError(block.UNORDERED)
        if self.count == 0:
            self._first = first
        self._last = last
        self.count += n
        if whole:
            self._flush()
        if payload is None:
            mixed, ascending = fingerprint_ascending(keys)
        elif whole and n <= self._block_keys:
            mixed, both = self._write_records(keys, payload)
            self._note(mixed, both)
            return
        else:
            mixed, both, ascending = survey_records(keys, payload)
        if not ascending:
            raise ValueError(block.UNORDERED)
        self._note(int(mixed), 0 if payload is None else int(both))
        at = 0
        while at < n:
            take = min(n - at, self._block_keys - self._held)
            part = None if payload is None else payload[at : at + take]
            if take == self._block_keys or whole:
                self._write(keys[at : at + take], part)
            else:
                self._stage(keys[at : at + take], part)
            at += take

    def place(self, blocks: int, keys: int) -> tuple[bool, Any, np.uint64, Keys, Keys]:
        """Where encode_records may write so many blocks, as BlockEncoder.place says."""
        self._flush()
        return self._encoder.place(blocks, keys)

    def adopt(self, rows: Iterable[Row]) -> None:
        """Add the blocks that encode_records has written where place() said; as append does."""
        for row in rows:
            if row.first <= self._last or row.last > MAX_KEY:
                raise ValueError(block.UNORDERED)
            at = self._encoder.length
            checksum = self._encoder.adopt(row)
            self._rows.append((row.first, at, row.keys, checksum & 0xFFFFFFFF))
            if self.count == 0:
                self._first = row.first
            self._last = row.last
            self.count += row.keys
            self._note(row.fingerprint, row.record_fingerprint)

    def _note(self, mixed: int, both: int) -> None:
        """Add to the fingerprints of the keys and of the records."""
        self._fingerprint = (self._fingerprint + mixed) & MASK_64
        self._record_fingerprint = (self._record_fingerprint + both) & MASK_64

    def _narrowed(self, keys: Keys, payload: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The payload of the keys in the type it is stored in; ValueError when it does not fit."""
        bits = self._payload_bits
        if bits == 0 or payload.shape != keys.shape:
            raise ValueError(f"the run takes {bits} bits of payload with every key")
        column = block.PAYLOAD_TYPES[bits]
        if payload.dtype != column:
            if payload.size and int(payload.max()) >> bits:
                raise ValueError(f"payload {payload.max()} does not fit {bits} bits")
            payload = payload.astype(column)
        return payload

    def _stage(self, keys: Keys, payload: npt.NDArray[Any] | None) -> None:
        end = self._held + keys.size
        self._staged[self._held : end] = keys
        if payload is not None and self._staged_payload is not None:
            self._staged_payload[self._held : end] = payload
        self._held = end
        if end == self._block_keys:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            payload = self._staged_payload
            self._write(
                self._staged[: self._held], None if payload is None else payload[: self._held]
            )
            self._held = 0

    def _write_records(self, keys: Keys, payload: npt.NDArray[Any]) -> tuple[int, int]:
        """Write a block of its own; the fingerprints of its keys and of its records."""
        at = self._encoder.length
        checksum, mixed, both = self._encoder.add_records(keys, payload)
        self._rows.append((int(keys[0]), at, keys.size, checksum & 0xFFFFFFFF))
        return mixed, both

    def _write(self, keys: Keys, payload: npt.NDArray[Any] | None) -> None:
        at = self._encoder.length
        checksum = self._encoder.add(keys, payload)
        self._rows.append((int(keys[0]), at, keys.size, checksum & 0xFFFFFFFF))

    def finish(self) -> tuple[RunMeta, memoryview]:
        """(what the catalogue records, the bytes of the run); the bytes hold until begin().

        The fingerprint is that of the keys as they were appended, not of what was encoded. A run
        without keys has no bytes.
        """
        self._flush()
        if self.count == 0:
            return replace(EMPTY, payload_bits=self._payload_bits), memoryview(b"")
        at = self._encoder.length
        blocks = len(self._rows)
        length = index_length(blocks)
        self._encoder.reserve(length)
        index = self._encoder.buffer[at : at + length]
        checksum = write_index(self._rows, self._payload_bits, index)
        self._encoder.length = at + length
        meta = RunMeta(
            self.count,
            self._first,
            self._last,
            self._fingerprint,
            at + length,
            blocks,
            at,
            checksum,
            self._payload_bits,
            record_fingerprint=self._record_fingerprint,
        )
        return meta, self._encoder.buffer.data[: at + length]

    def index(self) -> RunIndex:
        """The index of the run just finished, which has at least one block."""
        blocks = len(self._rows)
        end = self._encoder.length - index_length(blocks)
        return RunIndex.of_builder(self._encoder.buffer[end : self._encoder.length], end)

    def pages(self) -> Bytes:
        """The run just finished in whole pages of memory, with zeros behind it; as finish()."""
        length = self._encoder.length
        pages = self._encoder.buffer[: whole(length)]
        pages[length:] = 0
        return pages
