"""Buckets: bounds that are no partition, the width of residuals, and the look-up table."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.buckets import Buckets
from store.errors import IntegrityError
from tests.store import partitions
from tests.store.partitions import LARGEST_SPACE, WORD, partition


@pytest.mark.parametrize("lows", [[], [0], [1, 5], [0, 5, 5], [0, 7, 3, 9]])
def test_what_is_no_partition_is_refused(lows):
    with pytest.raises(IntegrityError, match="bounds"):
        Buckets.of(np.array(lows, np.uint64))


@pytest.mark.parametrize(
    ("lows", "dtype"),
    [
        ([0, 1], np.uint32),
        ([0, WORD], np.uint32),
        ([0, WORD + 1], np.uint64),
        ([0, WORD, 2 * WORD], np.uint32),
        ([0, WORD - 1, 2 * WORD], np.uint64),
        ([0, LARGEST_SPACE], np.uint64),
        ([0, LARGEST_SPACE - WORD, LARGEST_SPACE], np.uint64),
    ],
)
def test_residuals_take_four_bytes_just_when_every_one_fits(lows, dtype):
    buckets = partition(lows)
    assert buckets.dtype == dtype
    widest = max(buckets.width(b) for b in range(buckets.count))
    assert (widest - 1 <= np.iinfo(np.uint32).max) == (dtype == np.uint32)


@given(partitions.bounds())
def test_ranges_follow_each_other_and_cover_the_key_space(lows):
    buckets = partition(lows)
    assert buckets.count == len(lows) - 1
    ranges = [(buckets.low(b), buckets.high(b)) for b in range(buckets.count)]
    assert ranges == list(pairwise(lows))
    assert sum(buckets.width(b) for b in range(buckets.count)) == lows[-1]


@given(partitions.bounds(), st.data())
def test_the_table_brackets_the_bucket_of_every_key(lows, data):
    buckets = partition(lows)
    key = data.draw(st.integers(0, lows[-1] - 1))
    cell = key >> int(buckets.shift)
    bucket = partitions.naive_bucket(lows, key)
    assert buckets.lut[cell] <= bucket <= buckets.lut[cell + 1]
    assert buckets.lut.size <= (1 << 12) + 1
