"""Hypothesis strategies for ascending keys: dense, sparse, clustered, extreme."""

from __future__ import annotations

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

TOP = 2**64 - 2


@st.composite
def ascending(draw: st.DrawFn, least: int = 1, most: int = 150) -> list[int]:
    """Strictly ascending keys below 2**64 - 1, whose gaps have lengths of a drawn range."""
    count = draw(st.integers(least, most))
    longest = draw(st.sampled_from([0, 1, 3, 8, 20, 30, 57, 63]))
    shift = draw(st.sampled_from([0, 0, 1, 4, 33]))
    lengths = draw(st.lists(st.integers(0, longest), min_size=count, max_size=count))
    salt = draw(st.integers(0, 2**32))
    rng = np.random.default_rng(salt)
    key = draw(st.sampled_from([0, 0, 1, 1000, 2**40, 2**63 - 5, 2**64 - 3000]))
    keys = [key]
    for length in lengths[1:]:
        key += (1 + int(rng.integers(0, 2**length, endpoint=False, dtype=np.uint64))) << shift
        if key > TOP:
            break
        keys.append(key)
    if draw(st.booleans()) and keys[-1] < TOP:
        keys.append(TOP)
    keys = keys[-most:]
    assume(len(keys) >= least)
    return keys


def array(keys: list[int]) -> np.ndarray:
    return np.array(keys, np.uint64)
