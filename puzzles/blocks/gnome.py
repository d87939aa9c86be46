"""Reads the maps of GNOME Klotski: as that program holds them, or as rows with a goal in JSON.

A map of the program: # wall, - gate, letters pieces, * the piece that has to get out, a blank is
empty, and the dots are the place where it has to go, most often outside. Only * may pass a gate.
Here the goal is the last place wholly inside, which costs as many moves since leaving is part of
the last one (fewer steps, of course); what is outside is dropped.

JSON: {"rows": ["a**b", ..], "goal": [row, column]} with . for empty cells and the goal of the top
left of *, from 0; or an object of several such maps by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from puzzles.blocks.definition import LONGEST_SIDE, Definition, check_name, place
from puzzles.blocks.drawing import EMPTY, LARGEST, WALL, define, read_drawing, split
from puzzles.blocks.model import Cell
from puzzles.errors import PuzzleError

HERO, GATE = "*", "-"
_MOST_MAPS = 10_000


def is_map(text: str) -> bool:
    """Whether this is a map of the program rather than a drawing: it has * and a gate."""
    lines = [line for board in split(text)[1] for line in board]
    return any(HERO in line for line in lines) and any(GATE in line for line in lines)


def read_map(text: str, name: str) -> Definition:
    """The definition of a map of the program. Raises PuzzleError."""
    if len(text) > LARGEST:
        raise PuzzleError(f"the map has more than {LARGEST} characters")
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    width = max(map(len, lines), default=0)
    if len(lines) > LONGEST_SIDE or width > LONGEST_SIDE:
        raise PuzzleError(f"the map is larger than {LONGEST_SIDE} x {LONGEST_SIDE}")
    cells = {
        (y, x): sign for y, line in enumerate(lines) for x, sign in enumerate(line.ljust(width))
    }
    hero = sorted(cell for cell, sign in cells.items() if sign == HERO)
    dots = sorted(cell for cell, sign in cells.items() if sign == EMPTY)
    if not hero:
        raise PuzzleError("the map has no piece *, which has to get out")
    form = _form(hero)
    if _form(dots) != form:
        raise PuzzleError("the dots of the map are not of the shape of the piece *")
    inside = _inside(cells, hero[0])
    goal = _last_inside(cells, inside, form, dots[0])
    top, left = min(y for y, _ in inside), min(x for _, x in inside)
    bottom, right = max(y for y, _ in inside) + 1, max(x for _, x in inside) + 1
    rows = [
        "".join(_sign(cells, (y, x)) if (y, x) in inside else WALL for x in range(left, right))
        for y in range(top, bottom)
    ]
    target = [(goal[0] + dy - top, goal[1] + dx - left) for dy, dx in form]
    return define(rows, goals={HERO: target}, name=name)


def read_json(text: str, name: str, wanted: str | None = None) -> Definition:
    """The definition of a map in JSON; `wanted` chooses one of several. Raises PuzzleError."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PuzzleError(f"the JSON cannot be read: {str(error)[:100]}") from None
    if not isinstance(data, dict) or len(data) > _MOST_MAPS:
        raise PuzzleError(
            'the JSON should be {"rows": [..], "goal": [row, column]}, or many by name'
        )
    if "rows" in data:
        return from_rows(data, name)
    names = "".join(sign for sign in ", ".join(data) if sign.isprintable())[:200]
    if wanted is None:
        raise PuzzleError(f"the JSON has {len(data)} maps ({names}): write blocks:FILE:NAME")
    if wanted not in data:
        raise PuzzleError(f"the JSON has no map {wanted!r:.60}, but {names}")
    return from_rows(data[wanted], wanted)


def from_rows(data: Any, name: str) -> Definition:
    """The definition of one map given as rows and a goal. Raises PuzzleError."""
    rows = data.get("rows") if isinstance(data, Mapping) else None
    if (
        not isinstance(rows, list)
        or not 0 < len(rows) <= LONGEST_SIDE
        or not all(isinstance(row, str) and 0 < len(row) <= LONGEST_SIDE for row in rows)
        or not all(row.isprintable() and " " not in row for row in rows)
    ):
        raise PuzzleError("the map should have rows, a list of texts without blanks")
    name = check_name("the map", name)
    if data.get("goal") is None:
        return read_drawing("\n".join(rows), name)
    return read_drawing("\n".join([*rows, "", *_goal_rows(rows, data["goal"])]), name)


def _goal_rows(rows: list[str], goal: Any) -> list[str]:
    """The drawing of the goal: * alone, with its top left at `goal`."""
    hero = [(y, x) for y, row in enumerate(rows) for x, sign in enumerate(row) if sign == HERO]
    if not hero:
        raise PuzzleError("the map has no piece *, which has to get out")
    if (
        not isinstance(goal, list)
        or len(goal) != 2
        or any(type(n) is not int or abs(n) > LONGEST_SIDE for n in goal)
    ):
        raise PuzzleError("the goal of the map should be [row, column] from 0")
    dy, dx = goal[0] - min(y for y, _ in hero), goal[1] - min(x for _, x in hero)
    target = {(y + dy, x + dx) for y, x in hero}
    off = sorted((y, x) for y, x in target if not (0 <= y < len(rows) and 0 <= x < len(rows[0])))
    if off:
        raise PuzzleError(f"piece * has its goal at {place(off[0])}, off the map")
    return [
        "".join(HERO if (y, x) in target else EMPTY for x in range(len(rows[0])))
        for y in range(len(rows))
    ]


def _form(cells: list[Cell]) -> list[Cell]:
    return [(y - cells[0][0], x - cells[0][1]) for y, x in cells]


def _sign(cells: Mapping[Cell, str], cell: Cell) -> str:
    sign = cells[cell]
    return EMPTY if sign in (" ", EMPTY) else sign


def _inside(cells: Mapping[Cell, str], start: Cell) -> set[Cell]:
    """What hangs together with the piece * without a wall or gate between."""
    inside: set[Cell] = set()
    ahead = [start]
    while ahead:
        y, x = ahead.pop()
        if (y, x) not in inside and cells.get((y, x), WALL) not in (WALL, GATE):
            inside.add((y, x))
            ahead += [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]
    return inside


def _last_inside(
    cells: Mapping[Cell, str], inside: set[Cell], form: list[Cell], goal: Cell
) -> Cell:
    """The place inside that * on an empty board leaves for the goal, going backwards from there."""
    layer, seen = {goal}, {goal}
    while layer:
        found = [
            at for at in sorted(layer) if all((at[0] + y, at[1] + x) in inside for y, x in form)
        ]
        if len(found) > 1:
            raise PuzzleError(
                f"the piece * can leave from {place(found[0])} and from {place(found[1])} of the"
                " map: draw the goal instead"
            )
        if found:
            return found[0]
        around = {
            (y + dy, x + dx) for y, x in layer for dy, dx in ((-1, 0), (1, 0), (0, -1), (0, 1))
        }
        layer = {
            at
            for at in around - seen
            if all(cells.get((at[0] + y, at[1] + x), WALL) != WALL for y, x in form)
        }
        seen |= layer
    raise PuzzleError("the piece * cannot get to the dots of the map")
