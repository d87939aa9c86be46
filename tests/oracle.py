"""The oracle: a breadth-first search with plain sets, slow and obvious, to compare counts with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np


def successors(puzzle: Any, keys: Iterable[int]) -> set[int]:
    """The distinct successors of some states."""
    parents = np.array(sorted(keys), np.uint64)
    out = np.empty(parents.size * puzzle.max_successors, np.uint64)
    return {int(key) for key in out[: puzzle.successors(parents, out)]}


def layers(puzzle: Any, most: int = 1 << 30) -> list[set[int]]:
    """The states of every depth, until no new ones turn up or depth `most` is complete."""
    seen = {int(key) for key in puzzle.starts()}
    found = [set(seen)]
    while len(found) <= most:
        new = successors(puzzle, found[-1]) - seen
        if not new:
            break
        seen |= new
        found.append(new)
    return found


def counts(puzzle: Any, most: int = 1 << 30) -> list[int]:
    """States per depth."""
    return [len(layer) for layer in layers(puzzle, most)]


def goal_depth(puzzle: Any) -> int | None:
    """The depth of the nearest goal, None if no reachable state is one."""
    for depth, layer in enumerate(layers(puzzle)):
        if puzzle.is_goal(np.array(sorted(layer), np.uint64)).any():
            return depth
    return None


def is_path(puzzle: Any, keys: Sequence[int]) -> bool:
    """Whether `keys` begins at a start and every step is a move."""
    if keys[0] not in {int(key) for key in puzzle.starts()}:
        return False
    return all(child in successors(puzzle, [parent]) for parent, child in pairwise(keys))
