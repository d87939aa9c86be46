"""Comparing a search with what is known of its puzzle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from puzzles.contract import Puzzle
from store.errors import IntegrityError


class KnownResultDiffers(IntegrityError):
    """{detail}: the search differs from the known result of {file}, so one of them is wrong."""


def compare_with_known(
    puzzle: Puzzle, rows: Sequence[Mapping[str, Any]], *, exhausted: bool
) -> None:
    """Raise KnownResultDiffers unless the complete depths agree with what the puzzle knows.

    rows: of the depth table, from depth 0. exhausted: there are no more depths.
    """
    known = puzzle.known_result()
    if known is None or not rows:
        return

    def require(what: str, found: object, wanted: object) -> None:
        if found != wanted:
            raise KnownResultDiffers(puzzle.name, None, f"{what} {found} and not {wanted}")

    for name, column in (("counts", "states"), ("canonical", "canonical")):
        if name in known and column in rows[0]:
            for row, wanted in zip(rows, known[name], strict=False):
                what = "states" if name == "counts" else "canonical states"
                require(f"the {what} at depth {row['depth']} are", row[column], wanted)
            if exhausted or len(rows) > len(known[name]):
                require("the last depth is", rows[-1]["depth"], len(known[name]) - 1)
    if exhausted:
        if "states" in known:
            require("the states are", rows[-1]["cumulative"], known["states"])
        if "eccentricity" in known:
            require("the last depth is", rows[-1]["depth"], known["eccentricity"])
    if "optimum" in known:
        optimum = known["optimum"]
        goal = next((row for row in rows if row.get("goals")), None)
        if goal is not None:
            require("the goal is at depth", goal["depth"], optimum)
            if "goal_states" in known:
                require("the goal states there are", goal["goals"], known["goal_states"])
        elif exhausted or (optimum is not None and rows[-1]["depth"] >= optimum):
            require("the goal is at depth", None, optimum)
