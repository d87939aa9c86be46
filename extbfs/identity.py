"""Which puzzle a run is of: rebuilding it from its spec, and comparing its moves with samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extbfs.errors import PuzzleChanged, UsageError
from puzzles.contract import Puzzle

SAMPLES = 64


def rebuild(spec: dict[str, Any], named: str | Puzzle | None) -> Puzzle:
    """The puzzle of a run; one that is a Python object must be named, or given, by the caller."""
    from puzzles.adapter import adapt
    from puzzles.registry import from_spec

    if named is not None and not isinstance(named, str):
        return adapt(named)
    if named is not None and spec.get("family") != "python":
        raise UsageError("--puzzle is only for runs whose puzzle is a Python object")
    return from_spec(spec, allow_import=named)


def samples_of(puzzle: Puzzle) -> list[list[int]]:
    """Up to 64 keys near the starts, each followed by its sorted distinct successors."""
    found: list[list[int]] = []
    queue = [int(key) for key in puzzle.starts()[:SAMPLES]]
    seen = set(queue)
    for key in queue:
        children = _successors(puzzle, key)
        found.append([key, *children])
        if len(found) == SAMPLES:
            break
        for child in children:
            if child not in seen and len(queue) < SAMPLES:
                seen.add(child)
                queue.append(child)
    return found


def _successors(puzzle: Puzzle, key: int) -> list[int]:
    out = np.empty(puzzle.max_successors, np.uint64)
    n = puzzle.successors(np.array([key], np.uint64), out)
    return sorted({int(child) for child in out[:n]})


def compare_samples(puzzle: Puzzle, samples: Sequence[Sequence[int]] | None) -> None:
    """Raise PuzzleChanged unless the puzzle still has the moves that the run recorded."""
    for key, *children in samples or []:
        if key >= puzzle.key_space or _successors(puzzle, key) != children:
            raise PuzzleChanged(
                f"{puzzle.name} is not the puzzle this run was started with: the moves of state "
                f"{key} have changed"
            )


def symmetry_note(puzzle: Puzzle) -> str | None:
    """What symmetry does to the counts, in a sentence, or None where there is none."""
    if not puzzle.symmetric:
        return None
    starts = np.asarray(puzzle.starts(), np.uint64)
    if bool((puzzle.orbit_size(starts) == 1).all()):
        return "`canonical` counts symmetric states once, `states` counts them all"
    return (
        "the start is not symmetric: depths are distances from the start or an image of it, "
        "`canonical` counts symmetric states once, `states` all of them; --no-symmetry tells the "
        "distances from the start alone"
    )
