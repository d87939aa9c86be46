"""The metrics of one piece any distance on boards of up to 64 cells.

`moves`: along any path, by flood fill over its anchors; `straight`: in one direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from puzzles.blocks.arrays import BEST, LARGEST, SHOWN, Places, Tables
from puzzles.blocks.bits import extract, inlined, turned
from puzzles.blocks.groups import enter, exchange, least_way, move_piece, sweep, take
from puzzles.jit import U64, ctz64, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Ranks = NDArray[np.uint16]

_0, _1, _4, _6, _63 = U64(0), U64(1), U64(4), U64(6), U64(63)
_LARGEST = U64(LARGEST)


@kernel
def group_moves(
    t: Tables,
    data: Words,
    ranks: Ranks,
    p: Places,
    work: Words,
    views: U64,
    keys: Words,
    out: Words,
) -> U64:
    """Write the successors of all keys by moves of one piece to `out`; return how many.

    As `puzzles.blocks.group_steps.group_steps` otherwise.
    """
    n: U64 = _successors(t, data, ranks, p, work, views, False, keys, out)
    return n


@kernel
def group_straight(
    t: Tables,
    data: Words,
    ranks: Ranks,
    p: Places,
    work: Words,
    views: U64,
    keys: Words,
    out: Words,
) -> U64:
    """The same by moves in one direction."""
    n: U64 = _successors(t, data, ranks, p, work, views, True, keys, out)
    return n


@inlined
def _successors(
    t: Tables,
    data: Words,
    ranks: Ranks,
    p: Places,
    work: Words,
    views: U64,
    straight: bool,
    keys: Words,
    out: Words,
) -> U64:
    """What both kernels do; `straight` is a constant in each, so that neither has to ask for it."""
    n, i = _0, _0
    while i < U64(len(keys)):
        number = keys[i] // t.ways
        enter(t, data, p, work, views, number)
        size = take(t, data, p, work, views, keys, i, number)
        i += size
        if t.small:
            n = _units(t, data, ranks, p, work, views, straight, size, out, n)
        n = _big(t, data, ranks, p, work, views, straight, size, out, n)
    return n


@inlined
def reach_of(t: Tables, data: Words, home: U64, inside: U64, straight: bool) -> U64:
    """The cells that a piece at `home` can go to, and home, when anchors may be `inside`."""
    reached: U64 = rays(t, data, home, inside) if straight else flood(t, data, home, inside)
    return reached


@inlined
def rays(t: Tables, data: Words, home: U64, inside: U64) -> U64:
    """The cells that steps in one direction within the set `inside` reach from `home`."""
    reached = _1 << home
    for d in range(_4):
        go = (_0 - data[t.go + d]) & _63
        last = _1 << home
        while last:
            last = turned(last & data[t.inner + d], go) & inside
            reached |= last
    return reached


@inlined
def flood(t: Tables, data: Words, home: U64, inside: U64) -> U64:
    """The cells that one-cell steps within the set `inside` reach from `home`, which is in it."""
    reached, before = _1 << home, _0
    while reached != before:
        before = reached
        for d in range(_4):  # from a cell to the one at d: rotated the other way
            go = (_0 - data[t.go + d]) & _63
            reached |= turned(before & data[t.inner + d], go) & inside
    return reached


@inlined
def _big(
    t: Tables,
    data: Words,
    ranks: Ranks,
    p: Places,
    work: Words,
    views: U64,
    straight: bool,
    size: U64,
    out: Words,
    n: U64,
) -> U64:
    """The moves of big pieces, piece by piece; where one can go at all is numbered once a group."""
    free = work[p.free]
    reach = p.packed  # a parent's targets; what was there is not needed any more
    for k in range(t.big):
        pieces = work[p.mask + k]
        while pieces:
            home = ctz64(pieces)
            pieces &= pieces - _1
            # what must be empty for a step up, left, right, down; nothing ever is all empty
            needs = _needs(t, data, k, home, free)
            if needs == (~_0, ~_0, ~_0, ~_0):
                continue
            every = _0
            for j in range(size):
                empty = free & ~work[p.units + j]
                targets = _0
                if (
                    needs[0] & ~empty == _0
                    or needs[1] & ~empty == _0
                    or needs[2] & ~empty == _0
                    or needs[3] & ~empty == _0
                ):
                    empty |= data[t.cover + (k << _6) + home]
                    fits = data[t.legal + k] & empty
                    for i in range(data[t.turn_at + k] + _1, data[t.turn_at + k + _1]):
                        fits &= turned(empty, data[t.turn + i])
                    targets = reach_of(t, data, home, fits, straight) ^ (_1 << home)
                work[reach + j] = targets
                every |= targets
            while every:
                target = ctz64(every)
                every &= every - _1
                move_piece(t, data, p, work, views, k, home, target)
                base, shown = work[BEST] * t.ways, work[SHOWN]
                if t.flat and shown & (shown - _1) == _0:
                    view = ctz64(shown)
                    left, seen = work[p.left + view], p.units + view * _LARGEST
                    for j in range(size):
                        out[n] = base + U64(ranks[extract(work[seen + j], left)])
                        n += (work[reach + j] >> target) & _1
                else:
                    for j in range(size):
                        if (work[reach + j] >> target) & _1:
                            way = least_way(t, data, ranks, p, work, shown, j, p.left)
                            out[n] = base + way
                            n += _1
    return n


@inlined
def _needs(t: Tables, data: Words, k: U64, home: U64, free: U64) -> tuple[U64, U64, U64, U64]:
    """The cells ahead of a piece in each direction, all cells where the board or a big piece ends
    its way."""
    at = t.ahead + (k << _6) + home
    step = t.big << _6
    a, b, c, d = data[at], data[at + step], data[at + step + step], data[at + step + step + step]
    if a & ~free:
        a = ~_0
    if b & ~free:
        b = ~_0
    if c & ~free:
        c = ~_0
    if d & ~free:
        d = ~_0
    return a, b, c, d


@inlined
def _units(
    t: Tables,
    data: Words,
    ranks: Ranks,
    p: Places,
    work: Words,
    views: U64,
    straight: bool,
    size: U64,
    out: Words,
    n: U64,
) -> U64:
    """The moves of one-cell pieces, of any number of kinds, in any views."""
    base, shown = work[BEST] * t.ways, work[SHOWN]
    free = work[p.free]
    quick = t.flat and shown == _1
    mark = quick and (t.ways + _63) >> _6 <= _4 * size
    for j in range(size):
        all_units = work[p.units + j]
        empty = free & ~all_units
        beside = _0
        for d in range(_4):
            beside |= data[t.inner + d] & turned(empty, data[t.go + d] & _63)
        for k in range(t.small):
            own = all_units
            if not t.flat:
                own = work[p.unit + k * _LARGEST + j]
            able = own & beside
            while able:
                home = ctz64(able)
                able &= able - _1
                bit = _1 << home
                targets = reach_of(t, data, home, empty | bit, straight) ^ bit
                while targets:
                    both = bit | (targets & (_0 - targets))
                    targets &= targets - _1
                    if quick:
                        way = U64(ranks[extract(all_units ^ both, free)])
                        if mark:
                            work[p.marks + (way >> _6)] |= _1 << (way & _63)
                        else:
                            out[n] = base + way
                            n += _1
                    else:
                        exchange(t, data, p, work, views, k, j, both)
                        out[n] = base + least_way(t, data, ranks, p, work, shown, j, p.free)
                        n += _1
                        exchange(t, data, p, work, views, k, j, both)
    if mark:
        n = sweep(t, p, work, base, out, n)
    return n
