"""The metric `steps` on boards of up to 64 cells: a step at a time for all parents of a group."""

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

_0, _1, _2, _3, _4, _6, _63 = U64(0), U64(1), U64(2), U64(3), U64(4), U64(6), U64(63)


@kernel
def group_steps(t: Tables, g: Group, views: U64, keys: Words, out: Words) -> U64:
    """Write the successors of all keys by steps of one cell to `out`; return how many.

    keys: uint64[n], fastest where sorted. out: uint64[> n * (most successors)]: the place behind
    the last one may be overwritten. views: how many symmetries to identify.
    """
    n, i = _0, _0
    while i < U64(len(keys)):
        places = keys[i] // t.ways
        enter(t, g, views, places)
        size = take(t, g, views, keys, i, places)
        i += size
        if t.flat and g.now[SHOWN] == _1:
            n = _flat_units(t, g, size, out, n)
        elif t.small:
            n = _units(t, g, views, size, out, n)
        n = _big(t, g, views, size, out, n)
    return n


@inlined
def _big(t: Tables, g: Group, views: U64, size: U64, out: Words, n: U64) -> U64:
    """The steps of big pieces."""
    units = g.units[_0]
    for d in range(_4):
        for k in range(t.big):
            able = g.mask[k] & t.can[d, k]
            lead = d * t.big + k
            for i in range(t.lead_at[lead], t.lead_at[lead + _1]):
                able &= turned(g.free[_0], t.lead[i])
            while able:
                home = ctz64(able)
                able &= able - _1
                need = t.ahead[d, k, home]
                any_open = False
                for j in range(size):
                    any_open |= units[j] & need == _0
                if not any_open:
                    continue
                move_piece(t, g, views, k, home, home + t.go[d])
                base, shown = g.now[BEST] * t.ways, g.now[SHOWN]
                if t.flat and shown & (shown - _1) == _0:
                    view = ctz64(shown)
                    shown_units, free = g.units[view], g.left[view]
                    ranks = t.flat_rank
                    for j in range(size):
                        out[n] = base + U64(ranks[extract(shown_units[j], free)])
                        n += U64(units[j] & need == _0)
                else:
                    for j in range(size):
                        if units[j] & need == _0:
                            out[n] = base + least_way(t, g, shown, j, g.left)
                            n += _1
    return n


@inlined
def _flat_units(t: Tables, g: Group, size: U64, out: Words, n: U64) -> U64:
    """The steps of one-cell pieces of one kind, no other view being as good as the first.

    A step exchanges the two cells of a pair of neighbours of which one is empty. Where parents are
    many for the number of ways, children are marked, and come out once each and sorted.
    """
    free = g.free[_0]
    across = free & turned(free, _1) & t.inner[_2]
    down = free & turned(free, t.width) & t.inner[_3]
    pairs = _0
    rest = across
    while rest:
        g.flip[pairs] = extract(_3 << ctz64(rest), free)
        rest &= rest - _1
        pairs += _1
    shift = pairs
    rest = down
    while rest:
        g.flip[pairs] = extract((_1 | (_1 << t.width)) << ctz64(rest), free)
        rest &= rest - _1
        pairs += _1
    base = g.now[BEST] * t.ways
    words = (t.ways + _63) >> _6
    units, packed, flip, ranks, marks = g.units[_0], g.packed, g.flip, t.flat_rank, g.marks
    mark = words <= _4 * size
    for j in range(size):
        cells, own = units[j], packed[j]
        uneven = extract(cells ^ (cells >> _1), across)
        uneven |= extract(cells ^ (cells >> t.width), down) << shift
        if mark:
            while uneven:
                way = U64(ranks[own ^ flip[ctz64(uneven)]])
                uneven &= uneven - _1
                marks[way >> _6] |= _1 << (way & _63)
        else:
            while uneven:
                out[n] = base + U64(ranks[own ^ flip[ctz64(uneven)]])
                uneven &= uneven - _1
                n += _1
    if mark:
        n = sweep(t, g, base, out, n)
    return n


@inlined
def _units(t: Tables, g: Group, views: U64, size: U64, out: Words, n: U64) -> U64:
    """The steps of one-cell pieces, of any number of kinds, in any views."""
    base, shown = g.now[BEST] * t.ways, g.now[SHOWN]
    for j in range(size):
        empty = g.free[_0] & ~g.units[_0, j]
        for k in range(t.small):
            own = g.units[_0, j]
            if not t.flat:
                own = g.unit[_0, k, j]
            for d in range(_4):
                able = own & t.inner[d] & turned(empty, t.go[d] & _63)
                while able:
                    home = ctz64(able)
                    able &= able - _1
                    both = (_1 << home) | (_1 << (home + t.go[d]))
                    exchange(t, g, views, k, j, both)
                    out[n] = base + least_way(t, g, shown, j, g.free)
                    n += _1
                    exchange(t, g, views, k, j, both)
    return n
