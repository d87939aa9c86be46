"""Sliding tiles as a puzzle: layouts in, snake keys inside, successors from the kernel."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from puzzles.contract import BasePuzzle
from puzzles.errors import PuzzleError
from puzzles.tiles import board as boards
from puzzles.tiles import counts, fibre, kernels, program, rank
from puzzles.tiles.geometry import Geometry

if TYPE_CHECKING:
    from puzzles.contract import Flags, Keys

METRICS = ("single", "multi")


class TilesPuzzle(BasePuzzle):
    """A board of rows x columns cells, all its tiles different, one cell blank.

    reference: the goal, or the ordered board with the blank last where there is no goal. It fixes
    the keys (its word on the snake is the identity) and which half of all layouts is meant.
    start: None means the reference. has_goal: whether a search may stop at the reference.
    Raises PuzzleError when `start` is in the other half.
    """

    metrics: tuple[str, ...] = METRICS
    undirected = True

    def __init__(
        self,
        geometry: Geometry,
        *,
        metric: str = "single",
        reference: boards.Layout | None = None,
        start: boards.Layout | None = None,
        has_goal: bool = False,
    ) -> None:
        self.geometry = geometry
        self.metric = metric
        self.bipartite = metric == "single"
        self.has_goal = has_goal
        self.key_space = geometry.key_space
        if metric == "single" and fibre.fits(geometry):
            self.fibre = fibre.TilesFibre(geometry)
        self._reference = reference or boards.standard(geometry.rows, geometry.columns, "last")
        word = self._word(self._reference)
        self._label = {tile: label for label, tile in enumerate(word)}
        self._tile = word
        self.name = f"tiles:{geometry.rows}x{geometry.columns}"
        self.spec = {
            "family": "tiles",
            "rows": geometry.rows,
            "columns": geometry.columns,
            "metric": metric,
            "goal": list(self._reference),
            "start": None if start is None else list(start),
            "has_goal": has_goal,
        }
        self._goal_key = self.key_of(self._reference)
        self._start_key = self._goal_key if start is None else self.key_of(start)
        self._local = threading.local()
        self.max_successors = _max_successors(geometry, metric)

    # keys and layouts

    def _word(self, layout: Sequence[int]) -> list[int]:
        return [layout[cell] for cell in self.geometry.snake if layout[cell]]

    def key_of(self, layout: boards.Layout) -> int:
        """The key of a checked layout; PuzzleError when it cannot be reached."""
        word = [self._label[tile] for tile in self._word(layout)]
        place = self.geometry.place[layout.index(0)]
        if self.geometry.width == 1:
            if word != sorted(word):
                raise PuzzleError(
                    "on a board of one line the tiles cannot pass each other, and this layout has"
                    " them in another order than"
                    f" {' '.join(str(tile) for tile in self._reference)}"
                )
            return place
        if not rank.is_even(word):
            raise PuzzleError(self._unreachable(layout))
        return rank.half_rank(word) * self.geometry.cells + place

    def _unreachable(self, layout: boards.Layout) -> str:
        rows, columns = self.geometry.rows, self.geometry.columns
        message = (
            "half of all layouts cannot be reached from the other half by sliding, and"
            f" {_one_line(layout, columns)} is not in the half of"
            f" {_one_line(self._reference, columns)}"
        )
        word = self._word(layout)
        for which in ("last", "first"):
            standard = boards.standard(rows, columns, which)
            place_of = {tile: i for i, tile in enumerate(self._word(standard))}
            if standard != self._reference and rank.is_even([place_of[tile] for tile in word]):
                return (
                    f"{message}; it is in the half of the ordered board with the blank {which}:"
                    f" add --goal {which}"
                )
        return f"{message}; swap any two of its tiles, or give another --goal"

    def layout_of(self, key: int) -> boards.Layout:
        """The layout of a key; PuzzleError when the key is out of range."""
        if not 0 <= key < self.key_space:
            raise PuzzleError(f"key {key} is not in 0 to {self.key_space - 1} of {self.name}")
        half, place = divmod(int(key), self.geometry.cells)
        tiles = self.geometry.tiles
        labels = range(tiles) if self.geometry.width == 1 else rank.half_unrank(half, tiles)
        word = [self._tile[label] for label in labels]
        word.insert(place, 0)
        layout = [0] * self.geometry.cells
        for cell, tile in zip(self.geometry.snake, word, strict=True):
            layout[cell] = tile
        return tuple(layout)

    # the contract

    def starts(self) -> Keys:
        return np.array([self._start_key], dtype=np.uint64)

    @cached_property
    def _program(self) -> program.Program:
        return program.build(self.geometry, self.metric)

    def successors(self, keys: Keys, out: Keys) -> int:
        """As the contract says; fastest on sorted keys in blocks of at most 8,192.

        Within each 8,192 keys the children are grouped by the parent's blank and by the move, and
        each group follows the order of its parents.
        """
        if len(out) < len(keys) * self.max_successors:
            raise PuzzleError(
                f"{len(keys)} keys of {self.name} need room for"
                f" {len(keys) * self.max_successors} successors, and there is room for {len(out)}"
            )
        if keys.dtype != np.uint64 or out.dtype != np.uint64:
            raise PuzzleError(f"keys are uint64, and these are {keys.dtype} and {out.dtype}")
        if not keys.flags.carray:  # read-only or strided: the kernel is compiled for neither
            keys = keys.copy()
        local = self._local
        try:
            scratch, counts = local.scratch, local.counts
        except AttributeError:
            cells = self.geometry.cells
            scratch = local.scratch = np.empty((cells + 1, _slice_width(cells)), np.uint64)
            counts = local.counts = np.empty(cells, np.uint64)
        return int(kernels.expand(keys, out, scratch, counts, *self._program.arguments))

    def is_goal(self, keys: Keys) -> Flags:
        if not self.has_goal:
            return np.zeros(len(keys), dtype=np.bool_)
        return cast("Flags", keys == np.uint64(self._goal_key))

    def encode(self, text: str) -> int:
        return self.key_of(boards.parse(text, self.geometry.rows, self.geometry.columns))

    def decode(self, key: int) -> tuple[tuple[int, ...], ...]:
        """The rows of the layout, 0 for the blank."""
        return boards.rows_of(self.layout_of(key), self.geometry.columns)

    def render(self, key: int) -> str:
        return boards.draw(self.layout_of(key), self.geometry.columns)

    def move(self, a: int, b: int) -> str:
        """The tiles that slide, in reading order, and the direction: "5 left", "5 6 up"."""
        slid = boards.slide(self.layout_of(a), self.layout_of(b), self.geometry.columns)
        if slid is None or (self.metric == "single" and len(slid[0]) > 1):
            raise PuzzleError(f"no move of {self.name} leads from key {a} to key {b}")
        return " ".join(str(tile) for tile in slid[0]) + " " + slid[1]

    def warm(self) -> None:
        """Compile or load the kernel and build this board's tables."""
        self.successors(self.starts(), np.empty(self.max_successors, dtype=np.uint64))

    def describe(self) -> str:
        what = "one tile a move" if self.metric == "single" else "a line of tiles a move"
        layouts = self.key_space
        return (
            f"sliding tiles, {self.geometry.rows} rows x {self.geometry.columns} columns,"
            f" {what}, {layouts:,} states"
        )

    def known_counts(self) -> tuple[int, ...] | None:
        geometry = self.geometry
        cell = self.layout_of(self._start_key).index(0)
        row, column = divmod(cell, geometry.columns)
        if row not in (0, geometry.rows - 1) or column not in (0, geometry.columns - 1):
            return None
        return counts.known_counts(geometry.rows, geometry.columns, self.metric)


def _slice_width(cells: int) -> int:
    """Keys the kernel sorts by place at a time: few enough to stay in the cache.

    Not a multiple of a page, so that the rows of the scratch do not share their cache lines.
    """
    return 8192 + 72 if cells <= 32 else 64


def _max_successors(geometry: Geometry, metric: str) -> int:
    rows, columns = geometry.rows, geometry.columns
    if metric == "multi":
        return max(1, rows + columns - 2)
    return max(1, min(rows - 1, 2) + min(columns - 1, 2))


def _one_line(layout: boards.Layout, columns: int) -> str:
    return " / ".join(
        " ".join(str(tile) for tile in row) for row in boards.rows_of(layout, columns)
    )
