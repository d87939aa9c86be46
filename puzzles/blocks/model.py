"""A sliding-block puzzle as plain data: the board, the kinds of pieces, start and goal.

A `Model` is what every way to write such a puzzle down is read into, and all that the kernels and
the drawings know of it. It is trusted: `puzzles.blocks.definition` builds and checks it, and
`Model.from_spec` builds it through the same checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from puzzles.errors import PuzzleError

Cell = tuple[int, int]  # (y, x), from 0 at the top left, without the border


@dataclass(frozen=True)
class Kind:
    """Pieces of one shape that are not told apart.

    name: what people call the kind.
    cells: (dy, dx) of the cells a piece covers relative to its *anchor*, its first cell in raster
        order; in raster order, so cells[0] == (0, 0), and dx may be negative.
    count: how many pieces, at least 1.
    pieces: the user's names of its pieces, in the order of the definition.
    corner: (dy, dx) from the anchor to the top left of the bounding box; dy is 0, dx at most 0.
    shorts: the user's abbreviations of the pieces, in the same order, "" where there is none; ()
        where no piece has one.
    """

    name: str
    cells: tuple[Cell, ...]
    count: int
    pieces: tuple[str, ...]
    corner: Cell
    shorts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Model:
    """A valid puzzle.

    height, width: the board without its border.
    walls: the cells inside it that no piece may cover.
    start: per kind the sorted anchors of its pieces.
    goal: per kind the sorted anchors each of which a piece of the kind must hold; () where the
        kind does not matter. All empty: no goal.
    start_pieces: per kind the names of the pieces in the order of `start`.
    symmetric_allowed: False when the definition says that mirror images are to be told apart.
    """

    name: str
    title: str
    source: str
    height: int
    width: int
    walls: frozenset[Cell]
    kinds: tuple[Kind, ...]
    start: tuple[tuple[Cell, ...], ...]
    goal: tuple[tuple[Cell, ...], ...]
    start_pieces: tuple[tuple[str, ...], ...]
    symmetric_allowed: bool = True

    @property
    def has_goal(self) -> bool:
        """Whether any place is asked for."""
        return any(self.goal)

    @property
    def piece_count(self) -> int:
        """How many pieces are on the board."""
        return sum(kind.count for kind in self.kinds)

    def to_spec(self) -> dict[str, Any]:
        """Plain JSON data from which `from_spec` rebuilds an equal model."""
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "size": [self.height, self.width],
            "walls": [list(cell) for cell in sorted(self.walls)],
            "kinds": [
                {
                    "name": kind.name,
                    "cells": [list(cell) for cell in kind.cells],
                    "pieces": list(kind.pieces),
                    "shorts": list(kind.shorts),
                    "start": [list(cell) for cell in self.start[number]],
                    "goal": [list(cell) for cell in self.goal[number]],
                    "start_pieces": list(self.start_pieces[number]),
                }
                for number, kind in enumerate(self.kinds)
            ],
            "symmetric_allowed": self.symmetric_allowed,
        }

    @staticmethod
    def from_spec(spec: Mapping[str, Any]) -> Model:
        """The model whose `to_spec` this is; PuzzleError on anything else."""
        from puzzles.blocks.stored import model_of

        if not isinstance(spec, Mapping):
            raise PuzzleError("the stored puzzle should be a mapping")
        return model_of(spec)
