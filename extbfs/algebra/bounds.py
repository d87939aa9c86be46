"""Bucket bounds: key ranges that share a sample of arrivals out evenly."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

WORD = 1 << 32


def quantiles(
    children: npt.NDArray[np.uint64], wanted: int, key_space: int
) -> npt.NDArray[np.uint64]:
    """Bounds of `wanted` ranges with equal shares of the sample, fewer where it repeats itself."""
    if not children.size:
        return np.array([0, key_space], np.uint64)
    cuts = children[np.arange(1, wanted) * children.size // wanted]
    inner = cuts[(cuts > 0) & (cuts < key_space)]
    ends = np.array([0, key_space], np.uint64)
    lows = np.sort(np.concatenate([ends, inner]))
    keep = np.ones(lows.size, np.bool_)
    keep[1:] = lows[1:] != lows[:-1]
    return lows[keep]


def split_wide(lows: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Cut ranges wider than 2**32 so that residuals fit 32 bits."""
    values = lows.tolist()
    out: list[int] = []
    for low, high in itertools.pairwise(values):
        parts = -(-(high - low) // WORD)
        out.extend(low + (high - low) * i // parts for i in range(parts))
    return np.array([*out, values[-1]], np.uint64)
