"""Walking back through the layers: a shortest path from a start to a state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from extbfs.reader import Run
    from puzzles.contract import Puzzle

U64 = np.uint64
SLICE = 8192


def walk_back(run: Run, key: int, depth: int) -> list[int]:
    """The keys from a start, in layer 0, to `key`, in layer `depth`.

    Undirected: of the state's neighbours the least that lies in the layer before, by point
    look-ups. Directed: the puzzle's predecessors if it gives them, else that layer is expanded
    again until a parent shows.
    """
    keys = [key]
    for d in range(depth, 0, -1):
        keys.append(parent_of(run, keys[-1], d))
    return keys[::-1]


def unfold(puzzle: Puzzle, keys: list[int], wanted: int | None) -> list[int]:
    """Real states along a path of canonical keys, from a real start on, each a move from the last.

    wanted: the state it should end at if it can; else it ends at an image of that.
    """
    if not puzzle.symmetric:
        return keys
    starts = puzzle.plain_starts()
    here = [int(key) for key in starts[puzzle.canonical(starts) == U64(keys[0])]]
    came: list[dict[int, int]] = [dict.fromkeys(here, -1)]
    out = np.empty(puzzle.max_successors, np.uint64)
    for key in keys[1:]:
        step: dict[int, int] = {}
        for state in came[-1]:
            n = puzzle.plain_successors(np.array([state], np.uint64), out)
            children = np.unique(out[:n])
            for child in children[puzzle.canonical(children) == U64(key)].tolist():
                step.setdefault(child, state)
        came.append(step)
    last = wanted if wanted in came[-1] else min(came[-1])
    states = [last]
    for step in reversed(came[1:]):
        states.append(step[states[-1]])
    return states[::-1]


def parent_of(run: Run, key: int, depth: int) -> int:
    """The least key of layer depth - 1 that has `key`, of layer `depth`, among its successors."""
    puzzle = run.puzzle
    candidates = _predecessors(puzzle, key)
    if candidates is not None:
        found = candidates[run.contains(depth - 1, candidates)]
        if found.size:
            return int(found[0])
    else:
        for block in run.states(depth - 1):
            for start in range(0, block.size, SLICE):
                parent = _parent_among(puzzle, block[start : start + SLICE], key)
                if parent is not None:
                    return parent
    from store.errors import IntegrityError

    raise IntegrityError(
        f"layer {depth - 1}", "all", f"no state of it leads to state {key} of layer {depth}"
    )


def _predecessors(puzzle: Puzzle, key: int) -> np.ndarray | None:
    """Sorted distinct keys that may lead to `key`, or None if the puzzle cannot say."""
    ask = puzzle.successors if puzzle.undirected else getattr(puzzle, "predecessors", None)
    if ask is None:
        return None
    room = puzzle.max_successors
    if not puzzle.undirected:
        room = int(getattr(puzzle, "max_predecessors", room))
    out = np.empty(room, np.uint64)
    n = ask(np.array([key], np.uint64), out)
    return np.unique(out[:n])


def _parent_among(puzzle: Puzzle, keys: np.ndarray, child: int) -> int | None:
    """The first of `keys` with `child` among its successors."""
    out = np.empty(keys.size * puzzle.max_successors, np.uint64)
    n = puzzle.successors(keys, out)
    if not (out[:n] == U64(child)).any():
        return None
    low, high = 0, keys.size
    while high - low > 1:
        middle = (low + high) // 2
        n = puzzle.successors(keys[low:middle], out)
        if (out[:n] == U64(child)).any():
            high = middle
        else:
            low = middle
    return int(keys[low])
