"""The snake of a board, the edges that change the rank, and the tables that say by how much.

SNAKE.md beside this file has the derivation. Here: `Geometry` holds the snake of one board;
`hops` cuts an edge into windows of Lehmer digits small enough for a table; `window_table` and
`tail_table` fill the tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import factorial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RIGHT, LEFT = 0, 1  # the way a window turns: right when the blank goes up the snake, left down
TABLE_LIMIT = 1 << 18  # entries of four bytes: 1 MB


class Hop(NamedTuple):
    """One window of Lehmer digits first .. last-1 that turns by one place.

    odd: the hops before this one left an odd permutation behind (only told for tail windows).
    """

    first: int
    last: int
    turn: int
    odd: bool


@dataclass(frozen=True)
class Geometry:
    """A board of rows x columns cells, laid with its shorter side as the row, and its snake."""

    rows: int
    columns: int

    @property
    def width(self) -> int:
        """Cells in a row of the board as laid inside."""
        return min(self.rows, self.columns)

    @property
    def height(self) -> int:
        """Rows of the board as laid inside."""
        return max(self.rows, self.columns)

    @property
    def cells(self) -> int:
        return self.rows * self.columns

    @property
    def tiles(self) -> int:
        """n, the length of the word that is ranked."""
        return self.cells - 1

    @property
    def half_ranks(self) -> int:
        """How many words can occur: the even ones, or a single one on a 1xN board."""
        return 1 if self.width == 1 else factorial(self.tiles) // 2

    @property
    def key_space(self) -> int:
        return self.half_ranks * self.cells

    @cached_property
    def snake(self) -> tuple[int, ...]:
        """For each place of the snake the cell of the user's board, counted row by row."""
        places = []
        for row in range(self.height):
            line = range(self.width) if row % 2 == 0 else range(self.width - 1, -1, -1)
            places += [(row, column) for column in line]
        if self.rows < self.columns:  # laid transposed
            return tuple(column * self.columns + row for row, column in places)
        return tuple(row * self.columns + column for row, column in places)

    @cached_property
    def place(self) -> tuple[int, ...]:
        """For each cell of the user's board its place on the snake."""
        inverse = [0] * self.cells
        for place, cell in enumerate(self.snake):
            inverse[cell] = place
        return tuple(inverse)

    def neighbours(self, place: int, down: bool) -> list[int]:
        """The places across the row edges from `place`, nearest first, towards one side."""
        row, step = divmod(place, self.width)
        column = step if row % 2 == 0 else self.width - 1 - step
        rows = range(row + 1, self.height) if down else range(row - 1, -1, -1)
        return [r * self.width + (column if r % 2 == 0 else self.width - 1 - column) for r in rows]

    def along(self, place: int, forward: bool) -> list[int]:
        """The places of the same row from `place`, nearest first, up or down the snake."""
        start = place - place % self.width
        if forward:
            return list(range(place + 1, start + self.width))
        return list(range(place - 1, start - 1, -1))


def window_size(tiles: int, first: int, last: int) -> int:
    """How many values the Lehmer digits first .. last-1 of `tiles` labels take."""
    return factorial(tiles - first) // factorial(tiles - last)


def hops(tiles: int, source: int, target: int, limit: int = TABLE_LIMIT) -> list[Hop]:
    """The windows to turn, in order, when the blank goes from `source` to `target`.

    No hop at all where the places are next to each other on the snake. Windows that share one
    digit compose: turning [c, b) right and then [a, c+1) right turns [a, b) right.
    """
    if abs(source - target) == 1:
        return []
    first, last = min(source, target), max(source, target)
    windows = _split(tiles, first, last, limit)  # from the far end of the snake to the near one
    turn = RIGHT if source < target else LEFT
    if turn == LEFT:
        windows.reverse()
    result, odd = [], False
    for a, b in windows:
        result.append(Hop(a, b, turn, odd))
        odd ^= (b - a - 1) % 2 == 1
    return result


def _split(tiles: int, first: int, last: int, limit: int) -> list[tuple[int, int]]:
    if table_size(tiles, first, last) <= limit or last - first <= 2:
        return [(first, last)]
    middle = min(
        range(first + 1, last - 1),
        key=lambda c: max(table_size(tiles, first, c + 1), table_size(tiles, c, last)),
    )
    return _split(tiles, middle, last, limit) + _split(tiles, first, middle + 1, limit)


def is_tail(tiles: int, last: int) -> bool:
    """Whether a window that ends at digit `last`-1 reaches the digit that half ranks drop."""
    return last >= tiles - 1


def table_size(tiles: int, first: int, last: int) -> int:
    """Entries of the table (of each of the two tables of a tail window)."""
    if is_tail(tiles, last):
        return factorial(tiles - first) // 2
    return window_size(tiles, first, last)


def window_table(tiles: int, first: int, last: int, turn: int) -> NDArray[np.int32]:
    """int32[window_size]: what turning the window adds to the value of its digits.

    The value is the mixed-radix number of the digits first .. last-1, the last one counting 1.
    """
    value = np.arange(window_size(tiles, first, last), dtype=np.int64)
    lehmer = _digits(value, tiles, first, last)
    _turn(lehmer, turn)
    return (_value(lehmer, tiles, first) - value).astype(np.int32)


def tail_table(tiles: int, first: int, last: int, turn: int, odd: int) -> NDArray[np.int32]:
    """int32[(tiles-first)!/2]: the same on half ranks, where the window reaches the dropped digit.

    The value is that of all digits from `first` on, halved. The dropped digit makes their sum odd
    when `odd` is 1, even when it is 0.
    """
    half = np.arange(factorial(tiles - first) // 2, dtype=np.int64)
    lehmer = _digits(half * 2, tiles, first, tiles)
    lehmer[-2] = (sum(lehmer[:-2], np.zeros_like(half)) + odd) % 2
    window = lehmer[: last - first]
    _turn(window, turn)
    lehmer[: last - first] = window
    return (_value(lehmer, tiles, first) // 2 - half).astype(np.int32)


def parity_table(tiles: int, first: int, last: int) -> NDArray[np.uint8]:
    """uint8[window_size]: the parity of the sum of the digits first .. last-1 for each value."""
    value = np.arange(window_size(tiles, first, last), dtype=np.int64)  # one value: no digits
    lehmer = _digits(value, tiles, first, last)
    return (sum(lehmer, np.zeros_like(value)) % 2).astype(np.uint8)


def _digits(value: NDArray[np.int64], tiles: int, first: int, last: int) -> list[NDArray[np.int64]]:
    lehmer = []
    for i in range(last - 1, first - 1, -1):
        value, digit = np.divmod(value, tiles - i)
        lehmer.append(digit)
    lehmer.reverse()
    return lehmer


def _value(lehmer: list[NDArray[np.int64]], tiles: int, first: int) -> NDArray[np.int64]:
    value = np.zeros_like(lehmer[0])
    for i, digit in enumerate(lehmer):
        value = value * (tiles - first - i) + digit
    return value


def _turn(lehmer: list[NDArray[np.int64]], turn: int) -> None:
    """Lehmer digits of a word after its last label went to the front (RIGHT) or back (LEFT).

    `moved` is the rank of the moving label among the labels from here on: passing a label that is
    smaller raises it by one, and every passed label that is larger loses one smaller follower.
    """
    if turn == RIGHT:
        moved = lehmer[-1]
        for i in range(len(lehmer) - 2, -1, -1):
            smaller = lehmer[i] <= moved
            lehmer[i + 1] = lehmer[i] - ~smaller
            moved = moved + smaller
        lehmer[0] = moved
    else:
        moved = lehmer[0]
        for i in range(len(lehmer) - 1):
            smaller = lehmer[i + 1] < moved
            lehmer[i] = lehmer[i + 1] + ~smaller
            moved = moved - smaller
        lehmer[-1] = moved
