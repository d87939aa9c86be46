"""The known numbers of states per depth, of sliding tiles (blank in a corner) and of blocks."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from puzzles.blocks import index

TABLES = Path(__file__).resolve().parents[2] / "tests" / "data" / "tiles_counts.json"


@dataclass(frozen=True, slots=True)
class Board:
    """A board of sliding tiles."""

    rows: int
    columns: int

    @classmethod
    def parse(cls, text: str) -> Board:
        """The board of a text like "4x4". Raises ValueError."""
        rows, _, columns = text.lower().partition("x")
        board = cls(int(rows), int(columns))
        if min(board.rows, board.columns) < 2:
            raise ValueError(f"a board has at least 2 rows and 2 columns, not {text}")
        return board

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}"

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self.rows * self.columns

    @property
    def states(self) -> int:
        """Number of states that can be reached; as many keys has the key space."""
        return math.factorial(self.cells) // 2


class Table:
    """counts[d] = states at depth d of the puzzle `name`; empty where nobody has counted them."""

    def __init__(self, name: str, counts: list[int]) -> None:
        self.name = name
        self.counts = counts

    @cached_property
    def cumulative(self) -> list[int]:
        """cumulative[d] = states at depths 0 to d."""
        return list(itertools.accumulate(self.counts))

    @property
    def last(self) -> int | None:
        """The last depth in the table."""
        return len(self.counts) - 1 if self.counts else None

    def compare(self, found: Sequence[int], what: str) -> None:
        """Raise WrongCounts when a depth that both know differs."""
        for depth, (right, states) in enumerate(zip(self.counts, found, strict=False)):
            if right != states:
                raise WrongCounts(
                    f"{what}: {states} states at depth {depth} of {self.name}, and there are "
                    f"{right}"
                )

    def compare_whole(self, found: Sequence[int], what: str) -> None:
        """Raise WrongCounts when the counts of a whole search are not the whole table."""
        self.compare(found, what)
        if len(found) != len(self.counts):
            raise WrongCounts(
                f"{what}: {self.name} ends at depth {len(found) - 1}, and the table at {self.last}"
            )

    def deepest_within(self, states: int) -> int | None:
        """The last depth up to which there are at most so many states in all."""
        depths = [depth for depth, sum_ in enumerate(self.cumulative) if sum_ <= states]
        return depths[-1] if depths else None


class Counts(Table):
    """The table of a board of sliding tiles."""

    def __init__(self, board: Board, tables: Path = TABLES) -> None:
        long, short = max(board.rows, board.columns), min(board.rows, board.columns)
        entries = json.loads(tables.read_text(encoding="utf-8"))
        entry = entries.get(f"{long}x{short} sliding, single-tile, blank corner", {})
        super().__init__(str(board), entry.get("counts", []))
        self.board = board


def blocks(name: str, metric: str) -> Table:
    """The table of a puzzle of the library of sliding blocks, images told apart."""
    found = index.table(name, metric) or {}
    return Table(f"{name} in {metric}", found.get("counts", []))


class WrongCounts(Exception):
    """A search that found another number of states than there are."""
