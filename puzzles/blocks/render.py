"""Boards for people: what a piece is called in a drawing, drawing a state, reading it back.

A state is a *placement*: per kind of the model the anchors of its pieces. Every piece has a *label*
of its own, one or two characters where the names allow; a board is drawn with a label in every
cell. Pieces of a kind are not told apart, so a single state is drawn with the labels of a kind in
the order of the start; `puzzles.blocks.story` follows pieces along a path instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import count

from puzzles.blocks.definition import place
from puzzles.blocks.model import Cell, Kind, Model
from puzzles.errors import PuzzleError

Placement = tuple[tuple[Cell, ...], ...]
Names = Sequence[Sequence[str]]

LARGEST = 64 * 1024  # characters of a layout
_LONGEST_LABEL = 6
_RESERVED = set("#./")


@lru_cache(maxsize=64)
def labels(model: Model) -> dict[str, str]:
    """The label of every piece by its name: its abbreviation, its name or the beginning of it.

    All differ and none has a blank, #, . or / in it.
    """
    wishes: list[tuple[str, str]] = []
    for kind in model.kinds:
        wishes += zip(kind.pieces, kind.shorts or [""] * kind.count, strict=True)
    found: dict[str, str] = {}
    taken: set[str] = set()

    def give(piece: str, candidates: Iterable[str]) -> None:
        for label in candidates:
            if _is_label(label) and label not in taken:
                found[piece] = label
                taken.add(label)
                return

    for piece, short in wishes:
        give(piece, [short])
    for piece, _ in wishes:
        if piece not in found and len(piece) <= 2:
            give(piece, [piece])
    for piece, _ in wishes:
        if piece not in found:
            give(piece, _abbreviations(piece))
    return found


def _is_label(text: str) -> bool:
    return (
        0 < len(text) <= _LONGEST_LABEL
        and text.isprintable()
        and not _RESERVED & set(text)
        and not any(sign.isspace() for sign in text)
    )


def _abbreviations(name: str) -> Iterable[str]:
    """Ever longer ways to shorten a name; no end of them."""
    signs = "".join(sign for sign in name if sign.isalnum() and sign.isprintable()) or "p"
    yield signs[:2]
    for sign in signs[:1:-1]:
        yield signs[0] + sign
    for number in count(1):
        yield f"{signs[0]}{number}"


def rows(model: Model, placement: Placement, names: Names | None = None) -> list[list[str]]:
    """Per row of the board the label in every cell, "#" for a wall and "." for an empty cell.

    names: the pieces in the order of `placement`; without it those of the start in their order.
    """
    called = labels(model)
    board = [["."] * model.width for _ in range(model.height)]
    for y, x in model.walls:
        board[y][x] = "#"
    pieces = model.start_pieces if names is None else names
    for kind, anchors, group in zip(model.kinds, placement, pieces, strict=True):
        for (y, x), name in zip(anchors, group, strict=False):
            for dy, dx in kind.cells:
                board[y + dy][x + dx] = called[name]
    return board


def draw(model: Model, placement: Placement, names: Names | None = None) -> str:
    """The board, a row a line, the cells in columns."""
    board = rows(model, placement, names)
    width = max((len(label) for row in board for label in row), default=1)
    return "\n".join(
        " ".join(
            label * width if label in ("#", ".") else label.ljust(width) for label in row
        ).rstrip()
        for row in board
    )


def inline(model: Model, placement: Placement, names: Names | None = None) -> str:
    """The board in one line that `parse` reads back."""
    return " / ".join(" ".join(row) for row in rows(model, placement, names))


def draw_goal(model: Model) -> str | None:
    """The pieces that the goal asks for, or None where there is no goal."""
    return draw(model, model.goal) if model.has_goal else None


def parse(model: Model, text: str, *, partial: bool = False) -> Placement:
    """The placement drawn in `text`: rows on lines of their own or with / between, labels in them.

    As `draw` and `inline` write it, or without blanks where every label is one character; a name
    may stand for its label. Of a kind it does not matter which piece stands where. Anchors come
    sorted. partial: pieces may be missing, for a goal. Raises PuzzleError.
    """
    board = _cells(model, text)
    kind_of = {name: number for number, kind in enumerate(model.kinds) for name in kind.pieces}
    called, piece_of = labels(model), _spoken(model)
    cells: dict[str, list[Cell]] = {}
    for y, row in enumerate(board):
        for x, label in enumerate(row):
            wall = (y, x) in model.walls
            if set(label) == {"#"}:
                if not wall:
                    raise PuzzleError(
                        f"the layout has a wall at {place((y, x))}, and the board none"
                    )
            elif set(label) <= {".", "_"}:
                if wall and not partial:
                    raise PuzzleError(
                        f"the layout has no wall at {place((y, x))}, the board has one"
                    )
            elif label not in piece_of:
                raise PuzzleError(
                    f"there is no piece {label[:20]!r}, as at {place((y, x))} of the layout: the"
                    f" pieces are {', '.join(called.values())}"
                )
            elif wall:
                raise PuzzleError(f"piece {label} covers {place((y, x))} of the layout, a wall")
            else:
                cells.setdefault(piece_of[label], []).append((y, x))
    found: list[list[Cell]] = [[] for _ in model.kinds]
    for name, covered in cells.items():
        number = kind_of[name]
        found[number].append(_anchor(model.kinds[number], covered, name))
    missing = [name for name in called if name not in cells]
    if missing and not partial:
        raise PuzzleError(f"the layout lacks the piece {missing[0]} ({called[missing[0]]})")
    if not cells:
        raise PuzzleError("the layout has no pieces")
    return tuple(tuple(sorted(anchors)) for anchors in found)


def _spoken(model: Model) -> dict[str, str]:
    """The piece that a label or a name in a layout means; labels go first."""
    called = labels(model)
    return {**{name: name for name in called}, **{label: name for name, label in called.items()}}


def _anchor(kind: Kind, covered: list[Cell], name: str) -> Cell:
    y, x = covered[0]
    if tuple((cy - y, cx - x) for cy, cx in covered) != kind.cells:
        raise PuzzleError(
            f"piece {name} of the layout, at {place((y, x))}, has not the shape of its class"
            f" {kind.name}"
        )
    return y, x


def _cells(model: Model, text: str) -> list[list[str]]:
    if len(text) > LARGEST:
        raise PuzzleError(f"the layout has more than {LARGEST} characters")
    lines = [line for line in text.replace("/", "\n").splitlines() if line.strip()]
    if len(lines) != model.height:
        raise PuzzleError(
            f"the layout has {len(lines)} row{'s' * (len(lines) != 1)}, and the board of"
            f" {model.name} has {model.height}"
        )
    board = []
    for number, line in enumerate(lines, start=1):
        row = line.split()
        if len(row) == 1 and model.width > 1:
            row = list(row[0])
        if len(row) != model.width:
            raise PuzzleError(
                f"row {number} of the layout has {len(row)} cells, and the board of {model.name}"
                f" has {model.width}"
            )
        board.append(row)
    return board


def with_start(model: Model, text: str) -> Model:
    """The model with the start drawn in `text`, as `parse` reads it. Raises PuzzleError."""
    start = parse(model, text)
    piece_of = _spoken(model)
    board = _cells(model, text)
    return replace(
        model,
        start=start,
        start_pieces=tuple(tuple(piece_of[board[y][x]] for y, x in anchors) for anchors in start),
    )


def with_goal(model: Model, text: str) -> Model:
    """The model with the goal drawn in `text`: the pieces that matter, . for all else.

    Pieces of a kind stay alike: any of them may hold a place of the goal. Raises PuzzleError.
    """
    return replace(model, goal=parse(model, text, partial=True))
