"""Every codec against its naive twin, and against bytes that nobody wrote in good faith."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.kernels import codec, fingerprint, octaves
from tests.store import naive_codec as naive
from tests.store.key_sets import TOP, array, ascending

pytestmark = pytest.mark.kernels

U64 = np.uint64
GUARD = 0xAA


def work() -> np.ndarray:
    return np.zeros(codec.WORK, np.uint64)


def encode(keys: list[int], encoder: Any = codec.encode) -> tuple[int, int, bytes]:
    """(codec, shift, body), having checked that nothing before or far behind it was written."""
    before = 5
    room = 9 + 9 * len(keys) + codec.PAD
    out = np.full(before + room + 64, GUARD, np.uint8)
    chosen, shift, end = encoder(array(keys), U64(len(keys)), out, U64(before), work())
    assert (out[:before] == GUARD).all()
    assert (out[before + room :] == GUARD).all()
    return int(chosen), int(shift), out[before : int(end)].tobytes()


def decode(
    chosen: int, body: bytes, count: int, shift: int, first: int, last: int
) -> tuple[int, list[int]]:
    """(fault, keys), having checked that only keys[:count] were written."""
    before = 3
    data = np.full(before + len(body) + codec.PAD, 0xFF, np.uint8)
    data[before : before + len(body)] = np.frombuffer(body, np.uint8)
    keys = np.full(count + 50, 7, np.uint64)
    fault = codec.decode(
        U64(chosen),
        data,
        U64(before),
        U64(len(body)),
        U64(count),
        U64(shift),
        U64(first),
        U64(last),
        work(),
        keys,
    )
    assert (keys[count:] == 7).all()
    return int(fault), [int(key) for key in keys[:count]]


def bodies(keys: list[int]) -> dict[int, tuple[int, bytes]]:
    """The naive body of every codec that serves for the keys: {codec: (shift, body)}."""
    shift = naive.shift_of(keys)
    every = {
        int(codec.RAW): (0, naive.raw(keys)),
        int(codec.VARINT): (shift, naive.varint(keys, shift)),
        int(codec.BYTES): (shift, naive.gap_bytes(keys, shift, naive.size_of(keys, shift))),
    }
    if (keys[-1] - keys[0]) >> shift < 20_000:
        every[int(codec.BITMAP)] = (shift, naive.bitmap(keys, shift))
    top = max([gap.bit_length() for gap in naive.gaps_of(keys, shift)], default=0)
    starts, _ = octaves.plan_octaves(array(keys), U64(len(keys)), U64(shift), U64(top), work())
    every[int(codec.OCTAVES)] = (shift, naive.octaves(keys, shift, int(starts), top))
    return every


@given(ascending())
def test_the_chosen_body_is_the_shortest_and_is_read_back(keys: list[int]) -> None:
    chosen, shift, body = encode(keys)
    every = bodies(keys)
    del every[int(codec.VARINT)], every[int(codec.BYTES)]
    # With one bit length too many in the OR of all gaps the classes may differ from the naive ones.
    assert len(body) <= min(len(other) for _, other in every.values()) + 9
    if chosen == codec.OCTAVES:
        assert naive.octaves(keys, shift, int.from_bytes(body[:8], "little"), body[8]) == body
        assert naive.read_octaves(body, len(keys), keys[0], shift) == keys
    else:
        assert every[chosen] == (shift, body)
    assert decode(chosen, body, len(keys), shift, keys[0], keys[-1]) == (0, keys)


@given(st.one_of(ascending(least=2), st.integers(2, 400).map(lambda n: list(range(0, 60 * n, 60)))))
def test_the_swift_body_is_bytes_where_they_are_few(keys: list[int]) -> None:
    chosen, shift, body = encode(keys, codec.encode_swift)
    every = bodies(keys)
    swift = every[int(codec.BYTES)]
    slots = (keys[-1] - keys[0]) >> naive.shift_of(keys)
    bitmap = (slots // 64 + 1) * 8
    if bitmap > len(keys) and len(swift[1]) <= min(bitmap, 2 * len(keys)):
        assert (chosen, shift, body) == (int(codec.BYTES), *swift)
    else:
        assert (chosen, shift, body) == encode(keys)
    assert decode(chosen, body, len(keys), shift, keys[0], keys[-1]) == (0, keys)


@given(ascending(least=2), st.integers(0, 8))
def test_bytes_read_any_size_of_escapes_that_serves(keys: list[int], size: int) -> None:
    shift = naive.shift_of(keys)
    size = max(size, naive.size_of(keys, shift))
    body = naive.gap_bytes(keys, shift, size)
    assert decode(int(codec.BYTES), body, len(keys), shift, keys[0], keys[-1]) == (0, keys)
    worse = bytes([9]) + body[1:]
    assert decode(int(codec.BYTES), worse, len(keys), shift, keys[0], keys[-1])[0] != codec.OK


def test_bytes_of_many_chunks() -> None:
    rng = np.random.default_rng(8)
    gaps = np.where(
        rng.random(5000) < 0.03, rng.integers(200, 2**33, 5000), rng.integers(1, 256, 5000)
    )
    keys = [5, *(int(key) for key in 5 + np.cumsum(gaps))]
    chosen, shift, body = encode(keys, codec.encode_swift)
    assert chosen == codec.BYTES
    assert body == naive.gap_bytes(keys, shift, 5)
    assert decode(chosen, body, len(keys), shift, keys[0], keys[-1]) == (0, keys)


@given(ascending())
def test_every_codec_reads_its_naive_twin(keys: list[int]) -> None:
    for chosen, (shift, body) in bodies(keys).items():
        assert decode(chosen, body, len(keys), shift, keys[0], keys[-1]) == (0, keys)


@given(ascending())
def test_varint_is_written_like_its_naive_twin(keys: list[int]) -> None:
    shift = naive.shift_of(keys)
    out = np.full(10 * len(keys) + 8, GUARD, np.uint8)
    end = int(codec.encode_varint(array(keys), U64(len(keys)), U64(shift), out, U64(3)))
    assert out[3:end].tobytes() == naive.varint(keys, shift)
    assert (out[end:] == GUARD).all()


@given(st.data())
def test_any_table_of_classes_serves(data: st.DataObject) -> None:
    keys = data.draw(ascending(least=2, most=60))
    top = max(gap.bit_length() for gap in naive.gaps_of(keys, 0))
    begins = data.draw(st.sets(st.integers(0, min(top, 63)), max_size=15))
    starts = sum(1 << b for b in begins | {0})
    table = work()
    assert octaves.fill_classes(U64(starts), U64(top), table) == len(begins | {0})
    out = np.zeros(9 + 9 * len(keys) + codec.PAD, np.uint8)
    end = octaves.encode_octaves(
        array(keys), U64(len(keys)), U64(0), U64(starts), U64(top), table, out, U64(0)
    )
    body = out[: int(end)].tobytes()
    assert body == naive.octaves(keys, 0, starts, top)
    assert decode(int(codec.OCTAVES), body, len(keys), 0, keys[0], keys[-1]) == (0, keys)


@given(ascending(least=3))
def test_a_plan_is_a_legal_table_and_costs_what_it_says(keys: list[int]) -> None:
    shift = naive.shift_of(keys)
    gaps = naive.gaps_of(keys, shift)
    top = max(gap.bit_length() for gap in gaps)
    starts, bits = octaves.plan_octaves(array(keys), U64(len(keys)), U64(shift), U64(top), work())
    assert octaves.fill_classes(U64(starts), U64(top), work()) > 0
    body = naive.octaves(keys, shift, int(starts), top)
    nibbles = 4 * (len(gaps) % 2)
    assert (int(bits) + nibbles + 7) // 8 == len(body) - 9


@given(
    st.sampled_from([codec.RAW, codec.BITMAP, codec.OCTAVES, codec.VARINT, codec.BYTES]),
    st.binary(max_size=300),
    st.integers(1, 120),
    st.integers(0, 63),
    st.integers(0, TOP),
    st.integers(0, TOP),
)
def test_noise_is_refused_or_ascends(
    chosen: np.uint64, body: bytes, count: int, shift: int, a: int, b: int
) -> None:
    first, last = min(a, b), max(a, b)
    fault, keys = decode(int(chosen), body, count, shift, first, last)
    if fault == codec.OK:
        assert keys[0] == first
        assert keys[-1] == last
        assert all(x < y for x, y in pairwise(keys))


@given(
    st.sets(st.integers(0, 63), max_size=15),
    st.integers(0, 64),
    st.binary(max_size=200),
    st.integers(1, 200),
    st.sampled_from([0, 1, 40]),
)
def test_noise_behind_a_legal_table_is_refused_or_ascends(
    begins: set[int], top: int, rest: bytes, count: int, shift: int
) -> None:
    table = sum(1 << b for b in begins | {0} if b <= top).to_bytes(8, "little") + bytes([top])
    chosen = int(codec.OCTAVES)
    fault, keys = decode(chosen, table + rest, count, shift, 5, 2**63)
    if fault == codec.WRONG_LAST:  # with the right last key it may be taken for good
        fault, keys = decode(chosen, table + rest, count, shift, 5, keys[-1])
    if fault == codec.OK:
        assert keys[0] == 5
        assert all(x < y for x, y in pairwise(keys))


@given(st.data())
def test_a_changed_byte_never_gives_keys_that_do_not_ascend(data: st.DataObject) -> None:
    keys = data.draw(ascending(least=2))
    chosen = data.draw(st.sampled_from(sorted(bodies(keys))))
    shift, body = bodies(keys)[chosen]
    at = data.draw(st.integers(0, max(0, len(body) - 1)))
    changed = body[:at] + bytes([body[at] ^ data.draw(st.integers(1, 255))]) + body[at + 1 :]
    fault, got = decode(chosen, changed, len(keys), shift, keys[0], keys[-1])
    if fault == codec.OK:
        assert (got[0], got[-1]) == (keys[0], keys[-1])
        assert all(x < y for x, y in pairwise(got))


@given(ascending(least=2, most=60))
def test_a_body_cut_short_or_with_bytes_too_many_is_refused(keys: list[int]) -> None:
    for chosen, (shift, body) in bodies(keys).items():
        for length in range(len(body)):
            fault, _ = decode(chosen, body[:length], len(keys), shift, keys[0], keys[-1])
            assert fault != codec.OK
        for more in (1, 8, 9):
            fault, _ = decode(chosen, body + bytes(more), len(keys), shift, keys[0], keys[-1])
            assert fault != codec.OK


@given(ascending(most=60), st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3))
def test_a_wrong_count_or_end_is_refused(
    keys: list[int], count: int, first: int, last: int
) -> None:
    claim = (max(1, len(keys) + count), max(0, keys[0] + first), max(0, keys[-1] + last))
    truth = (len(keys), keys[0], keys[-1])
    if claim == truth or claim[1] > claim[2] or claim[2] > TOP:
        return
    for chosen, (shift, body) in bodies(keys).items():
        fault, got = decode(chosen, body, claim[0], shift, claim[1], claim[2])
        if fault == codec.OK:  # the whole block has moved, or padding has become a key
            assert (got[0], got[-1]) == claim[1:]
            assert all(x < y for x, y in pairwise(got))


def test_a_full_block_of_each_kind() -> None:
    rng = np.random.default_rng(3)
    n = 2000
    for span, expected in ((n, 1), (4 * n, 1), (50 * n, 2), (2**40, 2), (2**63, 2)):
        keys = sorted(set(rng.integers(0, span, n, dtype=np.uint64).tolist()))
        chosen, shift, body = encode(keys)
        assert chosen == expected
        assert decode(chosen, body, len(keys), shift, keys[0], keys[-1]) == (0, keys)


class TestFingerprint:
    @given(st.lists(st.integers(0, TOP), max_size=40), st.integers(0, 2**63))
    def test_is_the_sum_of_the_mixed_keys(self, keys: list[int], base: int) -> None:
        assert int(fingerprint.fingerprint(array(keys))) == naive.fingerprint(keys)
        small = [key % 2**32 for key in keys]
        moved = naive.fingerprint([base + key for key in small])
        for dtype in (np.uint32, np.uint64):
            residuals = np.array(small, dtype)
            assert int(fingerprint.fingerprint_offset(residuals, U64(base))) == moved

    @given(st.lists(st.integers(0, TOP), max_size=40))
    def test_comes_with_the_greatest_key(self, keys: list[int]) -> None:
        survey = fingerprint.survey_keys(array(keys))
        assert [int(x) for x in survey] == [naive.fingerprint(keys), max(keys, default=0)]

    @given(st.lists(st.integers(0, 9), max_size=6))
    def test_tells_whether_keys_ascend(self, keys: list[int]) -> None:
        total, good = fingerprint.fingerprint_ascending(array(keys))
        assert int(total) == naive.fingerprint(keys)
        assert good == (keys == sorted(set(keys)))

    @given(st.lists(st.tuples(st.integers(0, TOP), st.integers(0, 255)), max_size=40))
    def test_of_records_is_the_sum_of_the_mixed_records(self, pairs: list[tuple[int, int]]) -> None:
        keys = [key for key, _ in pairs]
        ascend = keys == sorted(set(keys))
        for factor, dtype in ((1, np.uint8), (257, np.uint16), (2**24 + 1, np.uint32)):
            payload = [value * factor for _, value in pairs]
            column = np.array(payload, dtype)
            both = naive.record_fingerprint(keys, payload)
            assert int(fingerprint.fingerprint_records(array(keys), column)) == both
            survey = fingerprint.survey_records(array(keys), column)
            assert [int(x) for x in survey] == [naive.fingerprint(keys), both, ascend]

    def test_the_mix_is_that_of_splitmix64(self) -> None:
        # The first numbers of the reference generator with seed 1234567 (Vigna, splitmix64.c).
        seed, golden = 1234567, 0x9E3779B97F4A7C15
        states = [(seed + i * golden) % 2**64 for i in range(3)]
        assert [int(fingerprint.mix64(U64(state))) for state in states] == [
            6457827717110365317,
            3203168211198807973,
            9817491932198370423,
        ]
