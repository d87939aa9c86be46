"""The fast kernels with all they are given and work on: boards of up to 64 cells."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from puzzles.blocks.group_moves import group_moves
from puzzles.blocks.group_states import group_canonical, group_holds, group_stabilisers
from puzzles.blocks.group_steps import group_steps
from puzzles.blocks.groups import Group, Tables, group_for
from puzzles.jit import U64

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]


class Grouped:
    """The kernels of one puzzle; the same methods as `puzzles.blocks.plain.Plain`."""

    SPARE = 1

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._local = threading.local()

    def _group(self) -> Group:
        try:
            group: Group = self._local.group
        except AttributeError:
            group = self._local.group = group_for(self.tables)
        return group

    def steps(self, views: int, keys: Words, out: Words) -> int:
        return int(group_steps(self.tables, self._group(), U64(views), keys, out))

    def moves(self, views: int, keys: Words, out: Words) -> int:
        return int(group_moves(self.tables, self._group(), U64(views), keys, out))

    def canonical(self, views: int, keys: Words, out: Words) -> None:
        group_canonical(self.tables, self._group(), U64(views), keys, out)

    def stabilisers(self, views: int, keys: Words, out: Words) -> None:
        group_stabilisers(self.tables, self._group(), U64(views), keys, out)

    def holds(self, keys: Words, out: NDArray[np.bool_]) -> None:
        group_holds(self.tables, self._group(), keys, out)
