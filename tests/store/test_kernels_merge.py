"""Merging compared with set operations: subtraction block by block, union, and their books."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.kernels import merge
from tests.store.partitions import LARGEST_SPACE, WORD

pytestmark = pytest.mark.kernels
U64 = np.uint64


@st.composite
def near_sets(draw, limit, most=80):
    """Two sorted lists of distinct numbers below `limit` that have much in common."""
    number = st.one_of(
        st.integers(0, min(limit - 1, 60)), st.integers(max(0, limit - 60), limit - 1)
    )
    a = draw(st.sets(number, max_size=most))
    b = draw(st.sets(st.one_of(number, st.sampled_from(sorted(a) or [0])), max_size=most))
    return sorted(a), sorted(b)


@settings(max_examples=60)
@given(st.data(), st.sampled_from([np.uint32, np.uint64]), st.integers(1, 30))
def test_subtract_takes_away_what_blocks_of_keys_hold(data, dtype, block):
    limit = WORD if dtype is np.uint32 else LARGEST_SPACE
    values, hits_wanted = data.draw(near_sets(limit))
    base = data.draw(st.sampled_from([0, 1, LARGEST_SPACE - limit]))
    array = np.array(values, dtype)
    n = U64(len(values))
    read = write = U64(0)
    hits = []
    for start in range(0, len(hits_wanted), block):
        keys = np.array([key + base for key in hits_wanted[start : start + block]], np.uint64)
        found = np.zeros(keys.size + 1, dtype)
        read, write, number = merge.subtract(
            array, n, U64(read), U64(write), keys, U64(keys.size), U64(base), found
        )
        hits += found[: int(number)].tolist()
    end = merge.move_down(array, U64(read), n, U64(write))
    assert array[: int(end)].tolist() == sorted(set(values) - set(hits_wanted))
    assert hits == sorted(set(values) & set(hits_wanted))


@settings(max_examples=60)
@given(near_sets(LARGEST_SPACE))
def test_unite_merges_and_tells_what_was_in_both(sets):
    a, b = sets
    out = np.zeros(len(a) + len(b) + 1, np.uint64)
    twice = np.zeros(min(len(a), len(b)) + 1, np.uint64)
    size, both = merge.unite(
        np.array(a, np.uint64), U64(len(a)), np.array(b, np.uint64), U64(len(b)), out, twice
    )
    assert out[: int(size)].tolist() == sorted({*a, *b})
    assert twice[: int(both)].tolist() == sorted(set(a) & set(b))


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_widen_adds_in_64_bits(dtype):
    top = np.iinfo(dtype).max
    base = LARGEST_SPACE - 1 - int(top) if dtype is np.uint32 else 0
    values = np.array([0, 1, top - 1, top], dtype)
    out = np.zeros(4, np.uint64)
    merge.widen(values, U64(4), U64(base), out)
    assert out.tolist() == [int(v) + base for v in values]


def test_move_down_onto_itself_and_over_a_gap():
    values = np.arange(10, dtype=np.uint32)
    assert int(merge.move_down(values, U64(4), U64(10), U64(4))) == 10
    assert values.tolist() == list(range(10))
    assert int(merge.move_down(values, U64(4), U64(10), U64(1))) == 7
    assert values[:7].tolist() == [0, 4, 5, 6, 7, 8, 9]
    assert int(merge.move_down(values, U64(10), U64(10), U64(0))) == 0
