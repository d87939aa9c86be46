"""Routing compared with lists: every key reaches its bucket, none is lost, in the order it came."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.kernels import route
from tests.store import partitions
from tests.store.partitions import partition

pytestmark = pytest.mark.kernels
U64 = np.uint64


class Chains:
    """The arrays of a pool, with just enough blocks."""

    def __init__(self, lows, log_block, records):
        self.buckets = partition(lows)
        self.log_block = U64(log_block)
        blocks = (records >> log_block) + self.buckets.count + 1
        self.data = np.full(blocks << log_block, 0xA5A5A5A5, self.buckets.dtype)
        self.chain = np.zeros(blocks, np.uint32)
        self.head = np.zeros(self.buckets.count, np.uint32)
        self.cursor = np.full(self.buckets.count, route.NONE, np.uint64)
        self.used = U64(0)

    def route(self, keys):
        b = self.buckets
        array = np.array(keys, np.uint64)
        self.used = U64(
            route.route_keys(
                array, U64(array.size), b.lows, b.lut, b.shift, self.data, self.chain, self.head,
                self.cursor, self.used, self.log_block,
            )
        )  # fmt: skip

    def gather(self, bucket):
        counts = np.zeros(self.buckets.count, np.uint64)
        total = route.count_buckets(self.chain, self.head, self.cursor, self.log_block, counts)
        assert int(total) == int(counts.sum())
        out = np.zeros(int(counts[bucket]) + 3, self.buckets.dtype)
        end = route.gather_bucket(
            U64(bucket), self.data, self.chain, self.head, self.cursor, self.log_block, out, U64(3)
        )
        assert int(end) == out.size
        return out[3:].tolist()

    def gather_in_parts(self, bucket, room):
        end = self.cursor[bucket]
        if end == route.NONE:
            return []
        found, out = [], np.zeros(room + 1, self.buckets.dtype)
        at = U64(int(self.head[bucket]) << int(self.log_block))
        while at != end:
            at, copied = route.gather_part(
                at, end, self.data, self.chain, self.log_block, out, U64(1), U64(room)
            )
            at = U64(at)
            assert 0 < int(copied) <= room
            found += out[1 : 1 + int(copied)].tolist()
        return found


@settings(max_examples=60)
@given(partitions.routed(), st.integers(0, 4), st.integers(1, 60), st.integers(1, 40))
def test_every_bucket_holds_what_was_sent_to_it(routed, log_block, batch, room):
    lows, keys = routed
    chains = Chains(lows, log_block, len(keys))
    for start in range(0, len(keys), batch):
        chains.route(keys[start : start + batch])
    chains.route([])
    expected = partitions.naive_routing(lows, keys)
    assert int(chains.used) <= chains.chain.size
    for bucket, residuals in enumerate(expected):
        assert chains.gather(bucket) == residuals
        assert chains.gather_in_parts(bucket, room) == residuals


@given(partitions.routed(most=20))
def test_find_bucket(routed):
    lows, keys = routed
    buckets = partition(lows)
    for key in keys:
        found = route.find_bucket(U64(key), buckets.lows, buckets.lut, buckets.shift)
        assert int(found) == partitions.naive_bucket(lows, key)


def test_blocks_that_fill_up_exactly():
    chains = Chains([0, 10, 20], 2, 16)
    chains.route([1, 1, 1, 1, 11, 11, 11, 11] * 2)
    assert chains.gather(0) == chains.gather(1) == [1] * 8
    assert chains.gather_in_parts(1, 4) == chains.gather_in_parts(1, 3) == [1] * 8
