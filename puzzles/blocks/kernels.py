"""The plain kernels: any board, any shapes, either kind of keys; everything they know in arrays.

A state is worked on as a list of pieces, kind and anchor each, and an array that tells which piece
covers a cell. One compiled kernel serves all puzzles. `puzzles.blocks.bitboard` is faster
on boards of up to 64 cells, and is tested against these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from puzzles.blocks.bits import inlined
from puzzles.jit import U64, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Shorts = NDArray[np.uint16]

_0, _1, _2, _3, _4 = U64(0), U64(1), U64(2), U64(3), U64(4)
WALL = np.uint16(0xFFFF)
NO_KEY = U64(0xFFFFFFFFFFFFFFFF)


class Board(NamedTuple):
    """A puzzle in numbers: cells in raster order; kinds by number, the `big` ones first.

    pieces: how many there are; ways: numbers of the one-cell pieces; dense: 1 if the big pieces are
    numbered by the automaton. walls: uint16[cells], 1 for a wall. counts: uint64[kinds].
    shape: the cells of a piece as differences to its anchor, modulo 2**64, those of kind k at
    shape_at[k] .. shape_at[k + 1] - 1. legal: uint8[kinds, cells + 1], whether an anchor may be
    there; the last column is 0. near: uint64[4, cells], the next cell up, left, right, down, or
    `cells`. anchor: uint64[kinds, cells], the legal anchors of a kind, anchors[k] of them; ordinal:
    where in that list a cell is. weight: what a rank of a kind is worth, big kinds only without the
    automaton. choose: uint64[cells + 1, .], binomial coefficients. place, offset, after: the
    automaton. view_kind, view_anchor: uint64[views, kinds] and uint64[views, kinds, cells], what
    symmetry v makes of a piece; view 0 changes nothing.
    """

    cells: U64
    big: U64
    ways: U64
    pieces: U64
    dense: U64
    walls: Shorts
    counts: Words
    shape: Words
    shape_at: Words
    legal: NDArray[np.uint8]
    near: Words
    anchor: Words
    anchors: Words
    ordinal: Words
    weight: Words
    choose: Words
    place: NDArray[np.uint32]
    offset: Words
    after: NDArray[np.uint32]
    view_kind: Words
    view_anchor: Words


class Scratch(NamedTuple):
    """What a call works on. kind, anchor: uint64[pieces + 1]. cover: uint16[cells], 0 where empty,
    1 + piece, or WALL. code: uint16[cells], 1 + kind at anchors. list: uint64[3, cells + 1].
    seen: uint64[cells + 1].
    """

    kind: Words
    anchor: Words
    cover: Shorts
    code: Shorts
    list: Words
    seen: Words


def scratch_for(board: Board) -> Scratch:
    """New scratch arrays; one set a thread."""
    cells, pieces = int(board.cells), int(board.pieces)
    return Scratch(
        np.zeros(pieces + 1, np.uint64),
        np.zeros(pieces + 1, np.uint64),
        np.zeros(cells, np.uint16),
        np.zeros(cells, np.uint16),
        np.zeros((3, cells + 1), np.uint64),
        np.zeros(cells + 1, np.uint64),
    )


@inlined
def _unrank_subset(rank: U64, count: U64, size: U64, choose: Words, out: Words) -> None:
    """The `count` members below `size` of the subset of this rank, ascending, to out[:count]."""
    top = size
    for i in range(count):
        k = count - U64(i)
        low, high = k - _1, top - _1  # the largest member with choose[member, k] <= rank
        while low < high:
            middle = (low + high + _1) >> _1
            if choose[middle, k] <= rank:
                low = middle
            else:
                high = middle - _1
        rank -= choose[low, k]
        out[k - _1] = low
        top = low


@inlined
def put(board: Board, work: Scratch, piece: U64, kind: U64, anchor: U64) -> None:
    """Let piece number `piece` be one of `kind` at `anchor`."""
    work.kind[piece] = kind
    work.anchor[piece] = anchor
    for i in range(board.shape_at[kind], board.shape_at[kind + _1]):
        work.cover[anchor + board.shape[i]] = np.uint16(piece + _1)


@inlined
def unrank(board: Board, key: U64, work: Scratch) -> None:
    """Set kind, anchor and cover to the state of a key; pieces of a kind have ascending anchors
    among the one-cell pieces only."""
    for cell in range(board.cells):
        work.cover[cell] = WALL if board.walls[cell] else np.uint16(0)
    places = key // board.ways
    ways = key - places * board.ways
    piece = _0
    if board.dense:
        node = _0
        columns = U64(board.offset.shape[1])
        while U64(board.place[node]) < board.cells:
            column = columns - _1
            while board.offset[node, column] > places:
                column -= _1
            places -= board.offset[node, column]
            if column:
                put(board, work, piece, column - _1, U64(board.place[node]))
                piece += _1
            node = U64(board.after[node, column])
    else:
        for k in range(board.big):
            kind = U64(k)
            rank = places // board.weight[kind]
            places -= rank * board.weight[kind]
            count = board.counts[kind]
            _unrank_subset(rank, count, board.anchors[kind], board.choose, work.seen)
            for i in range(count):
                put(board, work, piece, kind, board.anchor[kind, work.seen[i]])
                piece += _1
    free = work.list[_0]
    n = _0
    for cell in range(board.cells):
        free[n] = U64(cell)
        n += U64(work.cover[cell] == 0)
    for k in range(board.big, U64(len(board.counts))):
        kind = U64(k)
        rank = ways // board.weight[kind]
        ways -= rank * board.weight[kind]
        count = board.counts[kind]
        _unrank_subset(rank, count, n, board.choose, work.seen)
        for i in range(count):
            put(board, work, piece, kind, free[work.seen[i]])
            piece += _1
        left = _0
        for i in range(n):
            cell = free[i]
            free[left] = cell
            left += U64(work.cover[cell] == 0)
        n = left


@inlined
def rank(board: Board, work: Scratch, view: U64) -> U64:
    """The key of the pieces kind, anchor as symmetry `view` shows them; overwrites code, list."""
    covered, taken, digit = work.list[_0], work.list[_1], work.list[_2]
    code = work.code
    for cell in range(board.cells):
        code[cell] = np.uint16(0)
        covered[cell] = U64(board.walls[cell])
    for piece in range(board.pieces):
        kind = board.view_kind[view, work.kind[piece]]
        anchor = board.view_anchor[view, work.kind[piece], work.anchor[piece]]
        code[anchor] = np.uint16(kind + _1)
        if kind < board.big:
            for i in range(board.shape_at[kind], board.shape_at[kind + _1]):
                covered[anchor + board.shape[i]] = _1
    kinds = U64(len(board.counts))
    places = _0
    if board.dense:
        node = _0
        while U64(board.place[node]) < board.cells:
            column = U64(code[board.place[node]])
            if column > board.big:
                column = _0
            places += board.offset[node, column]
            node = U64(board.after[node, column])
    for k in range(kinds):
        taken[k] = _0
        digit[k] = _0
    seen = work.seen
    for k in range(kinds):
        seen[k] = _0
    for cell in range(board.cells):
        column = U64(code[cell])
        if column and column <= board.big and not board.dense:
            kind = column - _1
            taken[kind] += _1
            places += board.weight[kind] * board.choose[board.ordinal[kind, cell], taken[kind]]
        if not covered[cell]:
            for k in range(board.big, kinds):
                if U64(k) + _1 == column:
                    taken[k] += _1
                    digit[k] += board.choose[seen[k], taken[k]]
                    seen[k] += _1
                    break
                seen[k] += _1
    ways = _0
    for k in range(board.big, kinds):
        ways += digit[k] * board.weight[k]
    return places * board.ways + ways


@inlined
def least_rank(board: Board, work: Scratch, views: U64) -> U64:
    """The least key among the first `views` symmetries."""
    least: U64 = rank(board, work, _0)
    for view in range(_1, views):
        least = min(least, rank(board, work, U64(view)))
    return least


@inlined
def can_stand(board: Board, work: Scratch, piece: U64, anchor: U64) -> bool:
    """Whether a piece could be at `anchor` (a cell, or `cells`), all others staying."""
    kind = work.kind[piece]
    if not board.legal[kind, anchor]:
        return False
    mine = np.uint16(piece + _1)
    for i in range(board.shape_at[kind], board.shape_at[kind + _1]):
        cover = work.cover[anchor + board.shape[i]]
        if cover and cover != mine:
            return False
    return True


@kernel
def steps(board: Board, views: U64, keys: Words, out: Words, work: Scratch) -> U64:
    """Write the successors of all keys by steps of one cell to `out`; return how many.

    keys: uint64[n]. out: uint64[>= n * max_successors]. views: how many symmetries to identify.
    """
    n = _0
    for i in range(len(keys)):
        unrank(board, keys[i], work)
        for p in range(board.pieces):
            piece = U64(p)
            home = work.anchor[piece]
            for direction in range(_4):
                anchor = board.near[direction, home]
                if can_stand(board, work, piece, anchor):
                    work.anchor[piece] = anchor
                    out[n] = least_rank(board, work, views)
                    n += _1
            work.anchor[piece] = home
    return n


@kernel
def canonical(board: Board, views: U64, keys: Words, out: Words, work: Scratch) -> None:
    """out[i] = the least key among the images of keys[i] (uint64[n] both)."""
    for i in range(len(keys)):
        unrank(board, keys[i], work)
        out[i] = least_rank(board, work, views)


@kernel
def stabilisers(board: Board, views: U64, keys: Words, out: Words, work: Scratch) -> None:
    """out[i] = how many of the first `views` symmetries leave keys[i] as it is (uint64[n] both)."""
    for i in range(len(keys)):
        unrank(board, keys[i], work)
        same = _0
        for view in range(views):
            same += U64(rank(board, work, U64(view)) == keys[i])
        out[i] = same


@kernel
def holds(
    board: Board,
    goal_kind: Words,
    goal_anchor: Words,
    keys: Words,
    out: NDArray[np.bool_],
    work: Scratch,
) -> None:
    """out[i] = whether in keys[i] a piece of kind goal_kind[j] is at goal_anchor[j], for all j."""
    for i in range(len(keys)):
        unrank(board, keys[i], work)
        every = True
        for j in range(len(goal_kind)):
            cover = U64(work.cover[goal_anchor[j]])
            if cover == _0 or cover == U64(WALL):
                every = False
                break
            piece = cover - _1
            if work.kind[piece] != goal_kind[j] or work.anchor[piece] != goal_anchor[j]:
                every = False
                break
        out[i] = every
