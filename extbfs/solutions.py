"""Counting shortest solutions: how many there are, and at how many goal states they end.

Backwards from the goal states of the optimum, only states on a shortest path are kept; forwards,
their numbers of shortest paths are added up. With symmetry the way forwards is among plain states,
from the real starts on: the goals at the optimum of one start need not be those of its image.
"""

from __future__ import annotations

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

    goal_states: the states at the optimum that are goals. solutions: sequences of states, a Python
    integer. With symmetry both are of plain states. Raises NotFound without a goal, NotKept
    without layers.
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
    starts = puzzle.plain_starts()
    begun = starts[_among(puzzle.canonical(starts), on_path[0])]
    counts = dict.fromkeys(begun.tolist(), 1)
    for after in on_path[1:]:
        counts = _forward(puzzle, counts, after)
    return {"length": depth, "goal_states": len(counts), "solutions": sum(counts.values())}


def _neighbours(puzzle: Puzzle, keys: Keys) -> Keys:
    """The distinct successors of some keys, ascending."""
    found: list[Keys] = [np.empty(0, np.uint64)]
    out = np.empty(SLICE * puzzle.max_successors, np.uint64)
    for start in range(0, keys.size, SLICE):
        n = puzzle.successors(keys[start : start + SLICE], out)
        found.append(np.unique(out[:n]))
    return np.unique(np.concatenate(found))


def _forward(puzzle: Puzzle, counts: dict[int, int], after: Keys) -> dict[int, int]:
    """The numbers of shortest paths to plain states, from those to the states one move before.

    after: the canonical keys that lie on a shortest path.
    """
    total: dict[int, int] = {}
    out = np.empty(puzzle.max_successors, np.uint64)
    for key, count in counts.items():
        n = puzzle.plain_successors(np.array([key], np.uint64), out)
        children = np.unique(out[:n])
        for child in children[_among(puzzle.canonical(children), after)].tolist():
            total[child] = total.get(child, 0) + count
    return total


def _among(keys: Keys, members: Keys) -> npt.NDArray[np.bool_]:
    """Which of some keys are among `members`, sorted and at least one: bool[n]."""
    places = np.minimum(np.searchsorted(members, keys), members.size - 1)
    return np.asarray(members[places] == keys)
