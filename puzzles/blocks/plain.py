"""The plain kernels with all they are given and work on: any board, either kind of keys."""

from __future__ import annotations

import threading
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from puzzles.blocks import kernels, units
from puzzles.blocks.keys import Layout, number
from puzzles.blocks.model import Model
from puzzles.blocks.moves import moves, straight
from puzzles.blocks.symmetry import Symmetry
from puzzles.jit import U64

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]


class Plain:
    """The kernels of one puzzle. Keys: writable contiguous uint64 arrays. For many threads."""

    SPARE = 0
    """Places behind the last successor that may be overwritten."""

    def __init__(self, model: Model, layout: Layout, views: list[Symmetry]) -> None:
        self.board = board_of(model, layout, views)
        goals = [
            (layout.order.index(k), number(model, place))
            for k, of_kind in enumerate(model.goal)
            for place in of_kind
        ]
        self._goal_kind = np.array([kind for kind, _ in goals], dtype=np.uint64)
        self._goal_anchor = np.array([anchor for _, anchor in goals], dtype=np.uint64)
        self._local = threading.local()

    def _buffers(self) -> _Buffers:
        try:
            buffers: _Buffers = self._local.buffers
        except AttributeError:
            buffers = self._local.buffers = _Buffers(self.board)
        return buffers

    def steps(self, views: int, keys: Words, out: Words) -> int:
        """Write the successors by steps to `out`; return how many."""
        return int(kernels.steps(self.board, U64(views), keys, out, self._buffers().work))

    def moves(self, views: int, keys: Words, out: Words) -> int:
        """Write the successors by moves to `out`; return how many."""
        mine = self._buffers()
        return int(moves(self.board, U64(views), keys, out, mine.work, mine.reached, mine.stamp))

    def straight(self, views: int, keys: Words, out: Words) -> int:
        """Write the successors by moves in one direction to `out`; return how many."""
        return int(straight(self.board, U64(views), keys, out, self._buffers().work))

    def canonical(self, views: int, keys: Words, out: Words) -> None:
        """out[i] = the least key among the images of keys[i]."""
        kernels.canonical(self.board, U64(views), keys, out, self._buffers().work)

    def stabilisers(self, views: int, keys: Words, out: Words) -> None:
        """out[i] = how many symmetries leave keys[i] as it is."""
        kernels.stabilisers(self.board, U64(views), keys, out, self._buffers().work)

    def holds(self, keys: Words, out: NDArray[np.bool_]) -> None:
        """out[i] = whether keys[i] is a goal."""
        goal = self._goal_kind, self._goal_anchor
        kernels.holds(self.board, *goal, keys, out, self._buffers().work)


class _Buffers:
    """The scratch of one thread."""

    def __init__(self, board: kernels.Board) -> None:
        self.work = kernels.scratch_for(board)
        self.reached: Any = np.zeros(int(board.cells) + 1, dtype=np.uint64)
        self.stamp: Any = np.zeros(int(board.cells) + 1, dtype=np.uint64)


def board_of(model: Model, layout: Layout, views: list[Symmetry]) -> kernels.Board:
    """What the kernels are given; see `kernels.Board`. views: symmetries, the identity first."""
    cells = model.height * model.width
    kinds = [model.kinds[k] for k in layout.order]
    counts = [one.count for one in kinds]
    walls = np.zeros(cells, dtype=np.uint16)
    for wall in model.walls:
        walls[number(model, wall)] = 1
    shape = [dy * model.width + dx for kind in kinds for dy, dx in kind.cells]
    legal = np.zeros((len(kinds), cells + 1), dtype=np.uint8)
    anchor = np.zeros((len(kinds), cells), dtype=np.uint64)
    ordinal = np.zeros((len(kinds), cells), dtype=np.uint64)
    for k, of_kind in enumerate(layout.anchors):
        for i, place in enumerate(of_kind):
            legal[k, number(model, place)] = 1
            anchor[k, i] = number(model, place)
            ordinal[k, number(model, place)] = i
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
        for k, kind in enumerate(layout.order):
            view_kind[v, k] = back[view.kinds[kind]]
            for place, image in view.anchors[kind].items():
                view_anchor[v, k, number(model, place)] = number(model, image)
    return kernels.Board(
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
