"""Routes: codes of edges that leave buckets, and bounds such that arrivals take four bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extbfs.algebra import fibre_routes
from extbfs.algebra.fibre_routes import Routes, plan_buckets
from puzzles.registry import resolve
from store.buckets import Buckets
from tests.fakes.tokens import random_tokens

TILES: Any = resolve("tiles:4x4").fibre


def leaves(fibre, low: int, high: int, edge: int) -> bool:
    """Whether the edge maps some key of low .. high - 1 out of that range, by its span."""
    span = int(fibre.edge_span[edge])
    return low % span != 0 or high % span != 0


class TestRoutes:
    @given(st.lists(st.integers(1, 599), max_size=8), st.integers(0, 4), st.integers(0, 9))
    def test_every_edge_that_leaves_a_bucket_has_a_code_of_its_own(self, cuts, more, seed):
        fibre = random_tokens(seed, spans=(1, 6, 60), edges=8, many=10).fibre
        lows = np.array(sorted({0, *cuts, fibre.key_space}), np.uint64)
        bits = min(4, fibre_routes.code_bits(fibre, lows) + more)
        routes = Routes.of(fibre, Buckets.of(lows << np.uint64(bits)))
        assert (int(routes.bits), routes.lows.tolist()) == (bits, lows.tolist())
        remote = set()
        for bucket, (low, high) in enumerate(zip(lows.tolist(), lows.tolist()[1:], strict=False)):
            for edge in range(fibre.edges):
                away = leaves(fibre, low, high, edge)
                assert bool(routes.remote[bucket] >> np.uint32(edge) & np.uint32(1)) == away
                assert bool(routes.local[bucket] >> np.uint32(edge) & np.uint32(1)) != away
                remote |= {edge} if away else set()
        codes = [int(routes.code_of[edge]) for edge in remote]
        assert len(set(codes)) == len(codes)
        assert all(code < 1 << bits for code in codes)
        assert [int(routes.edge_of[code]) for code in codes] == list(remote)

    @pytest.mark.parametrize("wanted", [1, 30, 900])
    def test_narrow_buckets_of_the_fifteen_puzzle_take_four_bytes(self, wanted):
        luck = np.random.default_rng(wanted)
        sample = np.sort(luck.integers(0, TILES.key_space, 3 * wanted, dtype=np.uint64))
        buckets = plan_buckets(TILES, sample, wanted, 1 << 20, True)
        assert buckets.dtype == np.uint32
        assert buckets.count < wanted + 1000
        routes = Routes.of(TILES, buckets)
        assert int(routes.bits) <= 3
        assert routes.lows[-1] == TILES.key_space

    def test_too_many_buckets_are_not_made(self):
        buckets = plan_buckets(TILES, None, 1, 50, True)
        assert buckets.count == 1

    def test_a_single_bucket_routes_nothing(self):
        buckets = plan_buckets(TILES, None, 1, 50, False)
        routes = Routes.of(TILES, buckets)
        assert (int(routes.bits), routes.remote.tolist()) == (0, [0])
