"""The fast kernels with all they are given and work on: boards of up to 64 cells."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from puzzles.blocks.arrays import Places, Tables, places_for
from puzzles.blocks.group_moves import group_moves, group_straight
from puzzles.blocks.group_states import group_canonical, group_holds, group_stabilisers
from puzzles.blocks.group_steps import group_steps
from puzzles.blocks.tables import Made
from puzzles.jit import U64

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Ranks = NDArray[np.uint16]


class Grouped:
    """The kernels of one puzzle; the same methods as `puzzles.blocks.plain.Plain`."""

    SPARE = 1

    def __init__(self, made: Made) -> None:
        self._made = made
        self._places = places_for(made.tables, made.views)
        self._local = threading.local()

    def _all(self) -> tuple[Tables, Words, Ranks, Places, Words]:
        """The first arguments of every kernel."""
        try:
            arguments: tuple[Tables, Words, Ranks, Places, Words] = self._local.arguments
        except AttributeError:
            made, places = self._made, self._places
            work = np.zeros(int(places.words), np.uint64)
            arguments = made.tables, made.data, made.ranks, places, work
            self._local.arguments = arguments
        return arguments

    def steps(self, views: int, keys: Words, out: Words) -> int:
        return int(group_steps(*self._all(), U64(views), keys, out))

    def moves(self, views: int, keys: Words, out: Words) -> int:
        return int(group_moves(*self._all(), U64(views), keys, out))

    def straight(self, views: int, keys: Words, out: Words) -> int:
        return int(group_straight(*self._all(), U64(views), keys, out))

    def canonical(self, views: int, keys: Words, out: Words) -> None:
        group_canonical(*self._all(), U64(views), keys, out)

    def stabilisers(self, views: int, keys: Words, out: Words) -> None:
        group_stabilisers(*self._all(), U64(views), keys, out)

    def holds(self, keys: Words, out: NDArray[np.bool_]) -> None:
        tables, data, _, places, work = self._all()
        group_holds(tables, data, places, work, keys, out)
