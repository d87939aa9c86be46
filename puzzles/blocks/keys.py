"""Keys of a puzzle: a number for the big pieces times one for the one-cell pieces.

Big pieces are numbered by the automaton, or, where that grows too large, by the product of the
ranks of each kind's anchors among all anchors it can have; then some numbers are no placement.
Kinds are in the order of the kernels here: the big ones, then those of one cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, log2, prod

import numpy as np

from puzzles.blocks import automaton, units
from puzzles.blocks.kernels import Board
from puzzles.blocks.model import Cell, Model
from puzzles.blocks.symmetry import Symmetry, anchors_of
from puzzles.errors import PuzzleError
from puzzles.jit import U64


@dataclass(frozen=True)
class Layout:
    """What is known of a puzzle before any search.

    order: the model's number of each kind, in the kernels' order. big: how many kinds are big.
    places: how many numbers the big pieces have. ways: how many the one-cell pieces have.
    dense: every key below key_space is a placement.
    """

    order: tuple[int, ...]
    big: int
    anchors: tuple[tuple[Cell, ...], ...]
    free: int
    places: int
    ways: int
    machine: automaton.Automaton | None

    @property
    def key_space(self) -> int:
        return self.places * self.ways

    @property
    def dense(self) -> bool:
        return self.machine is not None


def layout_of(model: Model, budget: int = automaton.NODE_BUDGET) -> Layout:
    """The keys of a puzzle. Raises PuzzleError when they need more than 64 bits."""
    numbers = range(len(model.kinds))
    big = [k for k in numbers if len(model.kinds[k].cells) > 1]
    small = [k for k in numbers if len(model.kinds[k].cells) == 1]
    order = tuple(big + small)
    anchors = tuple(tuple(anchors_of(model, model.kinds[k])) for k in order)
    covered = sum(len(model.kinds[k].cells) * model.kinds[k].count for k in big)
    free = model.height * model.width - len(model.walls) - covered
    ways = units.total(free, [model.kinds[k].count for k in small])
    machine = automaton.build(
        model.height * model.width,
        sum(1 << _number(model, cell) for cell in model.walls),
        [
            {
                _number(model, place): sum(
                    1 << _number(model, (place[0] + dy, place[1] + dx))
                    for dy, dx in model.kinds[k].cells
                )
                for place in of_kind
            }
            for k, of_kind in zip(big, anchors, strict=False)
        ],
        [model.kinds[k].count for k in big],
        budget,
    )
    if machine is not None:
        places = machine.total
    else:
        places = prod(
            comb(len(of_kind), model.kinds[k].count)
            for k, of_kind in zip(big, anchors, strict=False)
        )
    if places * ways >= 1 << 64:
        raise PuzzleError(
            f"{model.name} has too many positions: its keys would need"
            f" {log2(places * ways):.0f} bits, and there are 64"
        )
    return Layout(order, len(big), anchors, free, places, ways, machine)


def board_of(model: Model, layout: Layout, views: list[Symmetry]) -> Board:
    """What the kernels are given; see `kernels.Board`. views: symmetries, the identity first."""
    cells = model.height * model.width
    kinds = [model.kinds[k] for k in layout.order]
    counts = [kind.count for kind in kinds]
    walls = np.zeros(cells, dtype=np.uint16)
    for wall in model.walls:
        walls[_number(model, wall)] = 1
    shape = [dy * model.width + dx for kind in kinds for dy, dx in kind.cells]
    legal = np.zeros((len(kinds), cells + 1), dtype=np.uint8)
    anchor = np.zeros((len(kinds), cells), dtype=np.uint64)
    ordinal = np.zeros((len(kinds), cells), dtype=np.uint64)
    for k, of_kind in enumerate(layout.anchors):
        for i, place in enumerate(of_kind):
            legal[k, _number(model, place)] = 1
            anchor[k, i] = _number(model, place)
            ordinal[k, _number(model, place)] = i
    big, small = counts[: layout.big], counts[layout.big :]
    weight = units.weights(layout.free, small)
    of_big = [comb(len(a), n) for a, n in zip(layout.anchors, big, strict=False)]
    big_weight = [1] * layout.big
    if not layout.dense:
        big_weight = [prod(of_big[k + 1 :]) for k in range(layout.big)]
    machine = layout.machine
    back = {k: i for i, k in enumerate(layout.order)}
    view_kind = np.zeros((len(views), len(kinds)), dtype=np.uint64)
    view_anchor = np.zeros((len(views), len(kinds), cells), dtype=np.uint64)
    for v, view in enumerate(views):
        for k, number in enumerate(layout.order):
            view_kind[v, k] = back[view.kinds[number]]
            for place, image in view.anchors[number].items():
                view_anchor[v, k, _number(model, place)] = _number(model, image)
    return Board(
        cells=U64(cells),
        big=U64(layout.big),
        ways=U64(layout.ways),
        pieces=U64(sum(counts)),
        dense=U64(layout.dense),
        walls=walls,
        counts=np.array(counts, dtype=np.uint64),
        shape=np.array(shape, dtype=np.int64).astype(np.uint64),
        shape_at=np.cumsum([0, *(len(kind.cells) for kind in kinds)]).astype(np.uint64),
        legal=legal,
        near=_neighbours(model.height, model.width),
        anchor=anchor,
        anchors=np.array([len(a) for a in layout.anchors], dtype=np.uint64),
        ordinal=ordinal,
        weight=np.array(big_weight + weight, dtype=np.uint64),
        choose=_binomials(cells, max(counts)),
        place=np.zeros(1, np.uint32) if machine is None else machine.place,
        offset=np.zeros((1, 1), np.uint64) if machine is None else machine.offset,
        after=np.zeros((1, 1), np.uint32) if machine is None else machine.after,
        view_kind=view_kind,
        view_anchor=view_anchor,
    )


def _number(model: Model, cell: Cell) -> int:
    return cell[0] * model.width + cell[1]


def _neighbours(height: int, width: int) -> np.ndarray:
    """uint64[4, cells]: the cell up, left, right and down of each, `cells` beyond the edge."""
    cells = height * width
    near = np.full((4, cells), cells, dtype=np.uint64)
    for y in range(height):
        for x in range(width):
            for d, (dy, dx) in enumerate(((-1, 0), (0, -1), (0, 1), (1, 0))):
                if 0 <= y + dy < height and 0 <= x + dx < width:
                    near[d, y * width + x] = (y + dy) * width + x + dx
    return near


def _binomials(cells: int, most: int) -> np.ndarray:
    """uint64[cells + 1, most + 1]: C(n, k), modulo 2**64 where no key is that large."""
    table = np.zeros((cells + 1, most + 1), dtype=np.uint64)
    for n in range(cells + 1):
        for k in range(most + 1):
            table[n, k] = comb(n, k) % (1 << 64)
    return table
