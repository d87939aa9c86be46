"""Planning a depth: how many children to expect, and bucket bounds that share them out evenly."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from extbfs.algebra.contract import LayerAlgebra
from extbfs.engine.budget import BLOCK_KEYS, MemoryPlan
from extbfs.engine.ledger import DepthPlan
from extbfs.engine.worker import Worker
from store.buckets import Buckets
from store.layer import Layer

BUCKET_ARRIVALS = 1 << 20
"""Arrivals a bucket aims at: its sort stays in the caches."""
SAMPLE_BLOCKS = 1024
"""Layers of up to so many blocks are read for the sample; of larger ones the indexes suffice."""
SAMPLE_KEYS = 1 << 16
SPLIT_ABOVE = 1 << 25
"""Expected arrivals from which wide buckets are split so that records take four bytes."""
WORD = 1 << 32
MOST_SPLITS = 1 << 13


def plan_depth(
    layer: Layer,
    depth: int,
    growth: float | None,
    algebra: LayerAlgebra,
    key_space: int,
    memory: MemoryPlan,
    worker: Worker,
) -> DepthPlan:
    """Cut up the building of layer `depth` from the layer before it.

    growth: arrivals a key of the depth before, None when unknown.
    """
    worst = algebra.worst_children(1)
    expected = int(layer.count * (worst if growth is None else min(growth, worst))) + 1
    blocks = max(1, memory.piece_keys // BLOCK_KEYS)
    blocks = min(blocks, max(1, layer.blocks // (4 * memory.threads)))
    pieces = -(-layer.blocks // blocks)
    target = min(BUCKET_ARRIVALS, memory.arrivals // 2)
    most = max(1, memory.pool // 8 // 256)
    wanted = max(1, min(most, expected // target))
    lows = np.array([0, key_space], np.uint64)
    if wanted > 1:
        lows = _bounds(_sample(layer, algebra, worker, wanted), wanted, key_space)
    if expected >= SPLIT_ABOVE and key_space // WORD + lows.size <= min(MOST_SPLITS, most):
        lows = _split_wide(lows)
    return DepthPlan(depth, blocks, pieces, Buckets.of(lows))


def _sample(
    layer: Layer, algebra: LayerAlgebra, worker: Worker, wanted: int
) -> npt.NDArray[np.uint64]:
    """Sorted children of keys drawn evenly from the whole layer.

    The first key of every block is such a sample; in small layers more keys are needed.
    """
    if layer.blocks > SAMPLE_BLOCKS:
        firsts, _ = layer.weights()
        children = algebra.sample(worker, firsts)
    else:
        stride = max(1, layer.count // max(SAMPLE_KEYS, 64 * wanted))
        blocks = layer.read_blocks(0, layer.blocks, worker.scratch)
        parts = [algebra.sample(worker, keys[::stride].copy()) for keys in blocks]
        children = np.concatenate(parts)
    children.sort()
    return children


def _bounds(
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


def _split_wide(lows: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Cut ranges wider than 2**32 so that residuals fit 32 bits."""
    values = lows.tolist()
    out: list[int] = []
    for low, high in itertools.pairwise(values):
        parts = -(-(high - low) // WORD)
        out.extend(low + (high - low) * i // parts for i in range(parts))
    return np.array([*out, values[-1]], np.uint64)
