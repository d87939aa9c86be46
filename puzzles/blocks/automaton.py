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
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_EDGE = (1 << 64) - 1
NODE_BUDGET = 300_000


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
    """The automaton of a board, or None where it would need more than `budget` nodes.

    walls: bit c for cell c. masks: per big kind the cells a piece covers, by its anchor, for all
    anchors where it is on the board and clear of walls. counts: how many of each kind, at least 1.
    At least one placement must exist.
    """
    edges = _grow(cells, walls, masks, counts, budget)
    return None if edges is None else _numbered(edges)


Edge = tuple[int, int]  # the cell of the node it leads to, and that node's number within the cell


def _grow(
    cells: int,
    walls: int,
    masks: Sequence[Mapping[int, int]],
    counts: Sequence[int],
    budget: int,
) -> list[list[list[Edge | None]]] | None:
    """By cell, by node, by column: the edges. The one node of the cell `cells` is the end.

    A node is (covered, left): the cells before it, walls and covered cells in one mask, and the
    pieces left in mixed radix.
    """
    full = (1 << cells) - 1
    radix = [1]
    for count in counts:
        radix.append(radix[-1] * (count + 1))
    areas = [next(iter(mask.values())).bit_count() for mask in masks]
    area_left: dict[int, int] = {}

    def area(left: int) -> int:
        if left not in area_left:
            area_left[left] = sum(
                left // radix[k] % (counts[k] + 1) * areas[k] for k in range(len(counts))
            )
        return area_left[left]

    found: list[dict[tuple[int, int], int]] = [{} for _ in range(cells + 1)]

    def enter(covered: int, left: int) -> Edge:
        cell = (~covered & (covered + 1)).bit_length() - 1
        node = (covered | ((1 << cell) - 1), left)
        return cell, found[cell].setdefault(node, len(found[cell]))

    enter(walls, radix[-1] - 1)
    edges: list[list[list[Edge | None]]] = [[] for _ in range(cells + 1)]
    nodes = 0
    for cell in range(cells):
        nodes += len(found[cell])
        if nodes > budget:
            return None
        bit = 1 << cell
        here = [(k, mask[cell]) for k, mask in enumerate(masks) if cell in mask]
        for covered, left in found[cell]:
            row: list[Edge | None] = [None] * (len(masks) + 1)
            if (full & ~covered).bit_count() > area(left):
                row[0] = enter(covered | bit, left)
            for kind, mask in here:
                if not mask & covered and left // radix[kind] % (counts[kind] + 1):
                    row[1 + kind] = enter(covered | mask, left - radix[kind])
            edges[cell].append(row)
        found[cell] = {}
    edges[cells] = [[None] * (len(masks) + 1) for left in found[cells].items()]
    return edges


def _numbered(edges: list[list[list[Edge | None]]]) -> Automaton:
    """Count the ways to finish from the end backwards, drop nodes with none, number the rest."""
    cells = len(edges) - 1
    ways: list[list[int]] = [[] for _ in edges]
    ways[cells] = [1] * len(edges[cells])
    for cell in range(cells - 1, -1, -1):
        ways[cell] = [
            sum(ways[edge[0]][edge[1]] for edge in row if edge is not None) for row in edges[cell]
        ]
    number: list[list[int]] = []
    place: list[int] = []
    for cell, of_cell in enumerate(ways):
        number.append([])
        for way in of_cell:
            number[cell].append(len(place))
            if way:
                place.append(cell)
    offset: list[list[int]] = []
    after: list[list[int]] = []
    for cell, rows in enumerate(edges):
        for row, way in zip(rows, ways[cell], strict=True):
            if not way:
                continue
            total, offsets, afters = 0, [], []
            for edge in row:
                more = 0 if edge is None else ways[edge[0]][edge[1]]
                offsets.append(total if edge is not None and more else NO_EDGE)
                afters.append(number[edge[0]][edge[1]] if edge is not None and more else 0)
                total += more
            offset.append(offsets)
            after.append(afters)
    return Automaton(
        place=np.array(place, dtype=np.uint32),
        offset=np.array([[min(o, NO_EDGE) for o in row] for row in offset], dtype=np.uint64),
        after=np.array(after, dtype=np.uint32),
        total=next(way for of_cell in ways for way in of_cell if way),
    )
