"""A block: ascending keys of one key range, their payload, and the checksum that guards them.

The bytes are described in store/FORMAT.md.
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

U64 = np.uint64
Keys = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

MAGIC = b"xblk"
VERSION = 1
HEADER = struct.Struct("<Q4sBBBBIIQQIII4x")
"""checksum, magic, version, codec, flags, payload bits, count, shift, first, last, body length as
stored, payload length as stored, body length before zstd, zero."""

BODY_ZSTD = 1
PAYLOAD_ZSTD = 2

MAX_BLOCK_KEYS = 1 << 16
PAYLOAD_TYPES: dict[int, np.dtype[Any]] = {
    8: np.dtype("<u1"),
    16: np.dtype("<u2"),
    32: np.dtype("<u4"),
}
"""numpy types of the payload by its width in bits; width 0 is no payload."""

NO_PAYLOAD: npt.NDArray[Any] = np.empty(0, np.uint8)

_FAULTS = {
    int(codecs.TOO_SHORT): "the body is shorter than its keys",
    int(codecs.TOO_LONG): "the body is longer than its keys",
    int(codecs.NOT_ASCENDING): "the keys do not ascend",
    int(codecs.WRONG_COUNT): "the body does not hold as many keys as the header counts",
    int(codecs.WRONG_LAST): "the last key is not the header's",
    int(codecs.BAD_TABLE): "the table of classes is not legal",
}


class BlockFault(Exception):
    """What is wrong with a block; the reader adds where, and raises IntegrityError."""


class BlockHeader(NamedTuple):
    """The fields of a block's header, checked against each other."""

    codec: int
    flags: int
    payload_bits: int
    keys: int
    shift: int
    first: int
    last: int
    stored_body: int
    stored_payload: int
    body: int
    checksum: int


def max_body(count: int) -> int:
    """An upper bound of the bytes that a body of `count` keys has."""
    return 9 + 9 * count


def max_stored(count: int, payload_bits: int) -> int:
    """An upper bound of the bytes that a block of `count` keys has."""
    return HEADER.size + max_body(count) + count * payload_bits // 8


def read_header(data: memoryview) -> BlockHeader:
    """The header of the block which is exactly `data`, its checksum and all its fields checked.

    Raises BlockFault, or UnknownVersion when all is well but the version.
    """
    length = len(data)
    if length < HEADER.size:
        raise BlockFault("it is shorter than a header")
    (
        checksum,
        magic,
        version,
        codec,
        flags,
        payload_bits,
        count,
        shift,
        first,
        last,
        stored_body,
        stored_payload,
        body,
    ) = HEADER.unpack_from(data)
    if xxh3_64_intdigest(data[8:]) != checksum:
        raise BlockFault("the checksum is wrong")
    if magic != MAGIC:
        raise BlockFault("it does not begin like a block")
    if version != VERSION:
        raise UnknownVersion("a block", version, VERSION)
    if not 1 <= count <= MAX_BLOCK_KEYS:
        raise BlockFault(f"it counts {count} keys; 1 to {MAX_BLOCK_KEYS} are possible")
    if HEADER.size + stored_body + stored_payload != length:
        raise BlockFault("the lengths of its parts do not add up to its length")
    if codec > codecs.OCTAVES or flags > (BODY_ZSTD | PAYLOAD_ZSTD) or shift > 63:
        raise BlockFault("it is written in an unknown way")
    if last - first < count - 1 or (count == 1 and first != last):
        raise BlockFault("its first and last key leave no room for its count")
    if body > max_body(count) or not (flags & BODY_ZSTD or body == stored_body):
        raise BlockFault("the length of its body is impossible")
    if payload_bits != 0 and payload_bits not in PAYLOAD_TYPES:
        raise BlockFault(f"its payload has {payload_bits} bits; 0, 8, 16 or 32 are possible")
    if not flags & PAYLOAD_ZSTD and stored_payload != count * payload_bits // 8:
        raise BlockFault("the length of its payload is impossible")
    return BlockHeader(
        codec,
        flags,
        payload_bits,
        count,
        shift,
        first,
        last,
        stored_body,
        stored_payload,
        body,
        checksum,
    )


class BlockEncoder:
    """Writes blocks to the end of a buffer that grows; not thread-safe.

    profile: "fast" stores bodies as they are; "compact" puts zstd around what it shortens.
    """

    def __init__(self, payload_bits: int, profile: str) -> None:
        if payload_bits != 0 and payload_bits not in PAYLOAD_TYPES:
            raise ValueError(f"a payload has 0, 8, 16 or 32 bits, not {payload_bits}")
        if profile not in ("fast", "compact"):
            raise ValueError(f'a profile is "fast" or "compact", not {profile!r}')
        self.buffer: Bytes = np.empty(1 << 16, np.uint8)
        self.length = 0
        self._payload_bits = payload_bits
        self._compact = profile == "compact"
        self._zstd = zstandard.ZstdCompressor(level=1)
        self._work = np.empty(codecs.WORK, np.uint64)

    def reserve(self, room: int) -> None:
        """Make sure that `room` bytes fit behind the end of the buffer."""
        if self.length + room > self.buffer.size:
            grown = np.empty(max(self.length + room, self.buffer.size * 3 // 2), np.uint8)
            grown[: self.length] = self.buffer[: self.length]
            self.buffer = grown

    def add(self, keys: Keys, payload: npt.NDArray[Any] | None) -> int:
        """Append the block of `keys`, strictly ascending; its checksum.

        keys: 1 to MAX_BLOCK_KEYS; payload: one unsigned integer a key, of the encoder's width.
        """
        count = keys.size
        self.reserve(max_stored(count, self._payload_bits) + codecs.PAD)
        at = self.length
        start = at + HEADER.size
        codec, shift, end = codecs.encode(keys, U64(count), self.buffer, U64(start), self._work)
        end = int(end)
        body = end - start
        flags = 0
        if self._compact and body > 64:
            end, packed = self._pack(self.buffer.data[start:end], start, end)
            flags |= BODY_ZSTD if packed else 0
        stored_body = end - start
        if payload is not None:
            start = end
            column = payload.astype(PAYLOAD_TYPES[self._payload_bits]).data.cast("B")
            end += len(column)
            self.buffer[start:end] = column
            end, packed = self._pack(column, start, end)
            flags |= PAYLOAD_ZSTD if packed else 0
            stored_payload = end - start
        else:
            stored_payload = 0
        HEADER.pack_into(
            self.buffer.data,
            at,
            0,
            MAGIC,
            VERSION,
            int(codec),
            flags,
            self._payload_bits,
            count,
            int(shift),
            int(keys[0]),
            int(keys[-1]),
            stored_body,
            stored_payload,
            body,
        )
        checksum = xxh3_64_intdigest(self.buffer.data[at + 8 : end])
        struct.pack_into("<Q", self.buffer.data, at, checksum)
        self.length = end
        return checksum

    def _pack(self, plain: memoryview, start: int, end: int) -> tuple[int, bool]:
        """Put a zstd frame of `plain` at `start` if it is shorter; (the new end, whether it is)."""
        frame = self._zstd.compress(plain)
        if len(frame) >= end - start:
            return end, False
        end = start + len(frame)
        self.buffer[start:end] = np.frombuffer(frame, np.uint8)
        return end, True


class Scratch:
    """The read and decode buffers of one worker thread, kept between blocks."""

    READ_BYTES = 1 << 20

    def __init__(self) -> None:
        self.read: Bytes = np.zeros(self.READ_BYTES + codecs.PAD, np.uint8)
        self.keys: Keys = np.empty(1 << 12, np.uint64)
        self._body: Bytes = np.zeros(0, np.uint8)
        self._payload: npt.NDArray[np.uint32] = np.empty(0, np.uint32)
        self._work = np.empty(codecs.WORK, np.uint64)
        self._zstd = zstandard.ZstdDecompressor()
        self._turn = 0

    def begin(self) -> int:
        """Take the read buffer for one reader; the number of its turn."""
        self._turn += 1
        return self._turn

    def check(self, turn: int) -> None:
        """Refuse to go on when another reader has taken the buffer since."""
        if turn != self._turn:
            raise RuntimeError("a Scratch serves one reader at a time; give each its own")

    def decode(self, at: int, length: int) -> tuple[BlockHeader, Keys]:
        """Check and decode the block read[at:at + length]; its header and its keys.

        The keys are a view, valid until the next block is decoded. Raises BlockFault or
        UnknownVersion before any key is handed out.
        """
        header = read_header(self.read.data[at : at + length])
        if header.keys > self.keys.size:
            self.keys = np.empty(header.keys, np.uint64)
        data, start = self.read, at + HEADER.size
        if header.flags & BODY_ZSTD:
            if self._body.size < header.body + codecs.PAD:
                self._body = np.zeros(header.body + codecs.PAD, np.uint8)
            self._unpack(start, header.stored_body, self._body[: header.body])
            data, start = self._body, 0
        fault = codecs.decode(
            U64(header.codec),
            data,
            U64(start),
            U64(header.body),
            U64(header.keys),
            U64(header.shift),
            U64(header.first),
            U64(header.last),
            self._work,
            self.keys,
        )
        if fault != codecs.OK:
            raise BlockFault(_FAULTS[int(fault)])
        return header, self.keys[: header.keys]

    def payload(self, at: int, header: BlockHeader) -> npt.NDArray[Any]:
        """The payload of the block at read[at:], whose header is given; one integer a key.

        dtype uint8, uint16 or uint32 by its width; empty when the block has none. A view, valid
        until the next block is decoded. Raises BlockFault.
        """
        if header.payload_bits == 0:
            return NO_PAYLOAD
        size = header.keys * header.payload_bits // 8
        if self._payload.nbytes < size:
            self._payload = np.empty(size // 4 + 1, np.uint32)
        column = self._payload.view(np.uint8)[:size]
        start = at + HEADER.size + header.stored_body
        if header.flags & PAYLOAD_ZSTD:
            self._unpack(start, header.stored_payload, column)
        else:
            column[:] = self.read[start : start + size]
        return column.view(PAYLOAD_TYPES[header.payload_bits])

    def _unpack(self, start: int, length: int, target: Bytes) -> None:
        """Decompress the frame read[start:start + length], which must fill `target` exactly."""
        frame = self.read.data[start : start + length]
        try:
            if zstandard.frame_content_size(frame) != target.size:
                raise BlockFault("a zstd frame has another length than the header says")
            plain = self._zstd.decompress(
                frame, max_output_size=target.size, allow_extra_data=False
            )
        except zstandard.ZstdError as error:
            raise BlockFault(f"zstd refuses it ({error})") from None
        if len(plain) != target.size:
            raise BlockFault("a zstd frame has another length than the header says")
        target[:] = np.frombuffer(plain, np.uint8)
