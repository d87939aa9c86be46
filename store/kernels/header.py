"""The header of a block as kernels write and read it: seven words, described in store/FORMAT.md."""

from __future__ import annotations

from typing import Any

from store.kernels.bits import U64
from store.kernels.jit import kernel, load64, store64

MAGIC = b"xblk"
VERSION = 1
PAYLOAD_LISTED = 4
"""The flag of a payload that names listed values."""

SIZE = U64(56)
BEGUN = U64(int.from_bytes(MAGIC, "little") | VERSION << 32)
W1, W2, W3, W4, W5, W6 = U64(8), U64(16), U64(24), U64(32), U64(40), U64(48)
S32, S40, S48, S56 = U64(32), U64(40), U64(48), U64(56)
HALF, BYTE = U64(0xFFFFFFFF), U64(0xFF)


@kernel
def write_header(
    out: Any,
    at: Any,
    codec: Any,
    flags: Any,
    bits: Any,
    shift: Any,
    ends: Any,
    lengths: Any,
) -> None:
    """Write the header of a block without zstd to out[at:], all but its checksum.

    bits: of the payload; ends: (keys, the first, the last); lengths: of the body, of the payload.
    """
    keys, first, last = ends
    both = lengths[0] | lengths[1] << S32
    store64(out, at + W1, BEGUN | codec << S40 | flags << S48 | bits << S56)
    store64(out, at + W2, keys | shift << S32)
    store64(out, at + W3, first)
    store64(out, at + W4, last)
    store64(out, at + W5, both)
    store64(out, at + W6, both)


@kernel
def read_lengths(data: Any, at: Any) -> Any:
    """(codec, lengths of body and payload before zstd) of the block at data[at:]."""
    both = load64(data, at + W6)
    return load64(data, at + W1) >> S40 & BYTE, (both & HALF, both >> S32)


@kernel
def read_bounds(data: Any, at: Any) -> Any:
    """(n, shift, first, last), as the codec's decode takes them, of the block at data[at:]."""
    counts = load64(data, at + W2)
    return counts & HALF, counts >> S32, load64(data, at + W3), load64(data, at + W4)
