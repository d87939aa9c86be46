"""What happened from one state to the next: which piece slid, and along which way.

Placements as in `puzzles.blocks.render`. Coordinates in words are those of a definition: row and
column of the top left of the piece's bounding box, from 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from puzzles.blocks.definition import place
from puzzles.blocks.model import Cell, Kind, Model
from puzzles.blocks.render import Placement, draw
from puzzles.errors import PuzzleError

DIRECTIONS = {"up": (-1, 0), "left": (0, -1), "right": (0, 1), "down": (1, 0)}


@dataclass(frozen=True)
class Slide:
    """One piece's way: `origin` and `target` are anchors, `path` a direction for every step."""

    kind: int
    origin: Cell
    target: Cell
    path: tuple[str, ...]

    @property
    def way(self) -> str:
        """The path in words, as in "right 2, down"."""
        runs = [(direction, len(list(run))) for direction, run in groupby(self.path)]
        return ", ".join(word if n == 1 else f"{word} {n}" for word, n in runs)


@dataclass(frozen=True)
class Chapter:
    """A slide of a path with the piece that made it, and the board after it."""

    slide: Slide
    piece: str
    text: str
    board: str


def slide(model: Model, before: Placement, after: Placement) -> Slide:
    """The slide between two states one move apart, in any metric.

    A shortest way, and of those one with few turns. Raises PuzzleError when no single piece can
    have slid.
    """
    changes = [
        (number, sorted(set(old) - set(new)), sorted(set(new) - set(old)))
        for number, (old, new) in enumerate(zip(before, after, strict=True))
        if tuple(sorted(old)) != tuple(sorted(new))
    ]
    if len(changes) != 1 or len(changes[0][1]) != 1 or len(changes[0][2]) != 1:
        raise PuzzleError(f"not one piece of {model.name} moves between these two states")
    number, (origin,), (target,) = changes[0]
    free = _free(model, before, number, origin)
    kind = model.kinds[number]
    path = _path(kind, free, origin, target)
    if path is None:
        raise PuzzleError(
            f"no piece of class {kind.name} can slide from {place(corner(kind, origin))} to"
            f" {place(corner(kind, target))}"
        )
    return Slide(number, origin, target, path)


def describe(model: Model, before: Placement, after: Placement) -> str:
    """A move in words without knowing what came before.

    A piece of a kind with several is named by its class and where it stands.
    """
    found = slide(model, before, after)
    kind = model.kinds[found.kind]
    if kind.count == 1:
        return f"{kind.pieces[0]} {found.way}"
    y, x = corner(kind, found.origin)
    return f"{kind.name} at {y + 1}, {x + 1} {found.way}"


def follow(model: Model, placements: Sequence[Placement]) -> list[Chapter]:
    """The moves of a path of states with every piece followed by its own name.

    One chapter less than placements. At the first placement the pieces of a kind have the names of
    the start in their order: the real names, if it is the start.
    """
    return list(_chapters(model, placements))


def _chapters(model: Model, placements: Sequence[Placement]) -> Iterable[Chapter]:
    if not placements:
        return
    pieces = [
        dict(zip(sorted(anchors), group, strict=True))
        for anchors, group in zip(placements[0], model.start_pieces, strict=True)
    ]
    for before, after in pairwise(placements):
        found = slide(model, before, after)
        piece = pieces[found.kind].pop(found.origin)
        pieces[found.kind][found.target] = piece
        ordered = tuple(tuple(sorted(group)) for group in pieces)
        names = [
            [group[at] for at in anchors] for group, anchors in zip(pieces, ordered, strict=True)
        ]
        yield Chapter(found, piece, f"{piece} {found.way}", draw(model, ordered, names))


def corner(kind: Kind, anchor: Cell) -> Cell:
    """The top left of the bounding box of a piece with this anchor."""
    return anchor[0] + kind.corner[0], anchor[1] + kind.corner[1]


def _free(model: Model, placement: Placement, moving: int, origin: Cell) -> set[Cell]:
    """The cells that neither a wall nor another piece than the moving one covers."""
    covered = set(model.walls)
    for number, (kind, anchors) in enumerate(zip(model.kinds, placement, strict=True)):
        for anchor in anchors:
            if (number, anchor) != (moving, origin):
                covered |= {(anchor[0] + dy, anchor[1] + dx) for dy, dx in kind.cells}
    return {
        (y, x) for y in range(model.height) for x in range(model.width) if (y, x) not in covered
    }


def _path(kind: Kind, free: set[Cell], origin: Cell, target: Cell) -> tuple[str, ...] | None:
    """Breadth-first from the target, so that walking downhill from the origin can keep straight."""
    left = {target: 0}
    layer = [target]
    while layer and origin not in left:
        ahead = []
        for y, x in layer:
            for dy, dx in DIRECTIONS.values():
                at = y + dy, x + dx
                if at not in left and all((at[0] + i, at[1] + j) in free for i, j in kind.cells):
                    left[at] = left[y, x] + 1
                    ahead.append(at)
        layer = ahead
    if origin not in left:
        return None
    path: list[str] = []
    at = origin
    while at != target:
        straight = path[-1:] + [word for word in DIRECTIONS if word not in path[-1:]]
        for word in straight:
            dy, dx = DIRECTIONS[word]
            beyond = at[0] + dy, at[1] + dx
            if left.get(beyond, -1) == left[at] - 1:
                path.append(word)
                at = beyond
                break
    return tuple(path)
