"""The metric `steps` on boards of up to 64 cells: a step at a time for all parents of a group."""

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

_0, _1, _2, _3, _4 = U64(0), U64(1), U64(2), U64(3), U64(4)
_6, _8, _63 = U64(6), U64(8), U64(63)
_LARGEST = U64(LARGEST)


@kernel
def group_steps(
    t: Tables,
    data: Words,
    ranks: Ranks,
    p: Places,
    work: Words,
    views: U64,
    keys: Words,
    out: Words,
) -> U64:
    """Write the successors of all keys by steps of one cell to `out`; return how many.

    keys: uint64[n], fastest where sorted. out: uint64[> n * (most successors)]: the place behind
    the last one may be overwritten. views: how many symmetries to identify.
    """
    n, i = _0, _0
    while i < U64(len(keys)):
        number = keys[i] // t.ways
        enter(t, data, p, work, views, number)
        size = take(t, data, p, work, views, keys, i, number)
        i += size
        if t.flat and work[SHOWN] == _1:
            n = _flat_units(t, ranks, p, work, data, size, out, n)
        elif t.small:
            n = _units(t, data, ranks, p, work, views, size, out, n)
        n = _big(t, data, ranks, p, work, views, size, out, n)
    return n


@inlined
def _big(
    t: Tables,
    data: Words,
    ranks: Ranks,
    p: Places,
    work: Words,
    views: U64,
    size: U64,
    out: Words,
    n: U64,
) -> U64:
    """The steps of big pieces."""
    free = work[p.free]
    units = p.units
    for d in range(_4):
        for k in range(t.big):
            lead = d * t.big + k
            able = work[p.mask + k] & data[t.can + lead]
            for i in range(data[t.lead_at + lead], data[t.lead_at + lead + _1]):
                able &= turned(free, data[t.lead + i])
            while able:
                home = ctz64(able)
                able &= able - _1
                need = data[t.ahead + (lead << _6) + home]
                if size < _8:  # among more parents one can nearly always make the step
                    closed = size
                    for j in range(size):
                        closed -= U64(work[units + j] & need == _0)
                    if closed == size:
                        continue
                move_piece(t, data, p, work, views, k, home, home + data[t.go + d])
                base, shown = work[BEST] * t.ways, work[SHOWN]
                if t.flat and shown & (shown - _1) == _0:
                    view = ctz64(shown)
                    left, seen = work[p.left + view], units + view * _LARGEST
                    for j in range(size):
                        out[n] = base + U64(ranks[extract(work[seen + j], left)])
                        n += U64(work[units + j] & need == _0)
                else:
                    for j in range(size):
                        if work[units + j] & need == _0:
                            way = least_way(t, data, ranks, p, work, shown, j, p.left)
                            out[n] = base + way
                            n += _1
    return n


@inlined
def _flat_units(
    t: Tables, ranks: Ranks, p: Places, work: Words, data: Words, size: U64, out: Words, n: U64
) -> U64:
    """The steps of one-cell pieces of one kind, no other view being as good as the first.

    A step exchanges the two cells of a pair of neighbours of which one is empty. Where parents are
    many for the number of ways, children are marked, and come out once each and sorted.
    """
    free, width = work[p.free], t.width
    across = free & turned(free, _1) & data[t.inner + _2]
    down = free & turned(free, width) & data[t.inner + _3]
    flip = p.flip
    pairs = _0
    rest = across
    while rest:
        work[flip + pairs] = extract(_3 << ctz64(rest), free)
        rest &= rest - _1
        pairs += _1
    shift = pairs
    rest = down
    while rest:
        work[flip + pairs] = extract((_1 | (_1 << width)) << ctz64(rest), free)
        rest &= rest - _1
        pairs += _1
    base = work[BEST] * t.ways
    mark = (t.ways + _63) >> _6 <= _4 * size
    marks, units, packed = p.marks, p.units, p.packed
    for j in range(size):
        cells, own = work[units + j], work[packed + j]
        uneven = extract(cells ^ (cells >> _1), across)
        uneven |= extract(cells ^ (cells >> width), down) << shift
        if mark:
            while uneven:
                way = U64(ranks[own ^ work[flip + ctz64(uneven)]])
                uneven &= uneven - _1
                work[marks + (way >> _6)] |= _1 << (way & _63)
        else:
            while uneven:
                out[n] = base + U64(ranks[own ^ work[flip + ctz64(uneven)]])
                uneven &= uneven - _1
                n += _1
    if mark:
        n = sweep(t, p, work, base, out, n)
    return n


@inlined
def _units(
    t: Tables,
    data: Words,
    ranks: Ranks,
    p: Places,
    work: Words,
    views: U64,
    size: U64,
    out: Words,
    n: U64,
) -> U64:
    """The steps of one-cell pieces, of any number of kinds, in any views."""
    base, shown = work[BEST] * t.ways, work[SHOWN]
    for j in range(size):
        all_units = work[p.units + j]
        empty = work[p.free] & ~all_units
        for k in range(t.small):
            own = all_units
            if not t.flat:
                own = work[p.unit + k * _LARGEST + j]
            for d in range(_4):
                go = data[t.go + d]
                able = own & data[t.inner + d] & turned(empty, go & _63)
                while able:
                    home = ctz64(able)
                    able &= able - _1
                    both = (_1 << home) | (_1 << (home + go))
                    exchange(t, data, p, work, views, k, j, both)
                    out[n] = base + least_way(t, data, ranks, p, work, shown, j, p.free)
                    n += _1
                    exchange(t, data, p, work, views, k, j, both)
    return n
