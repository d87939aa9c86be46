"""A block: ascending keys of one key range, their payload, and the checksum that guards them.

The bytes are described in store/FORMAT.md. Blocks are read by store.scratch.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import zstandard
from xxhash import xxh3_64_intdigest

from store.errors import UnknownVersion
from store.kernels import codec as codecs
from store.kernels import column as columns
from store.kernels import header as headers
from store.kernels import records
from store.kernels.fingerprint import survey_records
from store.kernels.records import Row
from store.pages import empty_pages

U64 = np.uint64
Keys = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

MAGIC = headers.MAGIC
VERSION = headers.VERSION
HEADER = struct.Struct("<Q4sBBBBIIQQIIII")
CHECKSUM = struct.Struct("<Q")

BODY_ZSTD = 1
PAYLOAD_ZSTD = 2
PAYLOAD_LISTED = headers.PAYLOAD_LISTED
ALL_FLAGS = BODY_ZSTD | PAYLOAD_ZSTD | PAYLOAD_LISTED

MAX_BLOCK_KEYS = 1 << 17
PAYLOAD_TYPES: dict[int, np.dtype[Any]] = {
    8: np.dtype("<u1"),
    16: np.dtype("<u2"),
    32: np.dtype("<u4"),
}
"""numpy types of the payload by its width in bits; width 0 is no payload."""

PROFILES = ("fast", "swift", "compact")
UNORDERED = "the keys of a run ascend strictly and stay below 2**64 - 1"
MIN_ZSTD = 64
"""Shorter bodies are not worth a zstd frame."""


class BlockFault(Exception):
    """What is wrong with a block or an index; who reads it adds where, as an IntegrityError."""


class BlockHeader(NamedTuple):
    """The fields of a block's header in their order on disk."""

    checksum: int
    magic: bytes
    version: int
    codec: int
    flags: int
    payload_bits: int
    keys: int
    shift: int
    first: int
    last: int
    stored_body: int
    stored_payload: int
    body: int  # its length before zstd
    payload: int  # its length before zstd


def max_body(keys: int) -> int:
    """An upper bound of the bytes that a body of that many keys has, whatever the codec."""
    return 10 * keys


def max_stored(keys: int, payload_bits: int) -> int:
    """An upper bound of the bytes that a block of that many keys has."""
    return HEADER.size + max_body(keys) + keys * payload_bits // 8


def read_header(data: memoryview) -> BlockHeader:
    """The header of the block which is exactly `data`, its checksum and all its fields checked.

    Raises BlockFault, or UnknownVersion when all is well but the version.
    """
    if len(data) < HEADER.size:
        raise BlockFault("it is shorter than a header")
    header = BlockHeader._make(HEADER.unpack_from(data))
    if xxh3_64_intdigest(data[8:]) != header.checksum:
        raise BlockFault("the checksum is wrong")
    if header.magic != MAGIC:
        raise BlockFault("it does not begin like a block")
    if header.version != VERSION:
        raise UnknownVersion("a block", header.version, VERSION)
    fault = _contradiction(header, len(data))
    if fault:
        raise BlockFault(fault)
    return header


def _contradiction(header: BlockHeader, length: int) -> str:
    """What is impossible about a header, or ''."""
    h = header
    payload = h.keys * h.payload_bits // 8
    if not 1 <= h.keys <= MAX_BLOCK_KEYS:
        return f"it counts {h.keys} keys; 1 to {MAX_BLOCK_KEYS} are possible"
    if h.codec > codecs.BYTES or h.flags > ALL_FLAGS or h.shift > 63:
        return "it is written in an unknown way"
    if h.last - h.first < h.keys - 1 or (h.keys == 1 and h.first != h.last):
        return "its first and last key leave no room for its count"
    if HEADER.size + h.stored_body + h.stored_payload != length:
        return "the lengths of its parts do not add up to its length"
    if h.body > max_body(h.keys) or not (h.flags & BODY_ZSTD or h.body == h.stored_body):
        return "the length of its body is impossible"
    if h.payload_bits != 0 and h.payload_bits not in PAYLOAD_TYPES:
        return f"its payload has {h.payload_bits} bits; 0, 8, 16 or 32 are possible"
    if h.flags & PAYLOAD_LISTED and h.payload_bits < 16:
        return "it lists values of a payload too narrow for that"
    if (
        h.payload > payload
        or not (h.flags & PAYLOAD_LISTED or h.payload == payload)
        or not (h.flags & PAYLOAD_ZSTD or h.payload == h.stored_payload)
        or (h.payload_bits == 0 and h.stored_payload != 0)
    ):
        return "the length of its payload is impossible"
    return ""


class BlockEncoder:
    """Writes blocks one behind the other into a buffer that grows; not thread-safe.

    profile: "fast" takes the shortest body that needs no zstd; "swift" one that is written and read
    in less time, unless it takes over sixteen bits a key; "compact" tries zstd as well.
    """

    def __init__(self, payload_bits: int, profile: str) -> None:
        if payload_bits != 0 and payload_bits not in PAYLOAD_TYPES:
            raise ValueError(f"a payload has 0, 8, 16 or 32 bits, not {payload_bits}")
        if profile not in PROFILES:
            raise ValueError(f'a profile is "fast", "swift" or "compact", not {profile!r}')
        self.buffer: Bytes = empty_pages(1 << 16)
        self.length = 0
        self._payload_bits = payload_bits
        self._compact = profile == "compact"
        self._swift = profile == "swift"
        self._zstd = zstandard.ZstdCompressor(level=1)
        self._work = np.empty(codecs.WORK, np.uint64)
        self._column_work = np.zeros(columns.ENCODER_WORK if payload_bits > 8 else 0, np.uint64)
        self._row = np.zeros(records.ROW, np.uint64)
        self._spare: Bytes = np.empty(0, np.uint8)

    def reserve(self, room: int) -> None:
        """Make sure that `room` bytes fit behind those in use."""
        if self.length + room > self.buffer.size:
            grown = empty_pages(max(self.length + room, self.buffer.size * 3 // 2))
            grown[: self.length] = self.buffer[: self.length]
            self.buffer = grown

    def add(self, keys: Keys, payload: npt.NDArray[Any] | None) -> int:
        """Append the block of `keys`, strictly ascending; its checksum.

        keys: 1 to MAX_BLOCK_KEYS; payload: one unsigned integer a key, of the encoder's width.
        """
        n = keys.size
        self.reserve(max_stored(n, self._payload_bits) + codecs.PAD)
        start = self.length + HEADER.size
        encode = codecs.encode_swift if self._swift else codecs.encode
        codec, shift, end = (
            int(x) for x in encode(keys, U64(n), self.buffer, U64(start), self._work)
        )
        body = end - start
        flags = 0
        if self._compact and body > MIN_ZSTD:
            codec, body, frame = self._squeeze(keys, codec, shift, self.buffer.data[start:end])
            if frame:
                flags = BODY_ZSTD
                end = self._put(start, frame)
        middle = end
        plain = 0
        if payload is not None:
            listed, plain, end = self._add_payload(payload, middle)
            flags |= listed
        ends = n, int(keys[0]), int(keys[-1])
        return self._seal(ends, codec, flags, shift, body, plain, middle, end)

    def add_records(self, keys: Keys, payload: npt.NDArray[Any]) -> tuple[int, int, int]:
        """Append a block as add does, in fewer steps.

        payload: uint8, uint16 or uint32 as the encoder's width, contiguous. Returns (checksum,
        fingerprint of the keys, of the records). Raises ValueError when keys do not ascend
        strictly; then nothing is appended.
        """
        if self._compact or self._payload_bits <= 8:
            mixed, both, ascending = survey_records(keys, payload)
            if not ascending:
                raise ValueError(UNORDERED)
            return self.add(keys, payload), int(mixed), int(both)
        place = self.place(1, keys.size)
        records.encode_records(keys, payload, *place, self._row)
        row = Row(*self._row.tolist())
        return self.adopt(row), row.fingerprint, row.record_fingerprint

    def place(self, blocks: int, keys: int) -> tuple[bool, Bytes, np.uint64, Keys, Keys]:
        """What encode_records takes behind the records, with room for so many blocks of so many
        keys, each of which begins at the end of the one before.
        """
        self.reserve(blocks * max_stored(keys, self._payload_bits) + codecs.PAD)
        return self._swift, self.buffer, U64(self.length), self._work, self._column_work

    def adopt(self, row: Row) -> int:
        """Append the block that encode_records has written, where place() said; its checksum.

        row: what it told. Raises ValueError when the keys do not ascend strictly.
        """
        if not row.ascending:
            raise ValueError(UNORDERED)
        return self._sign(self.length + row.length)

    def _seal(
        self,
        keys: tuple[int, int, int],
        codec: int,
        flags: int,
        shift: int,
        body: int,
        plain: int,
        middle: int,
        end: int,
    ) -> int:
        """Write the header of the block that ends at `end` of the buffer; its checksum.

        keys: (how many, the first, the last); body, plain: lengths of body and payload before zstd;
        middle: where the payload begins.
        """
        at = self.length
        header = BlockHeader(
            checksum=0,
            magic=MAGIC,
            version=VERSION,
            codec=codec,
            flags=flags,
            payload_bits=self._payload_bits,
            keys=keys[0],
            shift=shift,
            first=keys[1],
            last=keys[2],
            stored_body=middle - at - HEADER.size,
            stored_payload=end - middle,
            body=body,
            payload=plain,
        )
        HEADER.pack_into(self.buffer.data, at, *header)
        return self._sign(end)

    def _sign(self, end: int) -> int:
        """Write the checksum of the block that ends at `end` of the buffer; the checksum."""
        at, data = self.length, self.buffer.data
        checksum = xxh3_64_intdigest(data[at + 8 : end])
        CHECKSUM.pack_into(data, at, checksum)
        self.length = end
        return checksum

    def _add_payload(self, payload: npt.NDArray[Any], at: int) -> tuple[int, int, int]:
        """Write the payload to buffer[at:]; (its flags, length before zstd, position after it)."""
        column = np.ascontiguousarray(payload, PAYLOAD_TYPES[self._payload_bits])
        flags = 0
        end = 0
        if self._payload_bits > 8:
            end = int(
                columns.encode_column(
                    column, U64(column.size), self.buffer, U64(at), self._column_work
                )
            )
        if end:
            flags = PAYLOAD_LISTED
        else:
            end = self._put_plain(column, at)
        plain = end - at
        if self._compact and column.nbytes > MIN_ZSTD:
            frame = self._zstd.compress(self.buffer.data[at:end])
            if len(frame) < end - at:
                return flags | PAYLOAD_ZSTD, plain, self._put(at, frame)
        return flags, plain, end

    def _put_plain(self, column: npt.NDArray[Any], at: int) -> int:
        end = at + column.nbytes
        self.buffer[at:end] = column.view(np.uint8)
        return end

    def _put(self, at: int, data: bytes) -> int:
        end = at + len(data)
        self.buffer[at:end] = np.frombuffer(data, np.uint8)
        return end

    def _squeeze(
        self, keys: Keys, codec: int, shift: int, body: memoryview
    ) -> tuple[int, int, bytes]:
        """The best zstd frame for `keys`: (its codec, length before zstd, the frame).

        The frame is empty when no frame is shorter than `body`, which is that of `codec`.
        """
        if self._spare.size < max_body(keys.size):
            self._spare = np.empty(max_body(keys.size), np.uint8)
        end = int(codecs.encode_varint(keys, U64(keys.size), U64(shift), self._spare, U64(0)))
        choices = [(int(codecs.VARINT), end, self._zstd.compress(self._spare.data[:end]))]
        if codec == codecs.BITMAP:
            choices.append((codec, len(body), self._zstd.compress(body)))
        best = min(choices, key=lambda choice: len(choice[2]))
        return best if len(best[2]) < len(body) else (codec, len(body), b"")
