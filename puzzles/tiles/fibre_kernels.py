"""Fibre keys through their pending edges: one compiled kernel for all boards.

A fibre key is a half rank. The windows are turned by the same hops as for whole keys, with units
counted in half ranks (`puzzles.tiles.kernels`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from puzzles.jit import U64, bit_plane, ctz64, kernel
from puzzles.tiles.kernels import _hop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Masks = NDArray[np.uint32]
    Table = NDArray[np.int32]
    Parities = NDArray[np.uint8]

SLICE = 8192  # keys, a multiple of 64: what one edge picks from so many stays in the L1 cache

_0, _1, _64 = U64(0), U64(1), U64(64)


@kernel
def pick(keys: Keys, pending: Masks, low: U64, high: U64, edge: U64, out: Keys) -> U64:
    """Copy keys[i] for low <= i < high where bit `edge` of pending[i] is set; return how many."""
    at = _0
    planes = low + (high - low) // _64 * _64
    for start in range(low, planes, _64):
        plane = bit_plane(pending, start, edge)
        while plane != _0:
            out[at] = keys[start + ctz64(plane)]
            at += _1
            plane &= plane - _1
    for i in range(planes, high):
        if (U64(pending[i]) >> edge) & _1 != _0:
            out[at] = keys[i]
            at += _1
    return at


@kernel
def expand(
    keys: Keys,
    pending: Masks,
    total: U64,
    out: Keys,
    counts: Keys,
    plan: Keys,
    hops: Keys,
    table: Table,
    parities: Parities,
) -> U64:
    """See `puzzles.fibre.Fibre.expand`; plan: uint64[edges, 2], the first and last + 1 hop."""
    at = _0
    used = U64(0)
    for i in range(total):
        used |= U64(pending[i])
    for edge in range(U64(len(plan))):
        first, end = plan[edge, 0], plan[edge, 1]
        group = at
        if (used >> edge) & _1 == _0:
            counts[edge] = _0
            continue
        for low in range(_0, total, U64(SLICE)):
            found = out[at:]
            n = pick(keys, pending, low, min(total, low + U64(SLICE)), edge, found)
            for hop in range(first, end):
                _hop(found, n, hops[hop], table, parities, _0, found)
            at += n
        counts[edge] = at - group
    return at
