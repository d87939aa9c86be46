"""Symmetries of a puzzle: those of the board that leave walls, shapes and goal as they are.

A symmetry moves cells and may also exchange kinds: an L becomes a J, so both must exist, equally
often and with mirrored goals. Kinds that agree in shape, number and goal are matched in their
order, so that doing one symmetry after another matches kinds like the symmetry that results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from puzzles.blocks.model import Cell, Kind, Model

Shape = tuple[Cell, ...]
Signature = tuple[Shape, int, tuple[Cell, ...]]


@dataclass(frozen=True)
class Symmetry:
    """name: in words. image: of a cell. kinds: what each kind becomes. anchors: per kind the image
    of each anchor."""

    name: str
    image: Callable[[Cell], Cell]
    kinds: tuple[int, ...]
    anchors: tuple[dict[Cell, Cell], ...]


def anchors_of(model: Model, kind: Kind) -> list[Cell]:
    """Where a piece may have its anchor if it were alone, in raster order."""
    return [
        (y, x)
        for y in range(model.height)
        for x in range(model.width)
        if all(_is_free(model, (y + dy, x + dx)) for dy, dx in kind.cells)
    ]


def symmetries(model: Model) -> list[Symmetry]:
    """All symmetries of the puzzle, the identity first; they form a group."""
    found = (_symmetry(model, name, image) for name, image in _images(model.height, model.width))
    return [symmetry for symmetry in found if symmetry is not None]


def keeps_parity(model: Model, symmetry: Symmetry) -> bool:
    """Whether the parity of the sum of x + y over the corners of all pieces stays the same.

    The symmetry changes x + y of a kind's piece by the same parity wherever it is, so that one
    place a kind decides.
    """
    change = 0
    for number, kind in enumerate(model.kinds):
        image = model.kinds[symmetry.kinds[number]]
        before = model.start[number][0]
        after = symmetry.anchors[number][before]
        change += kind.count * (sum(before) + sum(kind.corner) + sum(after) + sum(image.corner))
    return change % 2 == 0


def _images(height: int, width: int) -> list[tuple[str, Callable[[Cell], Cell]]]:
    bottom, right = height - 1, width - 1
    images: list[tuple[str, Callable[[Cell], Cell]]] = [
        ("identity", lambda c: c),
        ("left and right exchanged", lambda c: (c[0], right - c[1])),
        ("top and bottom exchanged", lambda c: (bottom - c[0], c[1])),
        ("turned by 180 degrees", lambda c: (bottom - c[0], right - c[1])),
    ]
    if height == width:
        images += [
            ("transposed", lambda c: (c[1], c[0])),
            ("turned by 90 degrees", lambda c: (c[1], right - c[0])),
            ("turned by 270 degrees", lambda c: (bottom - c[1], c[0])),
            ("transposed along the other diagonal", lambda c: (bottom - c[1], right - c[0])),
        ]
    return images


def _symmetry(model: Model, name: str, image: Callable[[Cell], Cell]) -> Symmetry | None:
    """The symmetry of cells as one of the puzzle; None where the puzzle does not have it."""
    if {image(cell) for cell in model.walls} != model.walls:
        return None
    known: dict[Signature, list[int]] = {}
    for number, kind in enumerate(model.kinds):
        signature = (kind.cells, kind.count, tuple(sorted(model.goal[number])))
        known.setdefault(signature, []).append(number)
    kinds = [-1] * len(model.kinds)
    for (cells, count, goal), numbers in known.items():
        turned = _turned(cells, image)
        goals = tuple(sorted(_anchor(cells, place, image) for place in goal))
        becomes = known.get((turned, count, goals), [])
        if len(becomes) != len(numbers):
            return None
        for number, other in zip(numbers, becomes, strict=True):
            kinds[number] = other
    anchors = tuple(
        {place: _anchor(kind.cells, place, image) for place in anchors_of(model, kind)}
        for kind in model.kinds
    )
    return Symmetry(name, image, tuple(kinds), anchors)


def _anchor(cells: Shape, place: Cell, image: Callable[[Cell], Cell]) -> Cell:
    return min(image((place[0] + dy, place[1] + dx)) for dy, dx in cells)


def _turned(cells: Shape, image: Callable[[Cell], Cell]) -> Shape:
    images = sorted(image(cell) for cell in cells)
    top, left = images[0]
    return tuple((y - top, x - left) for y, x in images)


def _is_free(model: Model, cell: Cell) -> bool:
    inside = 0 <= cell[0] < model.height and 0 <= cell[1] < model.width
    return inside and cell not in model.walls
