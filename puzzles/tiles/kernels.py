"""Successors of snake keys: one compiled kernel for all boards, everything it knows in arrays.

A key is half_rank * cells + place. Divisions by run-time constants are multiplications:

    x // d == mulhi(2x, m) >> k,   k = floor(log2 d),   m = ceil(2**(63+k) / d) <= 2**63.

Proof: m*d = 2**(63+k) + e with 0 <= e < d < 2**(k+1), and mulhi(2x, m) >> k is the integer part
of x*m / 2**(63+k) = x/d + x*e / (d * 2**(63+k)). The fraction of x/d is at most (d-1)/d, so the
result is exact while x*e < 2**(63+k), which holds for all x < 2**62. Keys are below 20!/2 < 2**61.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from puzzles.jit import U64, kernel, mulhi

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]

SLICE = 8192  # keys worked on at a time, so that the scratch stays in the cache
SCRATCH_ROWS = 3

# Columns of `hops`, one row a hop (uint64).
H_UNIT = 0  # G: what one step of the window's value is worth in half ranks
H_UNIT_M = 1
H_UNIT_K = 2
H_SIZE = 3  # the number of values of the window
H_SIZE_M = 4
H_SIZE_K = 5
H_TABLE = 6  # where the table starts; a tail window's second table follows its first
H_KIND = 7  # HEAD, INNER or TAIL
H_ODD = 8  # TAIL: parity to add to that of the digits before
H_GROUPS = 9  # TAIL: first row in `groups`
H_GROUPS_END = 10
H_COLUMNS = 11
HEAD, INNER, TAIL = U64(0), U64(1), U64(2)

# Columns of `groups`, one row a group of digits before a tail window, last group first.
G_SIZE = 0
G_SIZE_M = 1
G_SIZE_K = 2
G_TABLE = 3  # where its table of parities starts
G_COLUMNS = 4

# Columns of `steps`, one row a child of a place.
S_TARGET = 0  # the blank's new place
S_HOP = 1  # first hop
S_HOP_END = 2
S_GO_ON = 3  # the next step starts from this child instead of from the parent
S_COLUMNS = 4

_0, _1 = U64(0), U64(1)


def magic(divisor: int) -> tuple[int, int]:
    """The multiplier m and shift k of a division by `divisor`, exact below 2**62."""
    shift = divisor.bit_length() - 1
    return -(-(1 << (63 + shift)) // divisor), shift


@kernel
def divide(values: Keys, multiplier: U64, shift: U64, out: Keys) -> None:
    """out[i] = values[i] // divisor (uint64[n] both) for the divisor of `magic`."""
    for i in range(U64(len(values))):
        out[i] = mulhi(values[i] << _1, multiplier) >> shift


@kernel
def _emit(source: Keys, start: U64, n: U64, cells: U64, target: U64, out: Keys, at: U64) -> None:
    """out[at+i] = key of half rank source[start+i] and place `target`."""
    for i in range(n):
        out[at + i] = source[start + i] * cells + target


@kernel
def _head(
    source: Keys,
    start: U64,
    n: U64,
    hop: Keys,
    table: NDArray[np.int32],
    factor: U64,
    target: U64,
    out: Keys,
    at: U64,
) -> None:
    """Turn a window that starts at digit 0; out = half rank * factor + target."""
    unit, unit_m, unit_k = hop[H_UNIT], hop[H_UNIT_M], hop[H_UNIT_K]
    base = hop[H_TABLE]
    for i in range(n):
        half = source[start + i]
        value = mulhi(half << _1, unit_m) >> unit_k
        half += U64(np.int64(table[base + value])) * unit
        out[at + i] = half * factor + target


@kernel
def _inner(
    source: Keys,
    start: U64,
    n: U64,
    hop: Keys,
    table: NDArray[np.int32],
    factor: U64,
    target: U64,
    out: Keys,
    at: U64,
) -> None:
    """Turn a window with digits before and after it."""
    unit, unit_m, unit_k = hop[H_UNIT], hop[H_UNIT_M], hop[H_UNIT_K]
    size, size_m, size_k = hop[H_SIZE], hop[H_SIZE_M], hop[H_SIZE_K]
    base = hop[H_TABLE]
    for i in range(n):
        half = source[start + i]
        value = mulhi(half << _1, unit_m) >> unit_k
        value -= (mulhi(value << _1, size_m) >> size_k) * size
        half += U64(np.int64(table[base + value])) * unit
        out[at + i] = half * factor + target


@kernel
def _tail(
    source: Keys,
    start: U64,
    n: U64,
    hop: Keys,
    table: NDArray[np.int32],
    groups: Keys,
    parities: NDArray[np.uint8],
    factor: U64,
    target: U64,
    out: Keys,
    at: U64,
) -> None:
    """Turn a window that reaches the dropped digit: the digits before decide between two tables."""
    size, size_m, size_k = hop[H_SIZE], hop[H_SIZE_M], hop[H_SIZE_K]
    base, odd = hop[H_TABLE], hop[H_ODD]
    first, end = hop[H_GROUPS], hop[H_GROUPS_END]
    for i in range(n):
        half = source[start + i]
        before = mulhi(half << _1, size_m) >> size_k
        value = half - before * size
        parity = odd
        for g in range(first, end):
            rest = mulhi(before << _1, groups[g, G_SIZE_M]) >> groups[g, G_SIZE_K]
            digit = before - rest * groups[g, G_SIZE]
            parity ^= U64(parities[groups[g, G_TABLE] + digit])
            before = rest
        half += U64(np.int64(table[base + parity * size + value]))
        out[at + i] = half * factor + target


@kernel
def _hop(
    source: Keys,
    start: U64,
    n: U64,
    hop: Keys,
    table: NDArray[np.int32],
    groups: Keys,
    parities: NDArray[np.uint8],
    factor: U64,
    target: U64,
    out: Keys,
    at: U64,
) -> None:
    kind = hop[H_KIND]
    if kind == HEAD:
        _head(source, start, n, hop, table, factor, target, out, at)
    elif kind == INNER:
        _inner(source, start, n, hop, table, factor, target, out, at)
    else:
        _tail(source, start, n, hop, table, groups, parities, factor, target, out, at)


@kernel
def expand(
    keys: Keys,
    out: Keys,
    scratch: Keys,
    ends: Keys,
    cells: U64,
    cells_m: U64,
    cells_k: U64,
    plan: Keys,
    steps: Keys,
    hops: Keys,
    table: NDArray[np.int32],
    groups: Keys,
    parities: NDArray[np.uint8],
) -> U64:
    """Write the successors of all keys to `out`, grouped by place and move; return how many.

    keys: uint64[n]. out: uint64[>= n * max_successors]. scratch: uint64[SCRATCH_ROWS, SLICE],
    ends: uint64[cells + 1], both overwritten. plan: uint64[cells + 1], the steps of place s are
    plan[s] .. plan[s+1]-1. The rest as above; table: int32, parities: uint8.
    """
    total = U64(len(keys))
    halves, work = scratch[0], scratch[1]
    at = _0
    for low in range(_0, total, U64(SLICE)):
        high = min(total, low + U64(SLICE))
        # Counting sort of the half ranks by place; stable, so each group stays in key order.
        ends[:] = _0
        for i in range(low, high):
            half = mulhi(keys[i] << _1, cells_m) >> cells_k
            ends[keys[i] - half * cells] += _1
        below = _0
        for s in range(cells):
            count = ends[s]
            ends[s] = below
            below += count
        for i in range(low, high):
            half = mulhi(keys[i] << _1, cells_m) >> cells_k
            s = keys[i] - half * cells
            halves[ends[s]] = half
            ends[s] += _1
        start = _0
        for s in range(cells):
            n = ends[s] - start
            if n != _0:
                going_on = False
                for k in range(plan[s], plan[s + _1]):
                    target, hop, hop_end = steps[k, S_TARGET], steps[k, S_HOP], steps[k, S_HOP_END]
                    go_on = steps[k, S_GO_ON] != _0
                    source, begin = (work, _0) if going_on else (halves, start)
                    keep = hop_end if go_on or hop == hop_end else hop_end - _1
                    while hop < keep:
                        _hop(source, begin, n, hops[hop], table, groups, parities, _1, _0, work, _0)
                        source, begin = work, _0
                        hop += _1
                    if hop < hop_end:
                        _hop(
                            source,
                            begin,
                            n,
                            hops[hop],
                            table,
                            groups,
                            parities,
                            cells,
                            target,
                            out,
                            at,
                        )
                    else:
                        _emit(source, begin, n, cells, target, out, at)
                    at += n
                    going_on = go_on and (going_on or steps[k, S_HOP] != hop_end)
            start = ends[s]
    return at
