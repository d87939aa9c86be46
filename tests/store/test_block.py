"""Blocks: what the encoder writes is read back, and every way a block can be bad is refused."""

from __future__ import annotations

import resource
import struct

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from store import block
from store.block import (
    BODY_ZSTD,
    HEADER,
    PAYLOAD_LISTED,
    PAYLOAD_TYPES,
    PAYLOAD_ZSTD,
    BlockEncoder,
    BlockFault,
)
from store.errors import UnknownVersion
from store.kernels import codec
from store.scratch import Scratch
from tests.store import naive_codec as naive
from tests.store.key_sets import array, ascending
from tests.store.run_bytes import reheaded, sealed

SCRATCH = Scratch()


def encoded(
    keys: list[int], payload: list[int] | None = None, bits: int = 0, **options: str
) -> bytes:
    encoder = BlockEncoder(bits, options.get("profile", "fast"))
    column = None if payload is None else np.array(payload, np.uint64)
    encoder.add(array(keys), column)
    return encoder.buffer[: encoder.length].tobytes()


def decoded(data: bytes) -> tuple[list[int], list[int]]:
    """(keys, payload) of the block, read from the middle of a dirty buffer."""
    at = 11
    SCRATCH.read[:] = 0xEE
    SCRATCH.read[at : at + len(data)] = np.frombuffer(data, np.uint8)
    _, keys, payload = SCRATCH.decode(at, len(data))
    return keys.tolist(), payload.tolist()


def refused(data: bytes, what: str) -> None:
    with pytest.raises(BlockFault, match=what):
        decoded(data)


@given(ascending(), st.sampled_from(block.PROFILES))
def test_keys_are_read_back(keys: list[int], profile: str) -> None:
    assert decoded(encoded(keys, profile=profile)) == (keys, [])


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("profile", block.PROFILES)
def test_payload_is_read_back(bits: int, profile: str) -> None:
    rng = np.random.default_rng(bits)
    keys = np.cumsum(rng.integers(1, 99, 500, dtype=np.uint64)).tolist()
    for highest in (2**bits, 3):  # incompressible, and compressible
        payload = rng.integers(0, highest, 500, dtype=np.uint64).tolist()
        data = encoded(keys, payload, bits, profile=profile)
        listed = PAYLOAD_LISTED if bits > 8 else 0
        framed = PAYLOAD_ZSTD if profile == "compact" else 0
        flags = block.read_header(memoryview(data)).flags & ~BODY_ZSTD
        assert flags == ((listed | framed) if highest == 3 else 0)
        assert decoded(data) == (keys, payload)


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 40])
def test_the_payload_of_a_small_block_is_never_longer_than_plain(bits: int, count: int) -> None:
    keys = list(range(count))
    for payload in ([0] * count, [2**bits - 1 - i for i in range(count)]):
        data = encoded(keys, payload, bits)
        assert block.read_header(memoryview(data)).payload <= count * bits // 8
        assert decoded(data) == (keys, payload)


@pytest.mark.parametrize("gap", [2, 3, 1000, 2**30, 2**45])
@pytest.mark.parametrize("profile", block.PROFILES)
def test_a_full_block(gap: int, profile: str) -> None:
    rng = np.random.default_rng(gap)
    n = block.MAX_BLOCK_KEYS
    keys = np.cumsum(rng.integers(1, gap, n, dtype=np.uint64)).tolist()
    data = encoded(keys, profile=profile)
    assert len(data) <= block.max_stored(n, 0)
    assert decoded(data) == (keys, [])


def test_compact_is_never_longer_and_sometimes_much_shorter() -> None:
    rng = np.random.default_rng(0)
    regular = np.cumsum(np.tile([1, 5, 5, 300], 5000)).tolist()
    assert len(encoded(regular, profile="compact")) < len(encoded(regular)) // 20
    noise = np.cumsum(rng.integers(1, 2**20, 5000)).tolist()
    assert len(encoded(noise, profile="compact")) <= len(encoded(noise))


GOOD = encoded([5, 6, 9, 100, 101, 5000], [1, 2, 3, 4, 5, 6], 8)
FRAMED = encoded([7 * i for i in range(1, 3000)], [4] * 2999, 16, profile="compact")


LISTED = encoded(list(range(30)), [300, 2**20, 5] * 10, 32)


@pytest.mark.parametrize("good", [GOOD, LISTED])
def test_every_flipped_bit_is_detected(good: bytes) -> None:
    for at in range(len(good)):
        for bit in range(8):
            bad = bytearray(good)
            bad[at] ^= 1 << bit
            refused(bytes(bad), "checksum")


def test_every_truncation_is_detected() -> None:
    for length in range(len(GOOD)):
        refused(GOOD[:length], "checksum|shorter than a header")


class TestForgedHeader:
    """The checksum is right and the header still nonsense."""

    @pytest.mark.parametrize(
        ("fields", "what"),
        [
            ({"keys": 0}, "counts 0 keys"),
            ({"keys": 2**32 - 1}, "counts 4294967295 keys"),
            ({"keys": 5}, "payload is impossible"),
            ({"keys": 7, "stored_payload": 7}, "do not add up"),
            ({"codec": 5}, "unknown way"),
            ({"flags": 8}, "unknown way"),
            ({"flags": PAYLOAD_LISTED}, "too narrow"),
            ({"payload": 5}, "payload is impossible"),
            ({"payload": 7}, "payload is impossible"),
            ({"payload_bits": 16}, "payload is impossible"),
            ({"payload_bits": 16, "flags": PAYLOAD_LISTED}, "payload is shorter"),
            ({"shift": 64}, "unknown way"),
            ({"first": 5001}, "no room"),
            ({"last": 9}, "no room"),
            ({"last": 4999}, "last key"),
            ({"first": 4}, "last key"),
            ({"stored_body": 2**32 - 1}, "do not add up"),
            ({"stored_payload": 2**32 - 1}, "do not add up"),
            ({"body": 2**32 - 1}, "body is impossible"),
            ({"body": 3}, "body is impossible"),
            ({"payload_bits": 64}, "64 bits"),
            ({"payload_bits": 0}, "payload is impossible"),
            ({"flags": BODY_ZSTD}, "zstd"),
            ({"flags": PAYLOAD_ZSTD}, "zstd"),
        ],
    )
    def test_is_refused(self, fields: dict[str, int], what: str) -> None:
        refused(reheaded(GOOD, **fields), what)

    def test_wrong_magic(self) -> None:
        refused(sealed(GOOD[:8] + b"yblk" + GOOD[12:]), "does not begin like a block")

    def test_another_version_is_refused_by_name(self) -> None:
        with pytest.raises(UnknownVersion, match=r"version 2.*version 1"):
            decoded(reheaded(GOOD, version=2))

    @pytest.mark.parametrize("other", [codec.RAW, codec.BITMAP, codec.OCTAVES, codec.VARINT])
    def test_another_codec(self, other: np.uint64) -> None:
        header = block.read_header(memoryview(GOOD))
        if header.codec != other:
            with pytest.raises(BlockFault):
                decoded(reheaded(GOOD, codec=int(other)))


class TestForgedList:
    """The checksum is right, and the payload that is LISTED is nonsense."""

    START = len(LISTED) - block.read_header(memoryview(LISTED)).payload

    def test_the_list_itself_is_good(self) -> None:
        assert block.read_header(memoryview(LISTED)).flags == PAYLOAD_LISTED
        assert LISTED[self.START : self.START + 5] == bytes([21, 3, 0, 1, 2])
        assert decoded(LISTED) == (list(range(30)), [300, 2**20, 5] * 10)

    @pytest.mark.parametrize(
        ("at", "value", "what"),
        [
            (0, 33, "width"),
            (0, 22, "longer|shorter"),
            (0, 0, "longer"),
            (1, 2, "not listed"),
            (1, 4, "shorter"),
            (2, 3, "not listed"),
            (2, 255, "shorter"),
        ],
    )
    def test_is_refused(self, at: int, value: int, what: str) -> None:
        bad = bytearray(LISTED)
        bad[self.START + at] = value
        refused(sealed(bytes(bad)), what)

    @pytest.mark.parametrize("length", [0, 1, 2, 31, 32, 39, 41, 100])
    def test_of_another_length_is_refused(self, length: int) -> None:
        payload = (LISTED[self.START :] + bytes(100))[:length]
        forged = LISTED[: self.START] + payload
        refused(reheaded(forged, payload=length, stored_payload=length), "longer|shorter")

    @given(st.binary(max_size=119))
    def test_noise_is_refused_or_read(self, noise: bytes) -> None:
        forged = LISTED[: self.START] + noise
        data = reheaded(forged, payload=len(noise), stored_payload=len(noise))
        try:
            expected = naive.read_listed(noise + bytes(max(0, 2 - len(noise))), 30, 32)
        except ValueError:
            refused(data, "payload")
        else:
            assert decoded(data)[1] == expected


class TestForgedFrame:
    """A zstd frame that would fill memory, or that is not one."""

    def forged(self, frame: bytes) -> bytes:
        header = block.read_header(memoryview(FRAMED))
        payload = FRAMED[HEADER.size + header.stored_body :]
        return reheaded(FRAMED[: HEADER.size] + frame + payload, stored_body=len(frame))

    def test_the_frame_itself_is_good(self) -> None:
        header = block.read_header(memoryview(FRAMED))
        assert header.flags == BODY_ZSTD | PAYLOAD_ZSTD | PAYLOAD_LISTED
        frame = FRAMED[HEADER.size : HEADER.size + header.stored_body]
        assert decoded(self.forged(frame)) == decoded(FRAMED)
        refused(self.forged(frame + b"\0"), "zstd")
        refused(self.forged(frame[:-1]), "zstd")
        refused(self.forged(b""), "zstd")

    def test_a_bomb_takes_no_memory(self) -> None:
        bomb = zstandard.ZstdCompressor(level=1).compress(bytes(1 << 28))
        claim = bytes.fromhex("28b52ffd") + b"\xe0" + struct.pack("<Q", 1 << 62) + bomb[9:]
        unsized = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(1 << 28))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for frame in (bomb, claim, unsized):
            refused(self.forged(frame), "zstd")
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB


@pytest.mark.parametrize("bits", [1, 7, 64, -8])
def test_odd_payload_widths_are_refused(bits: int) -> None:
    with pytest.raises(ValueError, match="0, 8, 16 or 32"):
        BlockEncoder(bits, "fast")


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(ValueError, match='"fast", "swift" or "compact", not \'small\''):
        BlockEncoder(0, "small")


@pytest.mark.parametrize("profile", ["fast", "swift", "compact"])
@given(
    st.lists(st.tuples(st.integers(0, 999), st.integers(0, 200)), min_size=1, max_size=300),
    st.sampled_from([8, 16, 32]),
    st.booleans(),
)
def test_records_in_one_step_are_the_block_that_add_writes(profile, records, bits, dense):
    records = sorted({(key if dense else key**5): value for key, value in records}.items())
    keys = array([key for key, _ in records])
    payload = np.array([value for _, value in records], PAYLOAD_TYPES[bits])
    one, other = BlockEncoder(bits, profile), BlockEncoder(bits, profile)
    checksum, mixed, both = one.add_records(keys, payload)
    assert checksum == other.add(keys, payload)
    assert bytes(one.buffer[: one.length]) == bytes(other.buffer[: other.length])
    assert mixed == naive.fingerprint(keys.tolist())
    assert both == naive.record_fingerprint(keys.tolist(), payload.tolist())


@pytest.mark.parametrize("profile", ["fast", "swift", "compact"])
@pytest.mark.parametrize("bits", [8, 32])
def test_records_that_do_not_ascend_are_not_written(profile, bits):
    encoder = BlockEncoder(bits, profile)
    for keys in ([3, 3], [5, 4], [1, 9, 2]):
        with pytest.raises(ValueError, match="ascend strictly"):
            encoder.add_records(array(keys), np.zeros(len(keys), PAYLOAD_TYPES[bits]))
    assert encoder.length == 0
