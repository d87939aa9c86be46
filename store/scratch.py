"""Reading blocks: one thread's buffers, in which a block is checked and decoded."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from store.block import (
    BODY_ZSTD,
    HEADER,
    PAYLOAD_TYPES,
    PAYLOAD_ZSTD,
    BlockFault,
    BlockHeader,
    Bytes,
    Keys,
    read_header,
)
from store.kernels import codec as codecs

U64 = np.uint64

_FAULTS = {
    int(codecs.TOO_SHORT): "the body is shorter than its keys",
    int(codecs.TOO_LONG): "the body is longer than its keys",
    int(codecs.NOT_ASCENDING): "the keys do not ascend",
    int(codecs.WRONG_COUNT): "the body does not hold as many keys as the header counts",
    int(codecs.WRONG_LAST): "the last key is not the header's",
    int(codecs.BAD_TABLE): "the table of classes is not legal",
}

NO_PAYLOAD: npt.NDArray[Any] = np.empty(0, np.uint8)


class Scratch:
    """The read and decode buffers of one worker thread, kept between blocks.

    It serves one reader at a time: whoever reads two layers in step needs two of them. It takes
    about 1.5 MB.
    """

    READ_BYTES = 1 << 20
    """Bytes read at once; no block is longer."""

    def __init__(self) -> None:
        self.read: Bytes = np.zeros(self.READ_BYTES + codecs.PAD, np.uint8)
        self._keys: Keys = np.empty(1 << 12, np.uint64)
        self._body: Bytes = np.zeros(codecs.PAD, np.uint8)
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
        if header.keys > self._keys.size:
            self._keys = np.empty(header.keys, np.uint64)
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
            self._keys,
        )
        if fault != codecs.OK:
            raise BlockFault(_FAULTS[int(fault)])
        return header, self._keys[: header.keys]

    def payload(self, at: int, header: BlockHeader) -> npt.NDArray[Any]:
        """The payload of the block at read[at:], whose header is given; one integer a key.

        dtype uint8, uint16 or uint32 by its width; empty when the block has none. A view, valid
        until the next payload is decoded. Raises BlockFault.
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
        values: npt.NDArray[Any] = column.view(PAYLOAD_TYPES[header.payload_bits])
        return values

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
