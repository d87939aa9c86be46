"""What the kernel must know about one board, as arrays: places, steps, hops and their tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from puzzles.jit import U64
from puzzles.tiles import geometry as geo
from puzzles.tiles import kernels as ker

if TYPE_CHECKING:
    from numpy.typing import NDArray

GROUP_LIMIT = 1 << 18  # entries of a table of parities


@dataclass(frozen=True)
class Program:
    """What the kernels are given.

    arguments: those of `kernels.expand` after its buffers, in order.
    max_successors: the bound they imply.
    half_rank_hops: the rows of `hops` again, for half ranks in the place of keys.
    edges: for each move (source, target) that is not along the snake its first and last + 1 row.
    """

    arguments: tuple[Any, ...]
    max_successors: int
    half_rank_hops: NDArray[np.uint64]
    edges: dict[tuple[int, int], tuple[int, int]]


@cache
def build(board: geo.Geometry, metric: str) -> Program:
    """The program of a board: metric `single` (one tile slides) or `multi` (a line of tiles)."""
    hops = _Hops(board)
    plan, steps = [0], []
    most = 1
    for place in range(board.cells):
        lines = [board.along(place, True), board.along(place, False)]
        lines += [board.neighbours(place, True), board.neighbours(place, False)]
        if metric == "single":
            lines = _single(place, board.cells, lines)
        for line in lines:
            source = place
            for target in line:
                first, end = hops.edge(source, target)
                steps.append(((target - source) % 2**64, first, end, int(target != line[-1])))
                source = target
        plan.append(len(steps))
        most = max(most, plan[-1] - plan[-2])
    half_rank_hops = hops.rows(1)
    cells_m, cells_k = ker.magic(board.cells)
    arguments = (
        U64(board.cells),
        U64(cells_m),
        U64(cells_k),
        np.array(plan, dtype=np.uint64),
        np.array(steps, dtype=np.uint64).reshape(-1, ker.S_COLUMNS),
        hops.rows(board.cells),
        _joined(hops.tables, np.dtype(np.int32)),
        _joined(hops.parities, np.dtype(np.uint8)),
    )
    return Program(arguments, most, half_rank_hops, hops.edges)


def _single(place: int, cells: int, lines: list[list[int]]) -> list[list[int]]:
    """One child a line, the free ones (next on the snake) first, each starting from the parent."""
    near = [line[0] for line in lines if line]
    near.sort(key=lambda target: abs(target - place) != 1)
    return [[target] for target in near]


def _joined(tables: list[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *tables]).astype(dtype)


class _Hops:
    """Collects the hops of all edges; equal windows share their table."""

    def __init__(self, board: geo.Geometry) -> None:
        self.tiles = board.tiles
        self.half_ranks = board.half_ranks
        self.edges: dict[tuple[int, int], tuple[int, int]] = {}
        self.tables: list[NDArray[np.int32]] = []
        self.parities: list[NDArray[np.uint8]] = []
        self._hops: list[geo.Hop] = []
        self._tables_at: dict[tuple[int, int, int], int] = {}
        self._groups: dict[int, list[int]] = {}

    def edge(self, source: int, target: int) -> tuple[int, int]:
        """The rows first .. end-1 that take the blank from `source` to `target`."""
        known = self.edges.get((source, target))
        if known is None:
            first = len(self._hops)
            self._hops += geo.hops(self.tiles, source, target)
            known = self.edges[source, target] = (first, len(self._hops))
        return known

    def rows(self, places: int) -> NDArray[np.uint64]:
        """uint64[hops, H_COLUMNS] for keys half_rank * places + place."""
        rows = [self._row(hop, places) for hop in self._hops]
        return np.array(rows, dtype=np.uint64).reshape(-1, ker.H_COLUMNS)

    def _row(self, hop: geo.Hop, places: int) -> tuple[int, ...]:
        tail = geo.is_tail(self.tiles, hop.last)
        unit = places * (1 if tail else factorial(self.tiles - hop.last) // 2)
        size = geo.table_size(self.tiles, hop.first, hop.last)
        kind = ker.TAIL if tail else ker.INNER if hop.first else ker.HEAD
        groups = self._groups_before(hop.first) if tail else []
        divide = ker.magic(unit)
        short = ker.short(unit, size, self.half_ranks * places)
        if kind != ker.HEAD and short is not None and len(groups) <= 2 * ker.G_COLUMNS:
            kind, divide = (ker.SHORT_TAIL if tail else ker.SHORT_INNER), short
            if len(groups) == ker.G_COLUMNS:
                groups = groups + self._groups_before(0)
        row = [unit, *divide, size, *ker.magic(size), self._table_at(hop), int(kind)]
        row += [int(hop.odd), len(groups) // ker.G_COLUMNS, *groups]
        return (*row, *[0] * (ker.H_COLUMNS - len(row)))

    def _table_at(self, hop: geo.Hop) -> int:
        name = (hop.first, hop.last, hop.turn)
        if name not in self._tables_at:
            self._tables_at[name] = sum(len(table) for table in self.tables)
            if geo.is_tail(self.tiles, hop.last):
                pair = [geo.tail_table(self.tiles, *name, odd) for odd in (0, 1)]
                self.tables.append(np.stack(pair, axis=1).reshape(-1))
            else:
                self.tables.append(geo.window_table(self.tiles, *name))
        return self._tables_at[name]

    def _groups_before(self, end: int) -> list[int]:
        """The digits 0 .. end-1 cut into groups with small tables of parities, last ones first."""
        if end not in self._groups:
            columns: list[int] = []
            last = end
            while last > 0 or not columns:
                start = last
                while start > 0 and geo.window_size(self.tiles, start - 1, last) <= GROUP_LIMIT:
                    start -= 1
                size = geo.window_size(self.tiles, start, last)
                columns += [size, *ker.magic(size), sum(len(table) for table in self.parities)]
                self.parities.append(geo.parity_table(self.tiles, start, last))
                last = start
            self._groups[end] = columns
        return self._groups[end]
