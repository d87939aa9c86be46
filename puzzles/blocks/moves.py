"""The metrics of one piece any distance.

`moves`: along any path, by flood fill over its anchors; `straight`: in one direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from puzzles.blocks.kernels import Board, Scratch, can_stand, least_rank, unrank
from puzzles.jit import U64, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

_0, _1, _4 = U64(0), U64(1), U64(4)


@kernel
def moves(
    board: Board, views: U64, keys: Words, out: Words, work: Scratch, reached: Words, stamp: Words
) -> U64:
    """Write the successors of all keys by moves of one piece to `out`; return how many.

    keys: uint64[n]. out: uint64[>= n * max_successors]. views: how many symmetries to identify.
    reached, stamp: uint64[cells + 1], stamp zeroed before the first call.
    """
    n = _0
    mark = stamp[board.cells]
    for i in range(len(keys)):
        unrank(board, keys[i], work)
        for p in range(board.pieces):
            piece = U64(p)
            home = work.anchor[piece]
            mark += _1
            stamp[home] = mark
            reached[_0] = home
            first, last = _0, _1
            while first < last:
                here = reached[first]
                first += _1
                for direction in range(_4):
                    anchor = board.near[direction, here]
                    if can_stand(board, work, piece, anchor) and stamp[anchor] != mark:
                        stamp[anchor] = mark
                        reached[last] = anchor
                        last += _1
                        work.anchor[piece] = anchor
                        out[n] = least_rank(board, work, views)
                        n += _1
            work.anchor[piece] = home
    stamp[board.cells] = mark
    return n


@kernel
def straight(board: Board, views: U64, keys: Words, out: Words, work: Scratch) -> U64:
    """Write the successors of all keys by moves of one piece in one direction to `out`; return how
    many. Arguments as in `moves`."""
    n = _0
    for i in range(len(keys)):
        unrank(board, keys[i], work)
        for p in range(board.pieces):
            piece = U64(p)
            home = work.anchor[piece]
            for direction in range(_4):
                anchor = board.near[direction, home]
                while can_stand(board, work, piece, anchor):
                    work.anchor[piece] = anchor
                    out[n] = least_rank(board, work, views)
                    n += _1
                    anchor = board.near[direction, anchor]
            work.anchor[piece] = home
    return n
