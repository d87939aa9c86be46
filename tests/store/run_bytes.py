"""Builds runs for the tests, and takes them apart and seals them again to forge what is inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from typing_extensions import Buffer
from xxhash import xxh3_64_intdigest

from store.block import HEADER, BlockHeader
from store.errors import IntegrityError
from store.layer import Layer
from store.run import RunBuilder, RunMeta


class Memory:
    """A source of bytes that are kept in a dictionary; counts its reads."""

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.files = files or {}
        self.reads = 0

    def pread(self, file: str, offset: int, length: int, buffer: Buffer) -> None:
        self.reads += 1
        data = self.files[file][offset : offset + length]
        if len(data) != length:
            raise IntegrityError(file, "?", "the file is too short")
        memoryview(buffer).cast("B")[:length] = data


def build(
    keys: Sequence[int], payload: Sequence[int] | None = None, **options: Any
) -> tuple[RunMeta, bytes]:
    """One run of `keys`, handed to the builder in one piece."""
    builder = RunBuilder(**options)
    column = None if payload is None else np.array(payload, np.uint32)
    builder.append(np.array(keys, np.uint64), column)
    meta, data = builder.finish()
    return meta, bytes(data)


def layer_of(*runs: tuple[RunMeta, bytes]) -> Layer:
    """A layer whose runs lie one behind the other in a single file."""
    data = b""
    metas = []
    for meta, part in runs:
        metas.append(meta.placed("layer", len(data)))
        data += part
    return Layer(Memory({"layer": data}), 7, metas)


def blocks_of(meta: RunMeta, data: bytes) -> list[tuple[int, BlockHeader]]:
    """(where it begins, its header) of every block."""
    found = []
    at = 0
    while at < meta.index_offset:
        header = BlockHeader(*HEADER.unpack_from(data, at))
        found.append((at, header))
        at += HEADER.size + header.stored_body + header.stored_payload
    return found


def sealed(block: bytes) -> bytes:
    """The block with the checksum that its bytes call for."""
    return xxh3_64_intdigest(block[8:]).to_bytes(8, "little") + block[8:]


def reheaded(block: bytes, **fields: Any) -> bytes:
    """The block with other header fields, sealed again."""
    header = BlockHeader(*HEADER.unpack_from(block))._replace(**fields)
    return sealed(HEADER.pack(*header) + block[HEADER.size :])
