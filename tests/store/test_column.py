"""LISTED payload columns against their naive twin, and against bytes nobody wrote in good faith."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.kernels import column
from tests.store import naive_codec as naive

pytestmark = pytest.mark.kernels

U64 = np.uint64
GUARD = 0xAA
PAD = 160

WORK = np.zeros(column.ENCODER_WORK, np.uint64)


def encode(payload: list[int], bits: int) -> bytes:
    """The column LISTED, b'' where that does not pay; nothing around it is written to."""
    before = 5
    room = len(payload) * bits // 8 + PAD
    out = np.full(before + room + 64, GUARD, np.uint8)
    values = np.array(payload, f"u{bits // 8}")
    end = int(column.encode_column(values, U64(len(payload)), out, U64(before), WORK))
    assert (out[:before] == GUARD).all()
    assert (out[before + room :] == GUARD).all()
    assert not WORK[: int(column.SLOTS)].any()
    return out[before:end].tobytes() if end else b""


def decode(body: bytes, count: int, bits: int) -> tuple[int, list[int]]:
    """(fault, payload), having checked that only column[:count] was written."""
    before = 3
    data = np.full(before + len(body) + PAD, 0xFF, np.uint8)
    data[before : before + len(body)] = np.frombuffer(body, np.uint8)
    values = np.full(count + 50, 7, f"u{bits // 8}")
    table = np.full(column.TABLE, 2**64 - 1, np.uint64)
    fault = column.decode_column(data, U64(before), U64(len(body)), U64(count), table, values)
    assert (values[count:] == 7).all()
    return int(fault), values[:count].tolist()


def agrees_with_naive(body: bytes, count: int, bits: int) -> None:
    """The decoder reads what its twin reads, and refuses what that refuses."""
    fault, got = decode(body, count, bits)
    try:
        expected = naive.read_listed(body + bytes(max(0, 2 - len(body))), count, bits)
    except ValueError:
        assert fault != column.OK
    else:
        assert (fault, got) == (0, expected)


@st.composite
def columns(draw: st.DrawFn, most: int = 600) -> tuple[list[int], int]:
    """(payload, its width in bits): some values again and again, some only once."""
    bits = draw(st.sampled_from([16, 32]))
    width = draw(st.integers(0, bits))
    count = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    pool = rng.integers(0, 2**width, draw(st.sampled_from([1, 3, 60, 300])), dtype=np.uint64)
    payload = rng.choice(pool, count)
    strange = rng.random(count) < draw(st.sampled_from([0, 0.05, 0.5, 1]))
    payload[strange] = rng.integers(0, 2**width, int(strange.sum()), dtype=np.uint64)
    return payload.tolist(), bits


@given(columns())
def test_is_read_back_and_shorter_than_plain(case: tuple[list[int], int]) -> None:
    payload, bits = case
    body = encode(payload, bits)
    counts = Counter(payload)
    width = max(payload).bit_length()
    best = [value for value, _ in counts.most_common(255)]
    escapes = len(payload) - sum(counts[value] for value in best)
    length = 2 + len(payload) + ((len(best) + escapes) * width + 7) // 8
    if length < len(payload) * bits // 8:
        assert len(body) == length  # of so few keys all are in the sample
        assert naive.read_listed(body, len(payload), bits) == payload
        assert decode(body, len(payload), bits) == (0, payload)
    else:
        assert body == b""


@given(columns(most=200))
def test_what_all_fits_is_listed_as_it_appears(case: tuple[list[int], int]) -> None:
    payload, bits = case
    body = encode(payload, bits)
    if body:
        values = list(dict.fromkeys(payload))
        assert body == naive.listed(payload, max(payload).bit_length(), values)


@given(columns(), st.data())
def test_any_list_serves(case: tuple[list[int], int], data: st.DataObject) -> None:
    payload, bits = case
    values = list(dict.fromkeys(payload))[: data.draw(st.integers(0, 255))]
    width = data.draw(st.integers(max(payload).bit_length(), bits))
    body = naive.listed(payload, width, values)
    assert decode(body, len(payload), bits) == (0, payload)


@given(columns(most=60), st.data())
def test_another_byte_is_read_as_its_twin_reads_it(
    case: tuple[list[int], int], data: st.DataObject
) -> None:
    payload, bits = case
    values = list(dict.fromkeys(payload))[: data.draw(st.integers(0, 255))]
    body = bytearray(naive.listed(payload, bits, values))
    body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    agrees_with_naive(bytes(body), len(payload), bits)


@given(columns(most=40))
def test_a_column_cut_short_or_with_bytes_too_many_is_refused(case: tuple[list[int], int]) -> None:
    payload, bits = case
    body = naive.listed(payload, bits, payload[:1])
    for length in range(len(body)):
        assert decode(body[:length], len(payload), bits)[0] != column.OK
    for more in (1, 8, 9, 300):
        assert decode(body + bytes(more), len(payload), bits)[0] != column.OK


@given(st.binary(max_size=300), st.integers(1, 400), st.sampled_from([16, 32]))
def test_noise_is_read_as_its_twin_reads_it(body: bytes, count: int, bits: int) -> None:
    agrees_with_naive(body, count, bits)


@given(
    st.integers(0, 40),
    st.integers(0, 255),
    st.lists(st.sampled_from([0, 1, 9, 254, 255]), min_size=1, max_size=99),
    st.integers(-2, 2),
    st.sampled_from([16, 32]),
)
def test_noise_of_about_the_right_length(
    width: int, listed: int, codes: list[int], more: int, bits: int
) -> None:
    length = ((listed + codes.count(255)) * width + 7) // 8 + more
    rest = np.random.default_rng(width).bytes(max(0, length))
    agrees_with_naive(bytes([width, listed, *codes]) + rest, len(codes), bits)


@pytest.mark.parametrize("bits", [16, 32])
@pytest.mark.parametrize("count", [20_000, 65_536])
def test_long_columns_list_nearly_the_best_values(bits: int, count: int) -> None:
    rng = np.random.default_rng(count)
    ranks = np.minimum(rng.zipf(1.5, count), 60_000).astype(np.uint64)
    payload: list[Any] = (ranks * U64(40503) % U64(2**bits)).tolist()
    body = encode(payload, bits)
    assert decode(body, count, bits) == (0, payload)
    best = sum(n for _, n in Counter(payload).most_common(255))
    assert body[2 : 2 + count].count(255) < 1.5 * (count - best) + 50


@pytest.mark.parametrize("count", [1, 4000, 65_536])
def test_noise_does_not_pay(count: int) -> None:
    payload = np.random.default_rng(1).integers(0, 2**32, count, dtype=np.uint64).tolist()
    assert encode(payload, 32) == b""


def test_a_sample_that_misleads_does_no_harm() -> None:
    """Every eighth key is looked at, and says nothing of the others."""
    payload = np.random.default_rng(2).integers(0, 2**32, 65_536, dtype=np.uint64)
    payload[::8] = 5
    assert encode(payload.tolist(), 32) == b""
    payload[:50_000] = 2**32 - 1
    body = encode(payload.tolist(), 32)
    assert decode(body, 65_536, 32) == (0, payload.tolist())
