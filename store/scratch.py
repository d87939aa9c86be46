"""Reading blocks: one thread's buffers, in which a block is checked and decoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from store.block import (
    BODY_ZSTD,
    HEADER,
    PAYLOAD_LISTED,
    PAYLOAD_TYPES,
    PAYLOAD_ZSTD,
    BlockFault,
    BlockHeader,
    Bytes,
    Keys,
    read_header,
)
from store.kernels import codec as codecs
from store.kernels import column as columns
from store.kernels import records

U64 = np.uint64

_FAULTS = {
    int(codecs.TOO_SHORT): "the body is shorter than its keys",
    int(codecs.TOO_LONG): "the body is longer than its keys",
    int(codecs.NOT_ASCENDING): "the keys do not ascend",
    int(codecs.WRONG_COUNT): "the body does not hold as many keys as the header counts",
    int(codecs.WRONG_LAST): "the last key is not the header's",
    int(codecs.BAD_TABLE): "the table of classes is not legal",
}
_PAYLOAD_FAULTS = {
    int(columns.TOO_SHORT): "the payload is shorter than its keys",
    int(columns.TOO_LONG): "the payload is longer than its keys",
    int(columns.BAD_TABLE): "the width of the payload's values is impossible",
    int(columns.BAD_CODE): "the payload names a value that is not listed",
}

NO_PAYLOAD: npt.NDArray[Any] = np.empty(0, np.uint8)


@dataclass(slots=True)
class Target:
    """Arrays that records are decoded straight into; the next one goes to position `at`.

    keys: uint64; payload: of the type of the layer's payload, as long as keys.
    """

    keys: Keys
    payload: npt.NDArray[Any]
    at: int = 0

    @property
    def room(self) -> int:
        """How many records more fit."""
        return int(self.keys.size) - self.at


class Scratch:
    """The read and decode buffers of one worker thread, kept between blocks.

    It serves one reader at a time: whoever reads two layers in step needs two of them. It takes
    about 2.5 MB.
    """

    READ_BYTES = 1 << 21
    """Bytes read at once; no block is longer."""

    def __init__(self) -> None:
        self.read: Bytes = np.zeros(self.READ_BYTES + codecs.PAD, np.uint8)
        self._keys: Keys = np.empty(1 << 12, np.uint64)
        self._body: Bytes = np.zeros(codecs.PAD, np.uint8)
        self._payload: npt.NDArray[np.uint32] = np.empty(0, np.uint32)
        self._work = np.empty(codecs.WORK, np.uint64)
        self._table = np.empty(columns.TABLE, np.uint64)
        self._zstd = zstandard.ZstdDecompressor()
        self._turn = 0
        self.held: tuple[object, int, Keys, npt.NDArray[Any]] | None = None
        """The block decoded last: its layer, its number there, its keys and its payload."""

    def begin(self) -> int:
        """Take the read buffer for one reader; the number of its turn."""
        self._turn += 1
        return self._turn

    def check(self, turn: int) -> None:
        """Refuse to go on when another reader has taken the buffer since."""
        if turn != self._turn:
            raise RuntimeError("a Scratch serves one reader at a time; give each its own")

    def decode(
        self, at: int, length: int, wanted: bool = True, target: Target | None = None
    ) -> tuple[BlockHeader, Keys, npt.NDArray[Any]]:
        """Check and decode the block read[at:at + length]; its header, keys and payload.

        The payload is of dtype uint8, uint16 or uint32 by its width, one integer a key; it is empty
        when the block has none or it is not `wanted`. Both are views of the target, or such that
        are valid until the next block is decoded. Raises BlockFault or UnknownVersion before any
        key is handed out.
        """
        self.held = None
        header = read_header(self.read.data[at : at + length])
        keys = self._keys
        if target is not None:
            keys = target.keys[target.at :]
            if header.keys > keys.size:
                raise BlockFault(f"it has {header.keys} keys, and the index counts fewer")
        elif header.keys > keys.size:
            keys = self._keys = np.empty(header.keys, np.uint64)
        start = at + HEADER.size
        if not wanted or header.payload_bits == 0:
            self._body_of(header, start, keys)
            return header, keys[: header.keys], NO_PAYLOAD
        payload = self._column_for(header, target)
        if header.flags == PAYLOAD_LISTED:
            self._records_at(at, keys, payload)
        else:
            self._body_of(header, start, keys)
            self._payload_of(header, start + header.stored_body, payload)
        return header, keys[: header.keys], payload

    def _column_for(self, header: BlockHeader, target: Target | None) -> npt.NDArray[Any]:
        """Where the payload of a block goes."""
        n = header.keys
        column: npt.NDArray[Any]
        if target is not None:
            column = target.payload[target.at : target.at + n]
            if column.dtype != PAYLOAD_TYPES[header.payload_bits]:
                raise BlockFault(f"it has {header.payload_bits} bits of payload")
            return column
        if self._payload.size < n:
            self._payload = np.empty(n, np.uint32)
        column = self._payload.view(PAYLOAD_TYPES[header.payload_bits])[:n]
        return column

    def _records_at(self, at: int, keys: Keys, payload: npt.NDArray[Any]) -> None:
        """Decode body and payload, as they are written in a hurry, in one step."""
        fault, other = records.decode_records(
            self.read, U64(at), self._work, self._table, keys, payload
        )
        if fault != codecs.OK:
            raise BlockFault(_FAULTS[int(fault)])
        if other != columns.OK:
            raise BlockFault(_PAYLOAD_FAULTS[int(other)])

    def _body_of(self, header: BlockHeader, start: int, keys: Keys) -> None:
        """Decode a body into keys."""
        data = self.read
        if header.flags & BODY_ZSTD:
            self._grow_body(header.body)
            self._unpack(start, header.stored_body, self._body[: header.body])
            data, start = self._body, 0
        fault = codecs.decode(
            U64(header.codec),
            data,
            U64(start),
            U64(header.body),
            *_bounds(header),
            self._work,
            keys,
        )
        if fault != codecs.OK:
            raise BlockFault(_FAULTS[int(fault)])

    def _payload_of(self, header: BlockHeader, start: int, column: npt.NDArray[Any]) -> None:
        """Decode a payload into `column`, one integer a key."""
        data = self.read
        listed = header.flags & PAYLOAD_LISTED
        if header.flags & PAYLOAD_ZSTD:
            plain = column.view(np.uint8)
            if listed:
                self._grow_body(header.payload)
                plain = self._body[: header.payload]
            self._unpack(start, header.stored_payload, plain)
            data, start = self._body, 0
        elif not listed:
            column.view(np.uint8)[:] = data[start : start + header.payload]
        if listed:
            n = U64(header.keys)
            fault = columns.decode_column(
                data, U64(start), U64(header.payload), n, self._table, column
            )
            if fault != columns.OK:
                raise BlockFault(_PAYLOAD_FAULTS[int(fault)])

    def _grow_body(self, size: int) -> None:
        """Make room for `size` bytes before zstd, and what a decoder may read behind them."""
        if self._body.size < size + codecs.PAD:
            self._body = np.zeros(size + codecs.PAD, np.uint8)

    def _unpack(self, start: int, length: int, target: Bytes) -> None:
        """Decompress the frame read[start:start + length], which must fill `target` exactly.

        zstd reserves what the frame itself announces, so that is compared first.
        """
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


def _bounds(header: BlockHeader) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """(n, shift, first, last), as the decoders take them."""
    return U64(header.keys), U64(header.shift), U64(header.first), U64(header.last)
