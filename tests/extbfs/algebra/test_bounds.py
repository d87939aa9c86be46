"""Bucket bounds: they ascend, lie at spans, are not wider than told, and share a sample out."""

from __future__ import annotations

from itertools import pairwise
from math import factorial

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from extbfs.algebra.bounds import (
    WORD,
    aligned_bounds,
    block_ranges,
    quantiles,
    sample_keys,
    split_wide,
)
from store.layer import Scratch
from tests.store.run_bytes import build, layer_of

SPANS = [
    [factorial(15) // 2, factorial(12) // 2, factorial(7) // 2, 12, 3, 1],
    [5040, 720, 120, 24, 6, 2, 1],
    [1000, 1],
    [1],
]


@st.composite
def samples(draw, limit, most=200):
    near = draw(st.integers(0, limit - 1))
    key = st.one_of(
        st.integers(0, limit - 1),
        st.integers(near, min(near + 60, limit - 1)),
    )
    return sorted(draw(st.lists(key, min_size=1, max_size=most)))


def highest_span(low, spans):
    return next(span for span in spans if low % span == 0)


class TestAlignedBounds:
    @settings(max_examples=300)
    @given(st.data())
    def test_they_are_a_partition_within_what_is_allowed(self, data):
        spans = data.draw(st.sampled_from(SPANS))
        key_space = max(spans[0], 1) if spans[0] > 1 else 3000
        sample = data.draw(samples(key_space))
        wanted = data.draw(st.integers(1, 60))
        widest = data.draw(st.sampled_from([key_space, -(-key_space // 50), -(-key_space // 7)]))
        lows = aligned_bounds(
            np.array(sample, np.uint64), wanted, key_space, np.array(spans, np.uint64), widest
        ).tolist()
        assert lows[0] == 0
        assert lows[-1] == key_space
        assert all(a < b for a, b in pairwise(lows))
        assert max(b - a for a, b in pairwise(lows)) <= widest
        if widest == key_space:
            assert len(lows) - 1 <= wanted

    @settings(max_examples=200)
    @given(st.data())
    def test_each_is_at_the_largest_span_near_its_quantile(self, data):
        """A bound may move down by half a share of the sample, to where as much as can be keeps."""
        spans = data.draw(st.sampled_from(SPANS[:3]))
        key_space = spans[0]
        sample = data.draw(samples(key_space))
        wanted = data.draw(st.integers(2, 40))
        lows = aligned_bounds(
            np.array(sample, np.uint64), wanted, key_space, np.array(spans, np.uint64), key_space
        ).tolist()
        half = max(1, len(sample) // (2 * wanted))
        places = [i * len(sample) // wanted for i in range(1, wanted)]
        windows = [(sample[max(place - half, 0)], sample[place]) for place in places]
        for before, low in pairwise(lows[:-1]):
            fits = [(least, cut) for least, cut in windows if least <= low <= cut]
            assert fits
            best = [
                next(span for span in spans if cut // span * span >= max(least, before + 1))
                for least, cut in fits
            ]
            assert any(highest_span(low, spans) >= span for span in best)

    def test_even_keys_get_even_ranges(self):
        sample = np.arange(0, 5040, 2, dtype=np.uint64)
        lows = aligned_bounds(sample, 7, 5040, np.array([5040, 720, 1], np.uint64), 5040)
        assert lows.tolist() == [720 * i for i in range(8)]

    def test_shares_of_the_sample(self):
        """No range takes more than a share and a half, where keys do not repeat."""
        luck = np.random.default_rng(1)
        spans = SPANS[0]
        for wanted in (2, 5, 16, 100):
            keys = np.sort(luck.integers(0, spans[0], 5000, np.uint64) ** 2 // spans[0])
            keys = np.unique(keys)
            lows = aligned_bounds(keys, wanted, spans[0], np.array(spans, np.uint64), spans[0])
            shares = np.diff(np.searchsorted(keys, lows))
            assert shares.sum() == keys.size
            assert shares.max() <= 1.5 * keys.size / wanted + 2
            assert lows.size - 1 == wanted

    def test_without_a_sample_there_is_one_range(self):
        spans = np.array([1000, 10, 1], np.uint64)
        assert aligned_bounds(None, 1, 1000, spans, 1000).tolist() == [0, 1000]
        assert aligned_bounds(None, 1, 1000, spans, 300).tolist() == [0, 300, 600, 900, 1000]

    def test_a_sample_of_one_key_over_and_over(self):
        spans = np.array([1000, 10, 1], np.uint64)
        lows = aligned_bounds(np.full(50, 77, np.uint64), 9, 1000, spans, 1000).tolist()
        assert lows == [0, 77, 1000]

    def test_widest_cuts_lie_at_spans(self):
        spans = np.array([10_000, 100, 10, 1], np.uint64)
        lows = aligned_bounds(np.array([4321], np.uint64), 2, 10_000, spans, 640).tolist()
        inner = [low for low in lows[1:-1] if low != 4321]
        assert all(low % 100 == 0 for low in inner)
        assert max(b - a for a, b in pairwise(lows)) <= 640


class TestQuantiles:
    @given(st.data())
    def test_they_share_out_the_sample(self, data):
        sample = data.draw(samples(1 << 40))
        wanted = data.draw(st.integers(2, 30))
        lows = quantiles(np.array(sample, np.uint64), wanted, 1 << 40)
        assert lows[0] == 0
        assert lows[-1] == 1 << 40
        assert (lows[1:] > lows[:-1]).all()
        assert set(lows.tolist()[1:-1]) <= set(sample)
        counts = np.diff(np.searchsorted(np.array(sample, np.uint64), lows))
        repeated = max(sample.count(key) for key in sample)
        assert counts.max() <= len(sample) / wanted + 1 + repeated

    def test_no_sample(self):
        assert quantiles(np.empty(0, np.uint64), 5, 77).tolist() == [0, 77]


@given(st.lists(st.integers(1, 2**63), min_size=1, max_size=6))
def test_split_wide_leaves_no_range_past_32_bits(numbers):
    lows = sorted({0, *numbers})
    if lows[-1] // WORD > 5000:
        lows = sorted({low // 2**40 for low in lows} | {0, 7})
    out = split_wide(np.array(lows, np.uint64)).tolist()
    assert set(lows) <= set(out)
    assert all(0 < b - a <= WORD for a, b in pairwise(out))


def layer_with(*runs):
    """A layer of runs of keys, blocks of 10 keys."""
    return layer_of(*(build(keys, block_keys=10) for keys in runs))


class TestBlockRanges:
    def test_every_key_is_in_the_range_of_its_block(self):
        runs = [range(5, 400, 7), range(400, 405), range(1000, 9000, 31)]
        layer = layer_with(*runs)
        firsts, lasts, counts = block_ranges(layer)
        blocks = [keys.copy() for keys in layer.read_blocks(0, layer.blocks, Scratch())]
        assert counts.tolist() == [len(keys) for keys in blocks]
        assert firsts.tolist() == [int(keys[0]) for keys in blocks]
        for last, keys, after in zip(lasts, blocks, [*firsts[1:], None], strict=True):
            assert last >= keys[-1]
            assert after is None or last < after
        assert int(lasts[-1]) == layer.last

    def test_the_gap_between_two_runs_is_in_no_range(self):
        firsts, lasts, _ = block_ranges(layer_with(range(10), range(500, 505)))
        assert (firsts.tolist(), lasts.tolist()) == ([0, 500], [9, 504])


class TestSampleKeys:
    def test_of_many_blocks_the_first_keys_are_enough(self):
        layer = layer_with(range(0, 1000, 3))
        firsts, _ = layer.weights()
        assert sample_keys(layer, 20, Scratch()).tolist() == firsts.tolist()

    def test_of_few_blocks_keys_are_drawn_evenly(self):
        layer = layer_with(range(0, 300, 3))
        found = sample_keys(layer, 50, Scratch()).tolist()
        assert found == sorted(found)
        assert set(found) <= set(range(0, 300, 3))
        assert len(found) >= 50
