"""The automaton of big pieces: it numbers all their placements without a gap, whatever the shapes.

The board is read in raster order. At every cell that is neither wall nor covered by a piece met
before, the next letter says what is anchored there: nothing (column 0) or a piece of big kind k
(column 1 + k). A *node* is what the rest depends on: which cells are covered, and how many pieces
of each kind are left. The rank of a placement is the sum of the offsets of the edges it takes, the
offset of an edge being the number of ways to finish along the columns before it. Two placements
that meet in a node have the same rest: so a move changes the rank only up to where they meet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Numbers = NDArray[np.int64]

NO_EDGE = (1 << 64) - 1
NODE_BUDGET = 1_000_000


@dataclass(frozen=True)
class Automaton:
    """Nodes in the order of their cells, node 0 first; the last one is the end.

    place: uint32[nodes], the cell a node reads, `cells` at the end. offset: uint64[nodes, columns],
    NO_EDGE where there is no edge. after: uint32[nodes, columns], where the edge leads. total: how
    many placements there are, 0 to total - 1 being their ranks.
    """

    place: NDArray[np.uint32]
    offset: NDArray[np.uint64]
    after: NDArray[np.uint32]
    total: int


def build(
    cells: int,
    walls: int,
    masks: Sequence[Mapping[int, int]],
    counts: Sequence[int],
    budget: int = NODE_BUDGET,
) -> Automaton | None:
    """The automaton of a board, or None where it would look at more than `budget` nodes, or where
    nodes do not fit a word.

    walls: bit c for cell c. masks: per big kind the cells a piece covers, by its anchor, for all
    anchors where it is on the board and clear of walls. counts: how many of each kind, at least 1.
    At least one placement must exist. Offsets are modulo 2**64.
    """
    growth = _Growth(cells, walls, masks, counts)
    if growth.bits > 64:
        return None
    layers = growth.grow(budget)
    return None if layers is None else _numbered(layers)


@dataclass(frozen=True)
class _Layer:
    """The edges of the nodes of one cell, int64[nodes, columns]: the cell each leads to and the
    node there; the cell is -1 where there is no edge."""

    cell: Numbers
    node: Numbers


class _Growth:
    """Finds all nodes, cell by cell.

    A node of a cell is a word: the covered cells from that cell on, walls aside, in its lowest
    `window` bits, and above them the pieces left, in mixed radix.
    """

    def __init__(
        self, cells: int, walls: int, masks: Sequence[Mapping[int, int]], counts: Sequence[int]
    ) -> None:
        self._cells = cells
        self._masks = masks
        self._counts = counts
        self._wall = [bool(walls >> cell & 1) for cell in range(cells)]
        lengths = [body.bit_length() - cell for mask in masks for cell, body in mask.items()]
        self._window = max(lengths, default=1)
        self._radix = [prod(n + 1 for n in counts[:k]) for k in range(len(counts) + 1)]
        self.bits = self._window + (self._radix[-1] - 1).bit_length()
        # by cell: nodes, and the cell, column and numbers of the nodes whose edges lead to them
        self._coming: list[list[tuple[Words, int, int, Numbers]]] = [[] for _ in range(cells + 1)]
        self._layers: list[_Layer] = []

    def grow(self, budget: int) -> list[_Layer] | None:
        """By cell the edges of its nodes, the end last; None when nodes are more than `budget`."""
        columns = len(self._masks) + 1
        source = _Layer(np.full((1, 1), -1), np.full((1, 1), -1))
        self._layers = [source]  # an edge to the first node, taken off in the end
        left = np.array([self._radix[-1] - 1], dtype=np.uint64)
        self._send(left << np.uint64(self._window), -1, 0, np.zeros(1, np.int64))
        total = 0
        for cell in range(self._cells + 1):
            nodes = self._arrived(cell)
            total += len(nodes)
            if total > budget:
                return None
            shape = (len(nodes), columns)
            self._layers.append(_Layer(np.full(shape, -1), np.full(shape, -1)))
            if cell < self._cells and len(nodes):
                self._leave(nodes, cell)
        return self._layers[1:]

    def _arrived(self, cell: int) -> Words:
        """The nodes of a cell, each once; the edges that lead to them are filled in."""
        coming, self._coming[cell] = self._coming[cell], []
        if not coming:
            return np.zeros(0, np.uint64)
        nodes, number = np.unique(np.concatenate([part[0] for part in coming]), return_inverse=True)
        at = 0
        for part, source, column, rows in coming:
            layer = self._layers[source + 1]
            layer.cell[rows, column] = cell
            layer.node[rows, column] = number[at : at + len(part)]
            at += len(part)
        return nodes

    def _leave(self, nodes: Words, cell: int) -> None:
        """Send on what every node's edges lead to."""
        window = nodes & np.uint64((1 << self._window) - 1)
        left = nodes >> np.uint64(self._window)
        numbers = [
            left // np.uint64(radix) % np.uint64(n + 1)
            for radix, n in zip(self._radix, self._counts, strict=False)
        ]
        area = np.zeros(len(nodes), np.int64)
        for number, mask in zip(numbers, self._masks, strict=True):
            area += number.astype(np.int64) * next(iter(mask.values())).bit_count()
        uncovered = self._wall[cell:].count(False) - np.bitwise_count(window).astype(np.int64)
        rows = np.flatnonzero(uncovered > area)
        self._send(nodes[rows] | np.uint64(1), cell, 0, rows)
        for k, mask in enumerate(self._masks):
            if cell in mask:
                body = np.uint64(mask[cell] >> cell)
                rows = np.flatnonzero((window & body == 0) & (numbers[k] > 0))
                less = np.uint64(self._radix[k] << self._window)
                self._send((nodes[rows] | body) - less, cell, 1 + k, rows)

    def _send(self, nodes: Words, source: int, column: int, rows: Numbers) -> None:
        """Move nodes of cell `source`, done with it, on to the next cell to be read."""
        pieces = ~np.uint64((1 << self._window) - 1)
        for cell in range(source + 1, self._cells + 1):
            nodes = (nodes & pieces) | (nodes & ~pieces) >> np.uint64(1)
            if cell == self._cells:
                done = nodes == 0  # no pieces are left
            elif self._wall[cell]:
                continue
            else:
                done = nodes & np.uint64(1) == 0
            if done.any():
                self._coming[cell].append((nodes[done], source, column, rows[done]))
            nodes, rows = nodes[~done], rows[~done]
            if not len(nodes):
                break


def _numbered(layers: list[_Layer]) -> Automaton:
    """Count the ways to finish from the end backwards, drop nodes with none, number the rest."""
    ways: list[Any] = [None] * len(layers)
    ways[-1] = np.ones(len(layers[-1].node), dtype=object)
    parts: list[Any] = [None] * len(layers)  # ways by edge
    for cell in range(len(layers) - 2, -1, -1):
        layer = layers[cell]
        part = np.zeros(layer.cell.shape, dtype=object)
        for target in np.unique(layer.cell[layer.cell >= 0]):
            edges = layer.cell == target
            part[edges] = ways[target][layer.node[edges]]
        parts[cell] = part
        ways[cell] = part.sum(axis=1) if len(part) else np.zeros(0, dtype=object)
    parts[-1] = np.zeros(layers[-1].cell.shape, dtype=object)
    alive = [np.array(of_cell > 0, dtype=np.bool_) for of_cell in ways]
    first = np.concatenate([[0], np.cumsum([of_cell.sum() for of_cell in alive])])
    number = [start + np.cumsum(of_cell) - 1 for start, of_cell in zip(first, alive, strict=False)]
    offset, after = [], []
    for layer, part, living in zip(layers, parts, alive, strict=True):
        before = np.cumsum(part, axis=1) - part
        real = part > 0
        offset.append(np.where(real, before, NO_EDGE)[living] % (1 << 64))
        to = np.zeros(layer.cell.shape, np.int64)
        for target in np.unique(layer.cell[layer.cell >= 0]):
            edges = layer.cell == target
            to[edges] = number[target][layer.node[edges]]
        after.append(np.where(real, to, 0)[living])
    place = np.repeat(np.arange(len(layers)), [int(of_cell.sum()) for of_cell in alive])
    return Automaton(
        place=place.astype(np.uint32),
        offset=np.concatenate(offset).astype(np.uint64),
        after=np.concatenate(after).astype(np.uint32),
        total=int(next(of_cell[0] for of_cell in ways if len(of_cell))),
    )
