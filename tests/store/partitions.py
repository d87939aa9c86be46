"""Hypothesis strategies for bucket bounds and for keys that they are asked about."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from store.buckets import Buckets

WORD = 1 << 32
LARGEST_SPACE = 2**64 - 1


@st.composite
def bounds(draw: st.DrawFn, most: int = 12) -> list[int]:
    """Ascending bounds from 0 to a key space: narrow ones, one-key buckets, ranges of 2**32."""
    space = draw(
        st.one_of(
            st.integers(1, 40),
            st.integers(1, LARGEST_SPACE),
            st.sampled_from([1, 2, WORD - 1, WORD, WORD + 1, 3 * WORD, LARGEST_SPACE]),
        )
    )
    inner = draw(
        st.lists(
            st.one_of(
                st.integers(0, space),
                st.integers(max(0, space - 5), space),
                st.integers(0, min(space, 5)),
                st.sampled_from([1, 2, WORD, WORD + 1, 2 * WORD]),
            ),
            max_size=most,
        )
    )
    return sorted({0, space, *(low for low in inner if low < space)})


@st.composite
def routed(draw: st.DrawFn, most: int = 200) -> tuple[list[int], list[int]]:
    """(bounds, keys): the keys lie anywhere, with many at the edges of the buckets."""
    lows = draw(bounds())
    last = lows[-1] - 1
    edges = [key for low in lows for key in (low - 1, low, low + 1) if 0 <= key <= last]
    keys = draw(st.lists(st.one_of(st.sampled_from(edges), st.integers(0, last)), max_size=most))
    if draw(st.booleans()):
        keys.sort()
    return lows, keys


def partition(lows: list[int]) -> Buckets:
    """The buckets between some bounds."""
    return Buckets.of(np.array(lows, np.uint64))


def naive_bucket(lows: list[int], key: int) -> int:
    """The bucket of a key, found by looking at every one."""
    return next(b for b in range(len(lows) - 1) if lows[b] <= key < lows[b + 1])


def naive_routing(lows: list[int], keys: list[int]) -> list[list[int]]:
    """The residuals of every bucket, in the order in which they were sent."""
    buckets: list[list[int]] = [[] for _ in lows[1:]]
    for key in keys:
        bucket = naive_bucket(lows, key)
        buckets[bucket].append(key - lows[bucket])
    return buckets
