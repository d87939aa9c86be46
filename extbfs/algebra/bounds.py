"""Bucket bounds: key ranges that share a sample of keys out evenly."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from store.layer import Layer, Scratch

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


def sample_keys(layer: Layer, wanted: int, scratch: Scratch) -> npt.NDArray[np.uint64]:
    """About `wanted` keys or more of a layer, evenly drawn, ascending."""
    if layer.blocks >= wanted:
        firsts, _ = layer.weights()
        return firsts
    stride = max(1, layer.count // wanted)
    parts = [keys[::stride].copy() for keys in layer.read_blocks(0, layer.blocks, scratch)]
    return np.concatenate(parts)


def aligned_bounds(
    sample: npt.NDArray[np.uint64] | None,
    wanted: int,
    key_space: int,
    spans: npt.NDArray[np.uint64],
    widest: int,
) -> npt.NDArray[np.uint64]:
    """Bounds of about `wanted` ranges, each at a multiple of as large a span as there is nearby.

    sample: ascending keys, or None for a single range; spans: descending, the last one 1. A bound
    may move down from its quantile by half a range's share of the sample. No range is wider than
    `widest`, at least where a span permits.
    """
    steps = spans.tolist()
    lows = [0]
    if sample is not None:
        places = np.arange(1, wanted) * sample.size // wanted
        half = max(1, sample.size // (2 * wanted))
        cuts = sample[places].tolist()
        floors = sample[np.maximum(places - half, 0)].tolist()
        for cut, floor in zip(cuts, floors, strict=True):
            least = max(floor, lows[-1] + 1)
            low = next((c for s in steps if (c := cut // s * s) >= least), 0)
            if low > lows[-1]:
                lows.append(low)
    lows.append(key_space)
    step = next((s for s in steps if s <= widest), 1)
    out: list[int] = []
    for low, high in itertools.pairwise(lows):
        out.append(low)
        while high - out[-1] > widest:
            out.append((out[-1] // step + widest // step) * step)
    return np.array([*out, key_space], np.uint64)


def block_ranges(
    layer: Layer,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """(least key, a key that is not less than any, number of keys) of every block of a layer."""
    firsts, counts = layer.weights()
    lasts = np.empty_like(firsts)
    lasts[:-1] = firsts[1:] - np.uint64(1)
    ends = np.cumsum([meta.blocks for meta in layer.metas if meta.count]) - 1
    lasts[ends] = [meta.last for meta in layer.metas if meta.count]
    return firsts, lasts, counts
