"""Planning a depth: into which pieces the old layer is cut, and into which buckets the new one."""

from __future__ import annotations

from extbfs.algebra.contract import LayerAlgebra
from extbfs.engine.budget import MemoryPlan
from extbfs.engine.ledger import DepthPlan
from extbfs.engine.worker import Worker
from store.layer import Layer


def plan_depth(
    layer: Layer,
    depth: int,
    growth: float | None,
    algebra: LayerAlgebra,
    memory: MemoryPlan,
    worker: Worker,
) -> DepthPlan:
    """Cut up the building of layer `depth` from the layer before it.

    growth: arrivals a key of the depth before, None when unknown.
    """
    buckets = algebra.plan(worker, layer, depth, growth, memory)
    if not algebra.open(depth, buckets):
        return DepthPlan(depth, 1, 0, buckets)
    block_keys = max(1, -(-layer.count // max(1, layer.blocks)))
    blocks = max(1, memory.piece_keys // block_keys)
    blocks = min(blocks, max(1, layer.blocks // (4 * memory.threads)))
    return DepthPlan(depth, blocks, -(-layer.blocks // blocks), buckets)
