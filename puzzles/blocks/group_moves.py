"""The metric `moves` on boards of up to 64 cells: flood fill over the anchors of each piece."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from puzzles.blocks.bits import extract, inlined, turned
from puzzles.blocks.groups import (
    BEST,
    SHOWN,
    Group,
    Tables,
    enter,
    exchange,
    least_way,
    move_piece,
    sweep,
    take,
)
from puzzles.jit import U64, ctz64, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

_0, _1, _4, _6, _63 = U64(0), U64(1), U64(4), U64(6), U64(63)


@kernel
def group_moves(t: Tables, g: Group, views: U64, keys: Words, out: Words) -> U64:
    """Write the successors of all keys by moves of one piece to `out`; return how many.

    As `puzzles.blocks.group_steps.group_steps` otherwise.
    """
    n, i = _0, _0
    while i < U64(len(keys)):
        places = keys[i] // t.ways
        enter(t, g, views, places)
        size = take(t, g, views, keys, i, places)
        i += size
        if t.small:
            n = _units(t, g, views, size, out, n)
        n = _big(t, g, views, size, out, n)
    return n


@inlined
def flood(t: Tables, home: U64, inside: U64) -> U64:
    """The cells that one-cell steps within the set `inside` reach from `home`, which is in it."""
    reached, before = _1 << home, _0
    while reached != before:
        before = reached
        for d in range(_4):  # from a cell to the one at d, seen from there
            reached |= turned(before & t.inner[d], (_0 - t.go[d]) & _63) & inside
    return reached


@inlined
def _big(t: Tables, g: Group, views: U64, size: U64, out: Words, n: U64) -> U64:
    """The moves of big pieces, piece by piece; a number for each target is found once a group."""
    free = g.free[_0]
    for k in range(t.big):
        pieces = g.mask[k]
        while pieces:
            home = ctz64(pieces)
            pieces &= pieces - _1
            every = _0
            reach = g.packed  # a parent's targets; what was there is not needed any more
            near = _0
            for d in range(_4):
                if (t.can[d, k] >> home) & _1 and t.ahead[d, k, home] & ~free == _0:
                    near |= _1 << d
            if not near:
                continue
            for j in range(size):
                empty = free & ~g.units[_0, j]
                moves = False
                for d in range(_4):
                    moves |= ((near >> d) & _1 != _0) and (t.ahead[d, k, home] & ~empty == _0)
                targets = _0
                if moves:
                    empty |= t.cover[k, home]
                    fits = t.legal[k]
                    for i in range(t.turn_at[k] + _1, t.turn_at[k + _1]):
                        fits &= turned(empty, t.turn[i])
                    fits &= empty
                    targets = flood(t, home, fits) ^ (_1 << home)
                reach[j] = targets
                every |= targets
            while every:
                target = ctz64(every)
                every &= every - _1
                move_piece(t, g, views, k, home, target)
                base, shown = g.now[BEST] * t.ways, g.now[SHOWN]
                if t.flat and shown & (shown - _1) == _0:
                    view = ctz64(shown)
                    units, left, ranks = g.units[view], g.left[view], t.flat_rank
                    for j in range(size):
                        out[n] = base + U64(ranks[extract(units[j], left)])
                        n += (reach[j] >> target) & _1
                else:
                    for j in range(size):
                        if (reach[j] >> target) & _1:
                            out[n] = base + least_way(t, g, shown, j, g.left)
                            n += _1
    return n


@inlined
def _units(t: Tables, g: Group, views: U64, size: U64, out: Words, n: U64) -> U64:
    """The moves of one-cell pieces, of any number of kinds, in any views."""
    base, shown = g.now[BEST] * t.ways, g.now[SHOWN]
    free = g.free[_0]
    quick = t.flat and shown == _1
    words = (t.ways + _63) >> _6
    mark = quick and words <= _4 * size
    for j in range(size):
        all_units = g.units[_0, j]
        empty = free & ~all_units
        beside = _0
        for d in range(_4):
            beside |= t.inner[d] & turned(empty, t.go[d] & _63)
        for k in range(t.small):
            own = all_units
            if not t.flat:
                own = g.unit[_0, k, j]
            able = own & beside
            while able:
                home = ctz64(able)
                able &= able - _1
                bit = _1 << home
                targets = flood(t, home, empty | bit) ^ bit
                while targets:
                    both = bit | (targets & (_0 - targets))
                    targets &= targets - _1
                    if quick:
                        way = U64(t.flat_rank[extract(all_units ^ both, free)])
                        if mark:
                            g.marks[way >> _6] |= _1 << (way & _63)
                        else:
                            out[n] = base + way
                            n += _1
                    else:
                        exchange(t, g, views, k, j, both)
                        out[n] = base + least_way(t, g, shown, j, g.free)
                        n += _1
                        exchange(t, g, views, k, j, both)
    if mark:
        n = sweep(t, g, base, out, n)
    return n
