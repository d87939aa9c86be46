"""Goals, canonical keys and orbits on boards of up to 64 cells, group by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from puzzles.blocks.groups import BEST, SHOWN, Group, Tables, enter, least_way, take, way_of
from puzzles.jit import U64, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

_0, _1 = U64(0), U64(1)


@kernel
def group_holds(t: Tables, g: Group, keys: Words, out: NDArray[np.bool_]) -> None:
    """out[i] = whether keys[i] (uint64[n]) is a goal."""
    i = _0
    while i < U64(len(keys)):
        places = keys[i] // t.ways
        enter(t, g, _1, places)
        every = True
        for k in range(t.big):
            every &= t.goal[k] & ~g.mask[k] == _0
        if not every:
            low = places * t.ways
            while i < U64(len(keys)) and keys[i] - low < t.ways:
                out[i] = False
                i += _1
            continue
        size = take(t, g, _1, keys, i, places)
        for j in range(size):
            every = True
            for k in range(t.small):
                own = g.units[_0, j]
                if not t.flat:
                    own = g.unit[_0, k, j]
                every &= t.goal[t.big + k] & ~own == _0
            out[i + j] = every
        i += size


@kernel
def group_canonical(t: Tables, g: Group, views: U64, keys: Words, out: Words) -> None:
    """out[i] = the least key among the images of keys[i] (uint64[n] both)."""
    i = _0
    while i < U64(len(keys)):
        places = keys[i] // t.ways
        enter(t, g, views, places)
        size = take(t, g, views, keys, i, places)
        base, shown = g.now[BEST] * t.ways, g.now[SHOWN]
        for j in range(size):
            out[i + j] = base + least_way(t, g, shown, j, g.free)
        i += size


@kernel
def group_stabilisers(t: Tables, g: Group, views: U64, keys: Words, out: Words) -> None:
    """out[i] = how many of the first `views` symmetries leave keys[i] as it is (uint64[n] both)."""
    i = _0
    while i < U64(len(keys)):
        places = keys[i] // t.ways
        enter(t, g, views, places)
        size = take(t, g, views, keys, i, places)
        for j in range(size):
            out[i + j] = _1
        for k in range(_1, views):
            view = U64(k)
            if g.number[view] == places:
                for j in range(size):
                    way = keys[i + j] - places * t.ways
                    out[i + j] += U64(way_of(t, g, view, j, g.free[view]) == way)
        i += size
