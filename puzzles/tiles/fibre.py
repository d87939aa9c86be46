"""The fibres of a sliding-tile board: half ranks as keys, the snake's places over each of them.

SNAKE.md beside this file has the derivation. Free moves go along the snake; edges are the other
moves, from place a to place b > a of the next row. Places are on the side of their parity.
"""

from __future__ import annotations

from functools import cached_property
from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from puzzles.errors import PuzzleError
from puzzles.fibre import MOST_BITS, MOST_EDGES, MOST_PLACES
from puzzles.tiles import fibre_kernels, program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from puzzles.fibre import Keys, Masks
    from puzzles.tiles.geometry import Geometry


def fits(board: Geometry) -> bool:
    """Whether the masks of a board are as short as `puzzles.fibre.Fibre` wants them."""
    edges = len(edges_of(board))
    return (
        (board.cells + 1) // 2 <= MOST_PLACES
        and edges <= MOST_EDGES
        and board.cells + edges <= MOST_BITS
    )


def edges_of(board: Geometry) -> list[tuple[int, int]]:
    """The places a < b that each edge joins, by a."""
    return [
        (a, b)
        for a in range(board.cells)
        for b in board.neighbours(a, down=True)[:1]
        if b > a + 1 and board.width > 1
    ]


class TilesFibre:
    """The fibres of one board for metric `single`; see `puzzles.fibre.Fibre`."""

    def __init__(self, board: Geometry) -> None:
        self._board = board
        self._edges = edges_of(board)
        snake = np.arange(board.cells, dtype=np.uint8)
        self.key_space = board.half_ranks
        self.places = board.cells
        self.side_of = snake % 2
        self.bit_of = snake // 2
        self.place_of = (snake[0::2], snake[1::2])
        self.edges = len(self._edges)
        ends = np.array([_ends(edge) for edge in self._edges], dtype=np.uint8).reshape(-1, 2)
        self.edge_bit = np.ascontiguousarray(ends.T)
        self.free = (self._table(0, self._free_mask), self._table(1, self._free_mask))
        self.incident = (self._table(0, self._incident_mask), self._table(1, self._incident_mask))
        spans = [factorial(board.tiles - k) // 2 for k in range(board.tiles - 1)]
        self.spans = np.array(spans if board.width > 1 else [1], dtype=np.uint64)
        self.edge_span = np.array([spans[a] for a, _ in self._edges], dtype=np.uint64)

    def _free_mask(self, place: int) -> int:
        near = [s for s in (place - 1, place + 1) if 0 <= s < self.places]
        return sum(1 << s // 2 for s in near)

    def _incident_mask(self, place: int) -> int:
        return sum(1 << e for e, ends in enumerate(self._edges) if place in ends)

    def _table(self, side: int, mask_of: Any) -> NDArray[np.uint16]:
        """uint16[2**places of `side`]: for each mask of places the union of their masks."""
        union = np.zeros(1, dtype=np.uint16)
        for place in self.place_of[side]:
            union = np.concatenate([union, union | np.uint16(mask_of(int(place)))])
        return union

    @cached_property
    def _arguments(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """What the kernel wants after its buffers, for a blank on side 0 and on side 1."""
        known = program.build(self._board, "single")
        *_, table, parities = known.arguments

        def arguments(side: int) -> tuple[Any, ...]:
            moves = [(a, b) if a % 2 == side else (b, a) for a, b in self._edges]
            plan = np.array([known.edges[move] for move in moves], dtype=np.uint64).reshape(-1, 2)
            return plan, known.half_rank_hops, table, parities

        return arguments(0), arguments(1)

    def expand(self, keys: Keys, pending: Masks, n: int, side: int, out: Keys, counts: Keys) -> int:
        """See `puzzles.fibre.Fibre.expand`. Fastest on sorted keys. PuzzleError for bad buffers."""
        if (
            keys.dtype != np.uint64
            or pending.dtype != np.uint32
            or out.dtype != np.uint64
            or counts.dtype != np.uint64
        ):
            raise PuzzleError(
                "keys, pending, out and counts are uint64, uint32, uint64 and uint64, and these are"
                f" {keys.dtype}, {pending.dtype}, {out.dtype} and {counts.dtype}"
            )
        if not 0 <= n <= min(len(keys), len(pending)) or len(counts) < self.edges:
            raise PuzzleError(
                f"{n} keys through {self.edges} edges need as many keys, masks and counts, and"
                f" there are {len(keys)}, {len(pending)} and {len(counts)}"
            )
        if len(out) < n * self.edges:
            used = pending[:n] & np.uint32((1 << self.edges) - 1)
            need = int(np.bitwise_count(used).sum(dtype=np.uint64))
            if len(out) < need:
                raise PuzzleError(
                    f"{n} keys have {need} pending moves, and there is room for {len(out)} keys"
                )
        keys, pending = _plain(keys), _plain(pending)
        arguments = self._arguments[side]
        return int(fibre_kernels.expand(keys, pending, np.uint64(n), out, counts, *arguments))

    def warm(self) -> None:
        """Compile or load the kernel and build this board's tables."""
        keys, pending = np.zeros(1, np.uint64), np.zeros(1, np.uint32)
        room = np.zeros(max(1, self.edges), np.uint64)
        for side in (0, 1):
            self.expand(keys, pending, 1, side, room, room.copy())


def _ends(edge: Sequence[int]) -> tuple[int, int]:
    """The bits of an edge's ends on side 0 and side 1."""
    even, odd = sorted(edge, key=lambda place: place % 2)
    return even // 2, odd // 2


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself, or a copy where it is read-only or strided: the kernel takes neither."""
    return array if array.flags.carray else array.copy()
