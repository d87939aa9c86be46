"""The tables of the fast kernels for one puzzle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from puzzles.blocks import rows, units
from puzzles.blocks.arrays import Tables
from puzzles.blocks.automaton import NO_EDGE, Automaton
from puzzles.blocks.keys import Layout
from puzzles.blocks.model import Cell, Model
from puzzles.blocks.symmetry import Symmetry
from puzzles.jit import U64

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEPS = ((-1, 0), (0, -1), (0, 1), (1, 0))  # up, left, right, down
FLAT = 16
"""Largest number of free cells for which ranks of sets of one-cell pieces lie in one table."""


@dataclass(frozen=True)
class Made:
    """What the kernels of `puzzles.blocks.groups` are given; views: how many symmetries."""

    tables: Tables
    data: NDArray[np.uint64]
    ranks: NDArray[np.uint16]
    views: int


def build(model: Model, layout: Layout, views: list[Symmetry]) -> Made | None:
    """The tables, or None for a puzzle that they do not serve: too many cells, too many rows."""
    cells = model.height * model.width
    if cells > 64 or layout.machine is None:
        return None
    by_row = rows.build(layout.machine, model.width, model.height)
    if by_row is None:
        return None
    maker = _Maker(model, layout)
    kinds = [model.kinds[k] for k in layout.order]
    big, small = kinds[: layout.big], [kind.count for kind in kinds[layout.big :]]
    flat = len(small) <= 1 and layout.free <= FLAT
    ranks, flat_set = _flat(layout.free, small) if flat else (np.zeros(1, np.uint16),) * 2
    lead, lead_at = maker.leads()
    view_kind, view_anchor, unit_view = maker.views(views)
    begin, node = _nodes(layout.machine)
    arrays = {
        "node": node,
        "seed": 2 * by_row.seeds.astype(np.uint64) + np.uint64(1),
        "slot": np.column_stack([by_row.offset, by_row.after.astype(np.uint64)]),
        "row": np.arange(64, dtype=np.uint64) // np.uint64(model.width),
        "rows": _words([1 + max(dy for dy, _ in kind.cells) for kind in big]),
        "weight": by_row.weight,
        "cover": maker.cover(),
        "legal": _words([_set(map(maker.number, a)) for a in layout.anchors[: layout.big]]),
        "turn": _words([(dy * model.width + dx) % 64 for one in big for dy, dx in one.cells]),
        "turn_at": _words(list(accumulate((len(one.cells) for one in big), initial=0))),
        "can": maker.can(),
        "ahead": maker.ahead(),
        "lead": lead,
        "lead_at": lead_at,
        "go": _words([maker.go(d) for d in range(4)]),
        "inner": maker.inner(),
        "view_kind": view_kind,
        "view_anchor": view_anchor,
        "image": maker.images(views),
        "unit_view": unit_view,
        "counts": _words(small),
        "unit_weight": _words(units.weights(layout.free, small)),
        "flat_set": flat_set.astype(np.uint64),
        "choose": np.zeros(0) if flat else _choose(),
        "chunk": np.zeros(0) if flat else _chunks(),
        "goal": _words([_set(map(maker.number, model.goal[k])) for k in layout.order]),
    }
    where = dict(
        zip(arrays, accumulate((a.size for a in arrays.values()), initial=0), strict=False)
    )
    tables = Tables(
        cells=U64(cells),
        height=U64(model.height),
        width=U64(min(model.width, 63)),
        big=U64(layout.big),
        small=U64(len(small)),
        ways=U64(layout.ways),
        flat=U64(flat),
        open=U64(_set(map(maker.number, maker.open))),
        columns=U64(layout.big + 1),
        begin=U64(begin),
        mask=U64(len(by_row.seeds) - 1),
        shift=U64(by_row.shift),
        base=U64(by_row.base),
        root=U64(by_row.root),
        **{name: U64(at) for name, at in where.items()},
    )
    data = np.concatenate([a.reshape(-1).astype(np.uint64) for a in arrays.values()])
    return Made(tables, data, ranks, len(views))


class _Maker:
    """Tables by kind, direction and anchor."""

    def __init__(self, model: Model, layout: Layout) -> None:
        self.model = model
        self.layout = layout
        self.big = [model.kinds[k] for k in layout.order[: layout.big]]
        board = [(y, x) for y in range(model.height) for x in range(model.width)]
        self.open = {cell for cell in board if cell not in model.walls}
        self.anchors = [set(a) for a in layout.anchors[: layout.big]]

    def number(self, cell: Cell) -> int:
        return cell[0] * self.model.width + cell[1]

    def go(self, direction: int) -> int:
        dy, dx = STEPS[direction]
        step = dy * self.model.width + dx
        return step if abs(step) < 64 else 1  # a board of one row of 64 cells has no use for it

    def body(self, kind: int, anchor: Cell) -> set[Cell]:
        return {(anchor[0] + dy, anchor[1] + dx) for dy, dx in self.big[kind].cells}

    def cover(self) -> np.ndarray:
        table = np.zeros((len(self.big), 64), np.uint64)
        for k, anchors in enumerate(self.anchors):
            for anchor in anchors:
                table[k, self.number(anchor)] = _set(map(self.number, self.body(k, anchor)))
        return table

    def can(self) -> np.ndarray:
        table = [[0] * len(self.big) for _ in STEPS]
        for d, (dy, dx) in enumerate(STEPS):
            for k, anchors in enumerate(self.anchors):
                able = {(y, x) for y, x in anchors if (y + dy, x + dx) in anchors}
                table[d][k] = _set(map(self.number, able))
        return _words(table, (4, len(self.big)))

    def ahead(self) -> np.ndarray:
        table = np.full((4, len(self.big), 64), ~np.uint64(0))
        for d, (dy, dx) in enumerate(STEPS):
            for k, anchors in enumerate(self.anchors):
                for y, x in anchors:
                    if (y + dy, x + dx) in anchors:
                        new = self.body(k, (y + dy, x + dx)) - self.body(k, (y, x))
                        table[d, k, self.number((y, x))] = _set(map(self.number, new))
        return table

    def leads(self) -> tuple[np.ndarray, np.ndarray]:
        lead: list[int] = []
        at = [0]
        for dy, dx in STEPS:
            for k in range(len(self.big)):
                own = set(self.big[k].cells)
                new = {(y + dy, x + dx) for y, x in own} - own
                # the anchor itself, as a cell of a ring, is covered by the piece: never new
                turns = {(y * self.model.width + x) % 64 for y, x in new} - {0}
                lead += sorted(turns)
                at.append(len(lead))
        return _words(lead), _words(at)

    def inner(self) -> np.ndarray:
        return _words(
            [
                _set(self.number((y, x)) for y, x in self.open if (y + dy, x + dx) in self.open)
                for dy, dx in STEPS
            ]
        )

    def views(self, views: list[Symmetry]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        order = self.layout.order
        back = {number: k for k, number in enumerate(order)}
        of_big, of_small = order[: self.layout.big], order[self.layout.big :]
        kinds = [[back[view.kinds[k]] for k in of_big] for view in views]
        small = [[back[view.kinds[k]] - self.layout.big for k in of_small] for view in views]
        anchor = np.zeros((len(views), len(of_big), 64), np.uint64)
        for v, view in enumerate(views):
            for k, number in enumerate(of_big):
                for place, image in view.anchors[number].items():
                    anchor[v, k, self.number(place)] = self.number(image)
        return (
            _words(kinds, (len(views), len(of_big))),
            anchor,
            _words(small, (len(views), len(of_small))),
        )

    def images(self, views: list[Symmetry]) -> np.ndarray:
        table = np.zeros((len(views), 8, 256), np.uint64)
        for v, view in enumerate(views):
            for cell in self.open:
                byte, bit = divmod(self.number(cell), 8)
                word = np.uint64(1 << self.number(view.image(cell)))
                table[v, byte, [b for b in range(256) if b >> bit & 1]] |= word
        return table


def _set(numbers: Iterable[int]) -> int:
    found = 0
    for number in numbers:
        found |= 1 << number
    return found


def _words(values: object, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Python integers modulo 2**64 as uint64."""
    table = np.array(values, dtype=object)
    words = np.array([int(v) % (1 << 64) for v in table.reshape(-1)], dtype=np.uint64)
    return words.reshape(table.shape if shape is None else shape)


def _nodes(machine: Automaton) -> tuple[int, NDArray[np.uint64]]:
    """The word for the first node and the records of all; see `arrays.Tables`."""
    offset, after = machine.offset, machine.after
    edge = offset != np.uint64(NO_EDGE)
    last = offset.shape[1] - 1 - np.argmax(edge[:, ::-1], axis=1)
    ways = np.ones(len(offset), np.uint64)
    for node in range(len(offset) - 2, -1, -1):  # edges lead to later nodes
        ways[node] = offset[node, last[node]] + ways[after[node, last[node]]]
    step = (after.astype(np.uint64) << np.uint64(8)) | machine.place[after]
    return int(machine.place[0]), np.column_stack([ways, offset, step])


def _flat(free: int, counts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Rank by set and set by rank, for the sets of counts[0] (or no) members below `free`."""
    count = counts[0] if counts else 0
    rank_of = np.zeros(1 << free, np.uint16)
    sets = np.arange(1 << free, dtype=np.uint64)
    members = np.zeros(1 << free, np.int64)
    for bit in range(free):
        members += (sets >> np.uint64(bit) & np.uint64(1)).astype(np.int64)
    chosen = np.flatnonzero(members == count)  # ascending: colexicographic
    rank_of[chosen] = np.arange(len(chosen))
    return rank_of, chosen.astype(np.uint16)


def _choose() -> np.ndarray:
    """uint64[65, 65]: C(n, k), modulo 2**64 where no rank is that large."""
    return _words([[comb(n, k) for k in range(65)] for n in range(65)])


def _chunks() -> np.ndarray:
    """See `groups.subset_rank`."""
    table = np.zeros((8, 65, 256), np.uint64)
    for c in range(8):
        for seen in range(8 * c + 1):
            for byte in range(256):
                rank, i = 0, seen
                for bit in range(8):
                    if byte >> bit & 1:
                        i += 1
                        rank += comb(8 * c + bit, i)
                table[c, seen, byte] = rank % (1 << 64)
    return table
