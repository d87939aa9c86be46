"""Sorting compared with sorted(): both dtypes, every number of bits and digit width in use."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.kernels import sort

pytestmark = pytest.mark.kernels
U64 = np.uint64
DTYPES = (np.uint32, np.uint64)


@st.composite
def records(draw, most=150):
    """(dtype, bits, values below 2**bits): all equal, few distinct, or any."""
    dtype = draw(st.sampled_from(DTYPES))
    widest = 32 if dtype is np.uint32 else 64
    bits = draw(st.one_of(st.integers(1, widest), st.sampled_from([1, 8, 11, widest])))
    top = 2**bits - 1
    value = st.one_of(
        st.integers(0, top), st.integers(max(0, top - 3), top), st.integers(0, min(3, top))
    )
    return dtype, bits, draw(st.lists(value, max_size=most))


@settings(max_examples=60)
@given(records(), st.sampled_from([1, 3, 8, 11]))
def test_radix_sort_sorts(given_records, digit):
    dtype, bits, values = given_records
    digit = max(digit, -(-bits // 8))  # the table stays small
    n = len(values)
    guard = np.array([7, 7, 7], dtype)
    first = np.concatenate([np.array(values, dtype), guard])
    second = np.concatenate([np.zeros(n, dtype), guard])
    table = np.full(-(-bits // digit) << digit, 99, np.uint64)
    swapped = sort.radix_sort(first, second, U64(n), U64(0), U64(bits), U64(digit), table)
    result = second if int(swapped) else first
    assert result[:n].tolist() == sorted(values)
    assert first[n:].tolist() == second[n:].tolist() == [7, 7, 7]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 47, 48, 49, 300])
@pytest.mark.parametrize("pattern", ["falling", "equal", "last digit", "first digit"])
def test_sizes_about_the_switch_to_radix_passes(dtype, n, pattern):
    bits = 32 if dtype is np.uint32 else 64
    number = np.arange(n, 0, -1).astype(np.uint64)
    shifts = {"falling": number * U64(2**bits // 512), "equal": number * U64(0)}
    shifts |= {"last digit": number & U64(7), "first digit": (number & U64(7)) << U64(bits - 3)}
    values = shifts[pattern].astype(dtype)
    first, second = values.copy(), values.copy()
    table = np.zeros(-(-bits // 11) << 11, np.uint64)
    swapped = sort.radix_sort(first, second, U64(n), U64(0), U64(bits), U64(11), table)
    assert (second if int(swapped) else first).tolist() == sorted(values.tolist())


@settings(max_examples=60)
@given(records())
def test_split_duplicates_keeps_one_of_each_and_counts_the_rest(given_records):
    dtype, _, values = given_records
    n = len(values)
    ordered = np.array(sorted(values), dtype)
    spare = np.zeros(n + 1, dtype)
    kept, dropped = (int(k) for k in sort.split_duplicates(ordered, U64(n), spare))
    assert ordered[:kept].tolist() == sorted(set(values))
    left = sorted(values)
    for value in set(values):
        left.remove(value)
    assert spare[:dropped].tolist() == left
    assert kept + dropped == n
