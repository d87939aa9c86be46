"""A breadth-first search over a puzzle's keys with plain sets: slow, obvious, for small spaces."""

from __future__ import annotations

import numpy as np


def counts(puzzle, most_states=10**9):
    """States per depth until nothing is new, or until another layer would pass `most_states`."""
    layer = {int(key) for key in puzzle.starts()}
    seen, sizes = set(layer), []
    while layer and len(seen) <= most_states:
        sizes.append(len(layer))
        keys = np.array(sorted(layer), dtype=np.uint64)
        out = np.empty(len(keys) * puzzle.max_successors, dtype=np.uint64)
        found = set(out[: puzzle.successors(keys, out)].tolist())
        layer = found - seen
        seen |= layer
    return sizes
