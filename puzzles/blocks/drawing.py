"""Reads a puzzle drawn with one character a cell: people draw boards.

    title: Klotski                (optional lines before the drawing: title, source, goal)
    a**b
    a**b        a letter, digit or sign is a piece, and all its cells have the same one;
    cdde        # is a wall, . is empty; blanks between cells do not count;
    cfge        rows and columns that are all wall, such as a frame, are cut off
    h..i

    ....        an optional second drawing, after an empty line, is the goal:
    ....        only the pieces that matter, . for all else
    ....
    .**.
    .**.

Pieces of one shape are interchangeable, but one that the goal names has to get there itself. With
the line `goal: byclass` any piece of its shape may, so that the goal can be a whole layout whose
like pieces are alike. A board without a goal can be searched to its end.
"""

from __future__ import annotations

from collections.abc import Sequence

from puzzles.blocks.definition import (
    LONGEST_SIDE,
    MOST_CELLS,
    ClassDefinition,
    Definition,
    PieceDefinition,
    check_name,
    connected,
    place,
)
from puzzles.blocks.model import Cell
from puzzles.errors import PuzzleError

LARGEST = 64 * 1024  # characters
WALL, EMPTY = "#", "."

_SETTINGS = ("title", "source", "goal", "symmetry")
_NOT_PIECES = "-_"

Rows = Sequence[str]


def read_drawing(text: str, name: str) -> Definition:
    """The definition drawn in `text`, of a file called `name`. Raises PuzzleError."""
    settings, boards = split(text)
    if not boards:
        raise PuzzleError(
            "there is no drawing: write one character a cell, # for walls, . if empty"
        )
    if len(boards) > 2:
        raise PuzzleError(
            f"there are {len(boards)} drawings, and should be one of the start and at most one of"
            " the goal, without empty lines inside"
        )
    start = _rows(boards[0], "the start")
    goal = _rows(boards[1], "the goal") if len(boards) == 2 else None
    _check_alike(start, goal)
    top, bottom, left, right = _frame(start)
    start = [row[left:right] for row in start[top:bottom]]
    goal = None if goal is None else [row[left:right] for row in goal[top:bottom]]
    by = settings.get("goal", "byid").lower()
    if by not in ("byid", "byclass"):
        raise PuzzleError(f"goal: {by[:40]!r} should be byid or byclass")
    symmetry = settings.get("symmetry", "on").lower()
    if symmetry not in ("on", "off"):
        raise PuzzleError(f"symmetry: {symmetry[:40]!r} should be on or off")
    return define(
        start,
        goals=None if goal is None else pieces_of(goal, "the goal"),
        name=name,
        title=check_name("the puzzle", settings["title"]) if settings.get("title") else "",
        source=check_name("the source", settings["source"]) if settings.get("source") else "",
        by_id=by == "byid",
        symmetric_allowed=symmetry == "on",
    )


def define(
    start: Rows,
    *,
    goals: dict[str, list[Cell]] | None,
    name: str,
    title: str = "",
    source: str = "",
    by_id: bool = True,
    symmetric_allowed: bool = True,
) -> Definition:
    """The definition of a drawn board with the cells that the goal wants of its pieces."""
    starts = pieces_of(start, "the start")
    for sign, cells in (goals or {}).items():
        if sign not in starts:
            raise PuzzleError(
                f"the goal has a piece {sign} at {place(cells[0])}, which the start has not"
            )
        if _form(cells) != _form(starts[sign]):
            raise PuzzleError(
                f"piece {sign} at {place(cells[0])} of the goal has not the shape of the start's"
            )
    classes: dict[tuple[Cell, str], ClassDefinition] = {}
    pieces: list[PieceDefinition] = []
    for sign, cells in starts.items():
        form = _form(cells)
        if form not in classes:
            size, bitmap = form
            full = "0" not in bitmap
            label = f"{size[0]}x{size[1]}" if full else f"shape of {sign}"
            classes[form] = ClassDefinition(label, size, bitmap)
        goal = (goals or {}).get(sign)
        pieces.append(
            PieceDefinition(
                sign, classes[form].name, _top_left(cells), None if not goal else _top_left(goal)
            )
        )
    return Definition(
        name=name,
        title=title,
        source=source,
        size=(len(start), len(start[0])),
        walls=frozenset(
            (y, x) for y, row in enumerate(start) for x, sign in enumerate(row) if sign == WALL
        ),
        classes=tuple(classes.values()),
        pieces=tuple(pieces),
        by_id=by_id,
        symmetric_allowed=symmetric_allowed,
    )


def split(text: str) -> tuple[dict[str, str], list[list[str]]]:
    """The settings of a text and its drawings, runs of lines without an empty one between."""
    if len(text) > LARGEST:
        raise PuzzleError(f"the drawing has more than {LARGEST} characters")
    settings: dict[str, str] = {}
    boards: list[list[str]] = []
    apart = True
    for line in text.splitlines():
        word, colon, value = line.strip().partition(":")
        word = word.strip().lower()
        if colon and word in _SETTINGS:
            if word in settings:
                raise PuzzleError(f"there is a second line {word}:")
            settings[word] = " ".join(value.split())
            apart = True
        elif not line.strip():
            apart = True
        elif apart:
            boards.append([line])
            apart = False
        else:
            boards[-1].append(line)
    return settings, boards


def pieces_of(rows: Rows, what: str) -> dict[str, list[Cell]]:
    """The cells of every piece in raster order, by its sign, in the order of first sight."""
    pieces: dict[str, list[Cell]] = {}
    for y, row in enumerate(rows):
        for x, sign in enumerate(row):
            if sign in (WALL, EMPTY):
                continue
            if sign in _NOT_PIECES or not sign.isprintable():
                raise PuzzleError(
                    f"{sign!r} at {place((y, x))} of {what} is no piece: write letters or digits, #"
                    " for a wall and . for an empty cell"
                )
            pieces.setdefault(sign, []).append((y, x))
    for sign, cells in pieces.items():
        apart = sorted(set(cells) - connected(cells))
        if apart:
            raise PuzzleError(
                f"piece {sign} falls apart in {what}: {place(apart[0])} is not connected with"
                f" {place(cells[0])}, so one of them needs a sign of its own"
            )
    return pieces


def _rows(lines: Rows, what: str) -> list[str]:
    rows = ["".join(line.split()) for line in lines]
    if len(rows) > LONGEST_SIDE or max(map(len, rows)) > LONGEST_SIDE:
        raise PuzzleError(f"the drawing of {what} is larger than {LONGEST_SIDE} x {LONGEST_SIDE}")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise PuzzleError(
                f"row {number} of {what} has {len(row)} cells, and row 1 has {len(rows[0])}"
            )
    if len(rows) * len(rows[0]) > MOST_CELLS:
        raise PuzzleError(f"the drawing of {what} has more than {MOST_CELLS} cells")
    return rows


def _check_alike(start: Rows, goal: Rows | None) -> None:
    """Both drawings are of one board. A goal may draw the walls or leave them out."""
    if goal is None:
        return
    if (len(goal), len(goal[0])) != (len(start), len(start[0])):
        raise PuzzleError(
            f"the goal is drawn {len(goal)} x {len(goal[0])}, and the start"
            f" {len(start)} x {len(start[0])}"
        )
    for y, row in enumerate(goal):
        for x, sign in enumerate(row):
            if sign == WALL and start[y][x] != WALL:
                raise PuzzleError(f"the goal has a wall at {place((y, x))}, and the start has none")
            if sign not in (WALL, EMPTY) and start[y][x] == WALL:
                raise PuzzleError(
                    f"piece {sign} has its goal at {place((y, x))}, where the start has a wall"
                )


def _frame(rows: Rows) -> tuple[int, int, int, int]:
    """The half-open rows and columns that hold more than wall."""
    inside = [(y, x) for y, row in enumerate(rows) for x, sign in enumerate(row) if sign != WALL]
    if not inside:
        raise PuzzleError("the start is all wall")
    ys, xs = [y for y, _ in inside], [x for _, x in inside]
    return min(ys), max(ys) + 1, min(xs), max(xs) + 1


def _top_left(cells: Sequence[Cell]) -> Cell:
    return min(y for y, _ in cells), min(x for _, x in cells)


def _form(cells: Sequence[Cell]) -> tuple[Cell, str]:
    """The size and the bitmap of a piece wherever it stands."""
    top, left = _top_left(cells)
    height = max(y for y, _ in cells) - top + 1
    width = max(x for _, x in cells) - left + 1
    covered = {(y - top, x - left) for y, x in cells}
    return (height, width), "".join(
        "01"[divmod(i, width) in covered] for i in range(height * width)
    )
