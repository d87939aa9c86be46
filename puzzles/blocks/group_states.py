"""Goals, canonical keys and orbits on boards of up to 64 cells, group by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from puzzles.blocks.arrays import BEST, LARGEST, SHOWN, Places, Tables
from puzzles.blocks.groups import doomed, enter, least_way, place_big, take, way_of
from puzzles.jit import U64, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Ranks = NDArray[np.uint16]

_0, _1 = U64(0), U64(1)
_LARGEST = U64(LARGEST)


@kernel
def group_holds(
    t: Tables, data: Words, p: Places, work: Words, keys: Words, out: NDArray[np.bool_]
) -> None:
    """out[i] = whether keys[i] (uint64[n]) is a goal."""
    total = U64(len(keys))
    i = _0
    while i < total:
        number = keys[i] // t.ways
        place_big(t, data, p, work, number)
        missing = _0
        for k in range(t.big):
            missing |= data[t.goal + k] & ~work[p.mask + k]
        if missing:
            low = number * t.ways
            width = (doomed(t, data, p, work, number) - number) * t.ways
            while i < total and keys[i] - low < width:
                out[i] = False
                i += _1
            continue
        enter(t, data, p, work, _1, number)
        size = take(t, data, p, work, _1, keys, i, number)
        for j in range(size):
            missing = _0
            for k in range(t.small):
                own = work[p.units + j]
                if not t.flat:
                    own = work[p.unit + k * _LARGEST + j]
                missing |= data[t.goal + t.big + k] & ~own
            out[i + j] = missing == _0
        i += size


@kernel
def group_canonical(
    t: Tables,
    data: Words,
    ranks: Ranks,
    p: Places,
    work: Words,
    views: U64,
    keys: Words,
    out: Words,
) -> None:
    """out[i] = the least key among the images of keys[i] (uint64[n] both)."""
    i = _0
    while i < U64(len(keys)):
        number = keys[i] // t.ways
        enter(t, data, p, work, views, number)
        size = take(t, data, p, work, views, keys, i, number)
        base, shown = work[BEST] * t.ways, work[SHOWN]
        for j in range(size):
            out[i + j] = base + least_way(t, data, ranks, p, work, shown, j, p.free)
        i += size


@kernel
def group_stabilisers(
    t: Tables,
    data: Words,
    ranks: Ranks,
    p: Places,
    work: Words,
    views: U64,
    keys: Words,
    out: Words,
) -> None:
    """out[i] = how many of the first `views` symmetries leave keys[i] as it is (uint64[n] both)."""
    i = _0
    while i < U64(len(keys)):
        number = keys[i] // t.ways
        enter(t, data, p, work, views, number)
        size = take(t, data, p, work, views, keys, i, number)
        for j in range(size):
            out[i + j] = _1
        for v in range(_1, views):
            if work[p.number + v] == number:
                for j in range(size):
                    way = way_of(t, data, ranks, p, work, v, j, work[p.free + v])
                    out[i + j] += U64(way == keys[i + j] - number * t.ways)
        i += size
