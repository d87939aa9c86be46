"""A layout as people write, read and draw it: numbers row by row, 0 for the blank."""

from __future__ import annotations

import re
from collections.abc import Sequence

from puzzles.errors import PuzzleError

Layout = tuple[int, ...]  # rows * columns numbers row by row, each of 0 .. rows*columns-1 once

_SEPARATORS = re.compile(r"[\s,;/()\[\]|]+")
_FRAME = re.compile(r"[-+]{2,}")
_BLANKS = ("_", ".")


def standard(rows: int, columns: int, which: str) -> Layout:
    """The ordered board with the blank `last` (1 2 3 .. 0) or `first` (0 1 2 ..)."""
    cells = rows * columns
    return (*range(1, cells), 0) if which == "last" else tuple(range(cells))


def parse(text: str, rows: int, columns: int) -> Layout:
    """The layout in `text`: numbers with blanks, commas, newlines or / between, blank as 0, _ or .

    Brackets and frames are skipped, so that what is printed can be pasted. Raises PuzzleError.
    """
    words = [word for word in _SEPARATORS.split(_FRAME.sub(" ", text)) if word]
    numbers = []
    for word in words:
        if word in _BLANKS:
            numbers.append(0)
        elif word.isascii() and word.isdigit():
            numbers.append(int(word[:20]))
        else:
            raise PuzzleError(
                f"{word!r} is not a tile: write numbers row by row, and 0, _ or . for the blank"
            )
    return check(numbers, rows, columns)


def check(numbers: Sequence[int], rows: int, columns: int) -> Layout:
    """`numbers` as a layout, or PuzzleError saying which number is missing, twice or too big."""
    cells = rows * columns
    if len(numbers) != cells:
        raise PuzzleError(
            f"the layout has {len(numbers)} numbers, and a board of {rows} x {columns} has {cells}"
        )
    seen: set[int] = set()
    for place, number in enumerate(numbers):
        where = f"in row {place // columns + 1}, column {place % columns + 1}"
        if not 0 <= number < cells:
            raise PuzzleError(
                f"{number} {where} is not on a board of {rows} x {columns},"
                f" whose tiles are 1 to {cells - 1}"
            )
        if number in seen:
            what = f"tile {number}" if number else "the blank"
            raise PuzzleError(f"{what} comes a second time {where}")
        seen.add(number)
    return tuple(numbers)


def rows_of(layout: Sequence[int], columns: int) -> tuple[Layout, ...]:
    """The layout as a tuple of rows."""
    return tuple(tuple(layout[i : i + columns]) for i in range(0, len(layout), columns))


def draw(layout: Sequence[int], columns: int) -> str:
    """The layout in a frame, the blank empty."""
    width = len(str(len(layout) - 1))
    frame = "+" + "-" * ((width + 1) * columns + 1) + "+"
    lines = [
        "| " + " ".join((str(tile) if tile else "_").rjust(width) for tile in row) + " |"
        for row in rows_of(layout, columns)
    ]
    return "\n".join([frame, *lines, frame])


def slide(
    before: Sequence[int], after: Sequence[int], columns: int
) -> tuple[list[int], str] | None:
    """The tiles that slid, in reading order, and where to; None when no slide leads there."""
    blank, target = before.index(0), after.index(0)
    if blank == target:
        return None
    if blank // columns == target // columns:
        step, direction = (1, "left") if target > blank else (-1, "right")
    elif blank % columns == target % columns:
        step, direction = (columns, "up") if target > blank else (-columns, "down")
    else:
        return None
    moved = list(before)
    for place in range(blank, target, step):
        moved[place], moved[place + step] = moved[place + step], moved[place]
    if moved != list(after):
        return None
    line = sorted(range(blank + step, target + step, step))
    return [before[place] for place in line], direction
