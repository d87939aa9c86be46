"""How many successors a position can have at most: true for every position, and small."""

from __future__ import annotations

from puzzles.blocks.model import Kind, Model
from puzzles.blocks.symmetry import anchors_of


def empty_cells(model: Model) -> int:
    """How many cells are neither wall nor covered, in every position."""
    covered = sum(len(kind.cells) * kind.count for kind in model.kinds)
    return model.height * model.width - len(model.walls) - covered


def most_steps(model: Model) -> int:
    """A bound for steps of one cell; at least 1.

    A step in one direction needs the cells just ahead of the piece to be empty. No two pieces share
    a cell ahead of them, since the cell behind it belongs to one piece. So the numbers of cells
    ahead of all pieces that can go in one direction add up to at most the number of empty cells.
    """
    total = 0
    for dy, dx in ((-1, 0), (0, -1), (0, 1), (1, 0)):
        left = empty_cells(model)
        ahead = sorted((_ahead(kind, dy, dx), kind.count) for kind in model.kinds)
        for cells, count in ahead:
            able = min(count, left // cells)
            total += able
            left -= able * cells
    return max(1, total)


def most_straight(model: Model) -> int:
    """A bound for moves of one piece any distance in one direction; at least 1.

    A piece that can go n cells has n empty cells before its foremost one in each row (or column)
    that it takes up. Each of them is before that piece alone. So n times the rows, added up over
    all pieces, is at most the number of empty cells.
    """
    total = 0
    for axis, board in enumerate((model.height, model.width)):
        left = empty_cells(model)
        for rows, longest in sorted(_lanes(kind, axis, board) for kind in model.kinds):
            able = min(longest, left // rows)
            total += 2 * able  # forth and back
            left -= able * rows
    return max(1, total)


def most_moves(model: Model) -> int:
    """A bound for moves of one piece any distance; at least 1.

    Where a piece of a cells reaches r anchors, its own included, it sweeps at least a + r - 1 cells
    (as |A + B| >= |A| + |B| - 1 in the plane), all empty or its own: so r - 1 is at most the number
    of empty cells. And a piece moves at all only if it can make a step.
    """
    empty = empty_cells(model)
    reach = sorted(
        (
            (min(empty, len(anchors_of(model, kind)) - kind.count), kind.count)
            for kind in model.kinds
        ),
        reverse=True,
    )
    movable, total = most_steps(model), 0
    for cells, count in reach:
        able = min(count, movable)
        total += able * cells
        movable -= able
    return max(1, total)


def _ahead(kind: Kind, dy: int, dx: int) -> int:
    own = set(kind.cells)
    return sum((y + dy, x + dx) not in own for y, x in own)


def _lanes(kind: Kind, axis: int, board: int) -> tuple[int, int]:
    """How many columns (axis 0) or rows (axis 1) a piece takes up, and how many cells all pieces of
    the kind can go along them at most, on a board of that length."""
    along = [cell[axis] for cell in kind.cells]
    across = {cell[1 - axis] for cell in kind.cells}
    return len(across), kind.count * (board - 1 - max(along) + min(along))
