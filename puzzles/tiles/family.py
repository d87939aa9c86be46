"""The family `tiles`: from what a user wrote, or from a stored spec, to a puzzle."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from puzzles.errors import PuzzleError
from puzzles.tiles import board as boards
from puzzles.tiles.geometry import Geometry
from puzzles.tiles.puzzle import METRICS, TilesPuzzle

LONGEST_LINE = 1024  # cells of a 1xN board

_SIZE = re.compile(r"([0-9]{1,9})[xX×]([0-9]{1,9})")
_METRIC_NAMES = {
    "single": "single",
    "single-tile": "single",
    "multi": "multi",
    "multi-tile": "multi",
}


class TilesFamily:
    """Sliding tiles; parameters ROWSxCOLUMNS."""

    def from_text(
        self,
        parameters: str,
        *,
        start: str | None = None,
        goal: str | None = None,
        metric: str | None = None,
        symmetry: bool = True,
    ) -> TilesPuzzle:
        """`tiles:PARAMETERS` with the options of the command line. Raises PuzzleError."""
        del symmetry  # sliding tiles use none
        size = _SIZE.fullmatch(parameters.strip())
        if size is None:
            raise PuzzleError(
                f"tiles:{parameters} names no board: write tiles:ROWSxCOLUMNS, as in tiles:4x4"
            )
        geometry = board_of(int(size[1]), int(size[2]))
        rows, columns = geometry.rows, geometry.columns
        reference = None
        if goal is not None:
            ordered = goal.strip().lower()
            if ordered in ("first", "last"):
                reference = boards.standard(rows, columns, ordered)
            else:
                reference = boards.parse(goal, rows, columns)
        return TilesPuzzle(
            geometry,
            metric=metric_of("single" if metric is None else metric),
            reference=reference,
            start=None if start is None else boards.parse(start, rows, columns),
            has_goal=start is not None and goal is not None,
        )

    def from_spec(self, spec: Mapping[str, Any]) -> TilesPuzzle:
        """The puzzle that wrote `spec`. Raises PuzzleError on anything else."""
        rows, columns = _whole(spec, "rows"), _whole(spec, "columns")
        geometry = board_of(rows, columns)
        start = spec.get("start")
        has_goal = spec.get("has_goal")
        if not isinstance(has_goal, bool):
            raise PuzzleError("the stored puzzle has no has_goal, which should be true or false")
        return TilesPuzzle(
            geometry,
            metric=metric_of(spec.get("metric")),
            reference=_layout(spec, "goal", geometry),
            start=None if start is None else _layout(spec, "start", geometry),
            has_goal=has_goal,
        )


def board_of(rows: int, columns: int) -> Geometry:
    """The geometry of a board, or PuzzleError when it has no cell or its key does not fit."""
    if rows < 1 or columns < 1:
        raise PuzzleError(f"a board of {rows} x {columns} has no cells: both must be at least 1")
    if min(rows, columns) == 1:
        if rows * columns > LONGEST_LINE:
            raise PuzzleError(
                f"a board of {rows} x {columns} is too long: one line may have {LONGEST_LINE} cells"
            )
        return Geometry(rows, columns)
    if rows * columns > 1000:  # do not compute astronomic factorials for a typing error
        raise PuzzleError(
            f"the states of a board of {rows} x {columns} need far more than 64 bits:"
            " at most 20 cells fit"
        )
    geometry = Geometry(rows, columns)
    bits = (geometry.key_space - 1).bit_length()
    if bits > 63:
        raise PuzzleError(
            f"the states of a board of {rows} x {columns} need {bits} bits, and a key has 64:"
            " at most 20 cells fit"
        )
    return geometry


def metric_of(name: Any) -> str:
    """The metric's own name for one of its spellings."""
    if not isinstance(name, str) or name not in _METRIC_NAMES:
        raise PuzzleError(f"{name!r} is not a metric of tiles: they are {' and '.join(METRICS)}")
    return _METRIC_NAMES[name]


def _whole(spec: Mapping[str, Any], field: str) -> int:
    value = spec.get(field)
    if type(value) is not int:
        raise PuzzleError(f"the stored puzzle's {field} is {value!r}, and should be a whole number")
    return value


def _layout(spec: Mapping[str, Any], field: str, geometry: Geometry) -> boards.Layout:
    value = spec.get(field)
    if not isinstance(value, list) or any(type(number) is not int for number in value):
        raise PuzzleError(f"the stored puzzle's {field} should be a list of whole numbers")
    return boards.check(value, geometry.rows, geometry.columns)


FAMILY = TilesFamily()
