"""A pool compared with lists: what comes out, when it says that it is full, and used again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.pool import Pool
from tests.store import partitions
from tests.store.partitions import partition

LEAST = 1 << 16


def held(pool: Any, bucket: int) -> list[int]:
    count = int(pool.counts()[bucket])
    out = np.zeros(count, pool.buckets.dtype)
    assert pool.gather(bucket, out, 0) == count
    return [int(value) for value in out]


@settings(max_examples=40)
@given(partitions.routed(most=400), partitions.routed(most=400), st.integers(1, 50))
def test_holds_what_was_routed_for_one_depth_after_another(one, other, room):
    pool: Any = Pool(LEAST)
    for lows, keys in (one, other):
        pool.open(partition(lows))
        for again in range(2):
            assert pool.has_room(len(keys))
            pool.route(np.array(keys, np.uint64), len(keys))
            expected = partitions.naive_routing(lows, keys)
            assert pool.records == len(keys)
            assert pool.counts().tolist() == [len(some) for some in expected]
            out = np.zeros(room, pool.buckets.dtype)
            for bucket, residuals in enumerate(expected):
                assert held(pool, bucket) == residuals
                parts = [out[:n].tolist() for n in pool.parts(bucket, out)]
                assert [value for part in parts for value in part] == residuals
            if again == 0:
                pool.clear()
                assert not pool.counts().any()
                assert pool.records == 0


@settings(max_examples=25)
@given(
    st.sampled_from([2**20, 2**40]),
    st.integers(1, 60),
    st.sampled_from(["one bucket", "spread", "in turn"]),
    st.integers(1, 300),
)
def test_what_it_has_room_for_does_fit(space, count, spread, batch):
    lows = [space * i // count for i in range(count)] + [space]
    pool: Any = Pool(LEAST)
    pool.open(partition(lows))
    rng = np.random.default_rng(count)
    sent = 0
    while pool.has_room(batch):
        if spread == "one bucket":
            keys = np.zeros(batch, np.uint64)
        elif spread == "spread":
            keys = rng.integers(0, space, batch, dtype=np.uint64)
        else:
            keys = np.array([lows[(sent + i) % count] for i in range(batch)], np.uint64)
        pool.route(keys, batch)
        sent += batch
    assert pool.records == int(pool.counts().sum()) == sent
    width = pool.buckets.dtype.itemsize
    if count <= 16:
        assert sent * width >= pool.capacity // 2 - batch * width, "full when half of it is"


def test_it_uses_the_memory_it_was_given_and_no_more():
    pool = Pool(10 * LEAST)
    assert pool.capacity == 10 * LEAST
    assert Pool(5).capacity == LEAST


@pytest.mark.parametrize("count", [200, 5000])
def test_more_buckets_than_blocks_leave_room_for_little(count):
    pool: Any = Pool(LEAST)
    pool.open(partition(list(range(0, 10 * count + 1, 10))))
    assert pool.has_room(1)
    assert not pool.has_room(LEAST)
