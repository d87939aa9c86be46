"""Counting shortest solutions: how many there are, and at how many goal states they end.

Backwards from the goal states of the optimum, only states on a shortest path are kept; forwards,
their numbers of shortest paths are added up. With symmetry a canonical move counts as often as
there are plain moves into the orbit it leads to.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from extbfs.errors import NotFound

if TYPE_CHECKING:
    from extbfs.reader import Run
    from puzzles.contract import Puzzle

Keys = npt.NDArray[np.uint64]
SLICE = 4096


def count_solutions(run: Run) -> dict[str, Any]:
    """{"length", "goal_states", "solutions"} of the shortest solutions from one start.

    goal_states: the states at the optimum that are goals, symmetric ones counted each. solutions:
    sequences of states, a Python integer. Raises NotFound without a goal, NotKept without layers.
    """
    puzzle = run.puzzle
    if not puzzle.undirected:
        raise NotFound("shortest solutions are counted for undirected puzzles only")
    row = next((row for row in run.ledger.depths() if row.get("goals")), None)
    if row is None:
        raise NotFound("the run has reached no goal, so there is no solution to count")
    depth = int(row["depth"])
    goals = [keys[puzzle.is_goal(keys)] for keys in run.states(depth)]
    on_path = [np.concatenate(goals)]
    for d in range(depth - 1, -1, -1):
        before = _neighbours(puzzle, on_path[-1])
        on_path.append(before[run.contains(d, before)])
    on_path.reverse()
    starts = puzzle.canonical(puzzle.plain_starts())
    counts = [int((starts == key).sum()) for key in on_path[0]]
    for keys, after in itertools.pairwise(on_path):
        counts = _forward(puzzle, keys, counts, after)
    return {
        "length": depth,
        "goal_states": int(puzzle.orbit_size(on_path[-1]).sum(dtype=np.int64)),
        "solutions": sum(counts),
    }


def _neighbours(puzzle: Puzzle, keys: Keys) -> Keys:
    """The distinct successors of some keys, ascending."""
    found: list[Keys] = [np.empty(0, np.uint64)]
    out = np.empty(SLICE * puzzle.max_successors, np.uint64)
    for start in range(0, keys.size, SLICE):
        n = puzzle.successors(keys[start : start + SLICE], out)
        found.append(np.unique(out[:n]))
    return np.unique(np.concatenate(found))


def _forward(puzzle: Puzzle, keys: Keys, counts: list[int], after: Keys) -> list[int]:
    """The numbers of shortest paths to `after`, from those to `keys` one move before."""
    total = [0] * after.size
    out = np.empty(puzzle.max_successors, np.uint64)
    for i, count in enumerate(counts):
        if not count:
            continue
        n = puzzle.plain_successors(keys[i : i + 1], out)
        children = puzzle.canonical(np.unique(out[:n]))
        places = np.searchsorted(after, children)
        inside = places < after.size
        for place, child in zip(places[inside].tolist(), children[inside].tolist(), strict=True):
            if int(after[place]) == child:
                total[place] += count
    return total
