"""Rebuilds a model from plain stored data, which may come from a stranger: every type is checked.

The puzzle itself is checked by `puzzles.blocks.definition.build`, as any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from puzzles.blocks.definition import (
    LONGEST_NAME,
    MOST_CELLS,
    ClassDefinition,
    Definition,
    PieceDefinition,
    build,
    check_name,
    check_size,
)
from puzzles.blocks.model import Cell, Model
from puzzles.errors import PuzzleError


def model_of(spec: Mapping[str, Any]) -> Model:
    """The model whose `to_spec` this is; PuzzleError on anything else."""
    size = _cell(spec.get("size"), "size")
    check_size("a board", size)
    classes: list[ClassDefinition] = []
    pieces: list[PieceDefinition] = []
    for entry in _items(spec.get("kinds"), "kinds"):
        if not isinstance(entry, Mapping):
            raise PuzzleError(f"the stored puzzle has {entry!r:.40} where a kind should be")
        _kind(entry, classes, pieces)
    allowed = spec.get("symmetric_allowed", True)
    if not isinstance(allowed, bool):
        raise PuzzleError("the stored puzzle's symmetric_allowed should be true or false")
    return build(
        Definition(
            name=check_name("the stored puzzle", _text(spec, "name")),
            title=_words(spec, "title"),
            source=_words(spec, "source"),
            size=size,
            walls=frozenset(_cells(spec, "walls")),
            classes=tuple(classes),
            pieces=tuple(pieces),
            by_id=False,  # what is told apart is a kind of its own already
            symmetric_allowed=allowed,
        )
    )


def _kind(
    entry: Mapping[str, Any], classes: list[ClassDefinition], pieces: list[PieceDefinition]
) -> None:
    name = check_name("a stored kind", _text(entry, "name"), 3 * LONGEST_NAME)
    cells = _cells(entry, "cells")
    if not cells:
        raise PuzzleError(f"the stored kind {name} has no cells")
    top, left = min(y for y, _ in cells), min(x for _, x in cells)
    height, width = max(y for y, _ in cells) - top + 1, max(x for _, x in cells) - left + 1
    check_size(f"the stored kind {name}", (height, width))
    covered = {(y - top, x - left) for y, x in cells}
    bitmap = "".join("01"[divmod(i, width) in covered] for i in range(height * width))
    classes.append(ClassDefinition(name, (height, width), bitmap))
    first = min(covered)  # a kind's cells are counted from its first one

    def corner(anchor: Cell) -> Cell:
        return anchor[0] - first[0], anchor[1] - first[1]

    names = _names(entry, "pieces")
    start = dict(zip(_names(entry, "start_pieces"), _cells(entry, "start"), strict=False))
    goal = _cells(entry, "goal")
    shorts = _names(entry, "shorts") or [""] * len(names)
    if set(start) != set(names) or len(shorts) != len(names) or len(goal) > len(names):
        raise PuzzleError(f"the stored kind {name} has not one start for each of its pieces")
    for number, piece in enumerate(names):
        target = corner(goal[number]) if number < len(goal) else None
        pieces.append(PieceDefinition(piece, name, corner(start[piece]), target, shorts[number]))


def _items(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list) or len(value) > MOST_CELLS:
        raise PuzzleError(f"the stored puzzle's {what} should be a list of at most {MOST_CELLS}")
    return value


def _names(entry: Mapping[str, Any], field: str) -> list[str]:
    names = _items(entry.get(field), field)
    for name in names:
        if not isinstance(name, str) or (name and check_name("a stored piece", name) != name):
            raise PuzzleError(f"the stored puzzle has {name!r:.40} in {field}, and no name")
    return names


def _cells(entry: Mapping[str, Any], field: str) -> list[Cell]:
    return [_cell(value, field) for value in _items(entry.get(field), field)]


def _cell(value: Any, field: str) -> Cell:
    if (
        not isinstance(value, list)
        or len(value) != 2
        or any(type(number) is not int or abs(number) > MOST_CELLS for number in value)
    ):
        raise PuzzleError(f"the stored puzzle has {value!r:.40} in {field}, and no cell")
    return value[0], value[1]


def _words(entry: Mapping[str, Any], field: str) -> str:
    text = _text(entry, field)
    return check_name(f"the stored {field}", text) if text else ""


def _text(entry: Mapping[str, Any], field: str) -> str:
    value = entry.get(field, "")
    if not isinstance(value, str) or len(value) > 10_000:
        raise PuzzleError(f"the stored puzzle's {field} should be text")
    return value
