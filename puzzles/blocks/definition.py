"""A puzzle as its author defines it, and the one place where it is checked and made a `Model`.

Every way to write a puzzle down (XML, drawings, GNOME's maps, a stored spec) ends here. Cells are
(y, x) from 0; messages count rows and columns from 1 at the top left inside the border.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from puzzles.blocks.model import Cell, Kind, Model
from puzzles.errors import PuzzleError

LONGEST_SIDE = 64
MOST_CELLS = 1024
LONGEST_NAME = 100


@dataclass(frozen=True)
class ClassDefinition:
    """Pieces of one shape: `size` (height, width), and its cells row by row as 0 and 1."""

    name: str
    size: Cell
    bitmap: str | None = None  # None: all of it


@dataclass(frozen=True)
class PieceDefinition:
    """A piece: its class, and where the top left of its bounding box starts and has to end."""

    name: str
    class_name: str
    init: Cell
    goal: Cell | None = None
    short: str = ""


@dataclass(frozen=True)
class Definition:
    """A puzzle as written, not yet checked.

    by_id: a piece with a goal has to get there itself; otherwise any piece of its class may.
    symmetric_allowed: False when the author tells mirror images apart.
    """

    name: str
    size: Cell
    classes: tuple[ClassDefinition, ...]
    pieces: tuple[PieceDefinition, ...]
    walls: frozenset[Cell] = frozenset()
    by_id: bool = True
    symmetric_allowed: bool = True
    title: str = ""
    source: str = ""


@dataclass(frozen=True)
class _Shape:
    """The checked cells of a class, from its anchor."""

    cells: tuple[Cell, ...]
    corner: Cell

    def anchor(self, top_left: Cell) -> Cell:
        return top_left[0] - self.corner[0], top_left[1] - self.corner[1]

    def at(self, anchor: Cell) -> list[Cell]:
        return [(anchor[0] + dy, anchor[1] + dx) for dy, dx in self.cells]


def build(definition: Definition) -> Model:
    """The model of a definition, or PuzzleError naming the piece and the place that is wrong."""
    _check_board(definition)
    shapes = _shapes(definition.classes)
    pieces = definition.pieces
    _check_pieces(pieces, shapes)
    starts = _place(definition, shapes, "starts", {p.name: p.init for p in pieces})
    wanted = {piece.name: piece.goal for piece in pieces if piece.goal is not None}
    goals = _place(definition, shapes, "has its goal", wanted)
    kinds, members = _kinds(definition, shapes)
    order = [sorted(group, key=starts.__getitem__) for group in members]
    return Model(
        name=definition.name,
        title=definition.title or definition.name,
        source=definition.source,
        height=definition.size[0],
        width=definition.size[1],
        walls=definition.walls,
        kinds=kinds,
        start=tuple(tuple(starts[name] for name in group) for group in order),
        goal=tuple(
            tuple(sorted(goals[name] for name in group if name in goals)) for group in members
        ),
        start_pieces=tuple(tuple(group) for group in order),
        symmetric_allowed=definition.symmetric_allowed,
    )


def check_size(what: str, size: Cell) -> None:
    """PuzzleError unless both sides are at least 1 and small enough to be built."""
    height, width = size
    if height < 1 or width < 1:
        raise PuzzleError(f"{what} of {height} x {width} has no cells: both must be at least 1")
    if max(size) > LONGEST_SIDE or height * width > MOST_CELLS:
        raise PuzzleError(
            f"{what} of {height} x {width} is too large: a side may have {LONGEST_SIDE} cells, and"
            f" the whole {MOST_CELLS}"
        )


def check_name(what: str, name: str, longest: int = LONGEST_NAME) -> str:
    """`name` with blanks around it gone and those inside it single, or PuzzleError."""
    name = " ".join(name.split())
    if not name:
        raise PuzzleError(f"{what} has no name")
    if len(name) > longest or not name.isprintable():
        raise PuzzleError(
            f"{what} is named {name[:40]!r}, and a name has at most {longest} printable characters"
        )
    return name


def place(cell: Cell) -> str:
    """A cell for people."""
    return f"row {cell[0] + 1}, column {cell[1] + 1}"


def first(names: Iterable[str]) -> str | None:
    """The first name that comes a second time."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _check_board(definition: Definition) -> None:
    check_size("a board", definition.size)
    for cell in sorted(definition.walls):
        if not _inside(cell, definition.size):
            raise PuzzleError(f"the wall at {place(cell)} is off {_board(definition.size)}")


def _shapes(classes: Iterable[ClassDefinition]) -> dict[str, _Shape]:
    shapes: dict[str, _Shape] = {}
    for entry in classes:
        if entry.name in shapes:
            raise PuzzleError(f"two classes have the name {entry.name}")
        shapes[entry.name] = _shape(entry)
    return shapes


def _shape(entry: ClassDefinition) -> _Shape:
    check_size(f"class {entry.name}", entry.size)
    height, width = entry.size
    bitmap = "1" * (height * width) if entry.bitmap is None else entry.bitmap
    if len(bitmap) != height * width:
        raise PuzzleError(
            f"the bitmap of class {entry.name} has {len(bitmap)} cells, and {height} x {width}"
            f" needs {height * width}"
        )
    covered = [divmod(i, width) for i, bit in enumerate(bitmap) if bit == "1"]
    for what, axis, length in (("row", 0, height), ("column", 1, width)):
        missing = set(range(length)) - {cell[axis] for cell in covered}
        if missing:
            raise PuzzleError(
                f"{what} {min(missing) + 1} of the bitmap of class {entry.name} is empty, so its"
                f" size should be smaller than {height} x {width}"
            )
    apart = sorted(set(covered) - connected(covered))
    if apart:
        raise PuzzleError(
            f"class {entry.name} falls apart: {place(apart[0])} of its bitmap is not connected with"
            f" {place(covered[0])}"
        )
    top, left = covered[0]
    return _Shape(tuple((y - top, x - left) for y, x in covered), (-top, -left))


def connected(cells: Iterable[Cell]) -> set[Cell]:
    """Those of `cells` that hang together with the first, edge by edge."""
    rest = set(cells)
    reached: set[Cell] = set()
    ahead = [min(rest)]
    while ahead:
        y, x = ahead.pop()
        if (y, x) in rest:
            rest.discard((y, x))
            reached.add((y, x))
            ahead += [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]
    return reached


def _check_pieces(pieces: tuple[PieceDefinition, ...], shapes: Mapping[str, _Shape]) -> None:
    if not pieces:
        raise PuzzleError("the puzzle has no pieces")
    twice = first(piece.name for piece in pieces)
    if twice is not None:
        raise PuzzleError(f"two pieces have the name {twice}")
    for piece in pieces:
        if piece.class_name not in shapes:
            raise PuzzleError(
                f"piece {piece.name} is of the class {piece.class_name}, which there is not"
            )


def _place(
    definition: Definition, shapes: Mapping[str, _Shape], verb: str, tops: Mapping[str, Cell]
) -> dict[str, Cell]:
    """The anchors of the pieces of `tops`, put on the board one after the other."""
    owner: dict[Cell, str] = {}
    anchors: dict[str, Cell] = {}
    for piece in definition.pieces:
        if piece.name not in tops:
            continue
        top = tops[piece.name]
        shape = shapes[piece.class_name]
        anchor = shape.anchor(top)
        where = f"piece {piece.name} {verb} at {place(top)}"
        for cell in shape.at(anchor):
            if not _inside(cell, definition.size):
                raise PuzzleError(f"{where}, where {place(cell)} is off {_board(definition.size)}")
            if cell in definition.walls:
                raise PuzzleError(f"{where}, where {place(cell)} is a wall")
            other = owner.setdefault(cell, piece.name)
            if other != piece.name:
                raise PuzzleError(f"{where} and overlaps piece {other} at {place(cell)}")
        anchors[piece.name] = anchor
    return anchors


def _kinds(
    definition: Definition, shapes: Mapping[str, _Shape]
) -> tuple[tuple[Kind, ...], list[list[str]]]:
    """The kinds, and the names of their pieces: a class, or a piece that its goal tells apart."""
    kinds: list[Kind] = []
    members: list[list[str]] = []
    for entry in definition.classes:
        pieces = [piece for piece in definition.pieces if piece.class_name == entry.name]
        alone = [[p] for p in pieces if definition.by_id and p.goal is not None]
        together = [p for p in pieces if not (definition.by_id and p.goal is not None)]
        for group in [*alone, *([together] if together else [])]:
            name = entry.name
            if len(group) < len(pieces) and group is not together:
                name = f"{entry.name} {group[0].name}"
                while name in shapes:
                    name += "'"
            shape = shapes[entry.name]
            kinds.append(
                Kind(
                    name=name,
                    cells=shape.cells,
                    count=len(group),
                    pieces=tuple(piece.name for piece in group),
                    corner=shape.corner,
                    shorts=tuple(p.short for p in group) if any(p.short for p in group) else (),
                )
            )
            members.append([piece.name for piece in group])
    return tuple(kinds), members


def _inside(cell: Cell, size: Cell) -> bool:
    return 0 <= cell[0] < size[0] and 0 <= cell[1] < size[1]


def _board(size: Cell) -> str:
    return f"the board of {size[0]} x {size[1]}"
