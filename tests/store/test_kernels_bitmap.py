"""Dense buckets compared with set operations: mark, clear, sweep, and their books."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.kernels import bitmap
from tests.store.partitions import LARGEST_SPACE

pytestmark = pytest.mark.kernels
U64 = np.uint64
WORDS = 4
PLACE = st.one_of(st.integers(0, 64 * WORDS - 1), st.sampled_from([0, 63, 64, 127, 128, 255]))


@settings(max_examples=80)
@given(
    st.lists(PLACE, max_size=200),
    st.sets(PLACE),
    st.sampled_from([np.uint32, np.uint64]),
    st.sampled_from([0, 1, LARGEST_SPACE - 64 * WORDS]),
    st.integers(1, 100),
)
def test_mark_clear_and_sweep(values, earlier, dtype, base, room):
    bits = np.zeros(WORDS, np.uint64)
    n = len(values)
    spare = np.zeros(n + 1, dtype)
    dropped = int(bitmap.mark(bits, np.array(values, dtype), U64(n), spare))
    left = sorted(values)
    for value in set(values):
        left.remove(value)
    assert sorted(spare[:dropped].tolist()) == left

    keys = np.array([key + base for key in sorted(earlier)], np.uint64)
    hits = np.zeros(keys.size + 1, dtype)
    found = int(bitmap.clear_hits(bits, keys, U64(keys.size), U64(base), hits))
    assert hits[:found].tolist() == sorted(set(values) & earlier)

    out = np.zeros(room + 64, np.uint64)
    swept: list[int] = []
    word = U64(0)
    while word < WORDS:
        at, got = bitmap.sweep(bits, word, U64(WORDS), U64(base), out, U64(room))
        assert int(at) > word
        word = U64(at)
        swept += out[: int(got)].tolist()
    assert swept == sorted(key + base for key in set(values) - earlier)
    assert not bits.any(), "the bitmap is left clear for the next bucket"
