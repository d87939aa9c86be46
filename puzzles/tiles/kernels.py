"""Successors of snake keys: one compiled kernel for all boards, everything it knows in arrays.

A key is half_rank * cells + place. Divisions by run-time constants are multiplications:

    x // d == mulhi(2x, m) >> k,   k = floor(log2 d),   m = ceil(2**(63+k) / d) <= 2**63.

Proof: m*d = 2**(63+k) + e with 0 <= e < d < 2**(k+1), and mulhi(2x, m) >> k is the integer part
of x*m / 2**(63+k) = x/d + x*e / (d * 2**(63+k)). The fraction of x/d is at most (d-1)/d, so the
result is exact while x*e < 2**(63+k), which holds for all x < 2**62. Keys are below 20!/2 < 2**61.

Where keys are short enough, the value of a window comes with one multiplication less (after Lemire,
Kaser & Kurz 2019, who take remainders so). With w = d * size, M = ceil(2**64 / w), M*w = 2**64 + e:

    x // w == mulhi(x, M),   x // d % size == mulhi(x*M mod 2**64, size)   while x*e < 2**64.

Proof: let x = q*w + r. Then x*M = q * 2**64 + (r * 2**64 + x*e) / w, and the last term is below
2**64 since r + x*e / 2**64 < r + 1 <= w. So it is the lower word, and size / 2**64 times it is
(r + x*e / 2**64) / d, whose integer part is r // d. Powers of two in d are shifted out of x first.

A window of digits is read off the key itself, not off its half rank: the place is the lowest
digit, so key // (G * cells) == half_rank // G, and a child is

    key + change * (G * cells) + new place - old place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from puzzles.jit import U64, kernel, mulhi

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Table = NDArray[np.int32]
    Parities = NDArray[np.uint8]

# Columns of `hops`, one row a hop (uint64).
H_UNIT = 0  # what one step of the window's value is worth in keys: G * cells
H_UNIT_M = 1
H_UNIT_K = 2
H_SIZE = 3  # the number of values of the window
H_SIZE_M = 4
H_SIZE_K = 5
H_TABLE = 6  # where its table starts
H_KIND = 7  # HEAD: digits from the first on; INNER; TAIL: reaches the digit that half ranks drop;
# SHORT_INNER, SHORT_TAIL: the same with two columns instead of the magic numbers before:
H_DROP = 1  # how many powers of two are in the unit
H_SHORT_M = 2  # M for the unit without them, times the size; a SHORT_TAIL has two groups
H_ODD = 8  # TAIL: parity to add to that of the digits before
H_GROUPS = 9  # TAIL: how many groups the digits before are cut into
H_GROUP = 10  # TAIL: G_COLUMNS columns a group, the last digits first
G_SIZE = 0
G_SIZE_M = 1
G_SIZE_K = 2
G_TABLE = 3  # where its parities start
G_COLUMNS = 4
MOST_GROUPS = 4
H_COLUMNS = H_GROUP + MOST_GROUPS * G_COLUMNS
HEAD, INNER, TAIL, SHORT_INNER, SHORT_TAIL = U64(0), U64(1), U64(2), U64(3), U64(4)

# Columns of `steps`, one row a child of a place.
S_SHIFT = 0  # new place - old place, modulo 2**64
S_HOP = 1  # first hop
S_HOP_END = 2
S_GO_ON = 3  # the next step starts from this child instead of from the parent
S_COLUMNS = 4

_0, _1, _2, _3, _4 = U64(0), U64(1), U64(2), U64(3), U64(4)


def magic(divisor: int) -> tuple[int, int]:
    """The multiplier m and shift k of a division by `divisor`, exact below 2**62."""
    shift = divisor.bit_length() - 1
    return -(-(1 << (63 + shift)) // divisor), shift


def short(unit: int, size: int, limit: int) -> tuple[int, int] | None:
    """The shift and multiplier that give x // unit % size for all x < `limit`, or None."""
    drop = (unit & -unit).bit_length() - 1
    window = (unit >> drop) * size
    multiplier = -(-(1 << 64) // window)
    excess = multiplier * window - (1 << 64)
    exact = multiplier < 1 << 64 and ((limit - 1) >> drop) * excess < 1 << 64
    return (drop, multiplier) if exact else None


@kernel
def divide(values: Keys, multiplier: U64, shift: U64, out: Keys) -> None:
    """out[i] = values[i] // divisor (uint64[n] both) for the divisor of `magic`."""
    for i in range(U64(len(values))):
        out[i] = mulhi(values[i] << _1, multiplier) >> shift


@kernel
def _shift(source: Keys, n: U64, shift: U64, out: Keys) -> None:
    for i in range(n):
        out[i] = source[i] + shift


@kernel
def _head(source: Keys, n: U64, hop: Keys, table: Table, shift: U64, out: Keys) -> None:
    """Turn a window that starts at digit 0."""
    unit, unit_m, unit_k = hop[H_UNIT], hop[H_UNIT_M], hop[H_UNIT_K]
    for i in range(n):
        key = source[i]
        value = mulhi(key << _1, unit_m) >> unit_k
        out[i] = key + U64(np.int64(table[value])) * unit + shift


@kernel
def _inner(source: Keys, n: U64, hop: Keys, table: Table, shift: U64, out: Keys) -> None:
    """Turn a window with digits before and after it."""
    unit, unit_m, unit_k = hop[H_UNIT], hop[H_UNIT_M], hop[H_UNIT_K]
    size, size_m, size_k = hop[H_SIZE], hop[H_SIZE_M], hop[H_SIZE_K]
    for i in range(n):
        key = source[i]
        value = mulhi(key << _1, unit_m) >> unit_k
        value -= (mulhi(value << _1, size_m) >> size_k) * size
        out[i] = key + U64(np.int64(table[value])) * unit + shift


@kernel
def _short_inner(source: Keys, n: U64, hop: Keys, table: Table, shift: U64, out: Keys) -> None:
    """Turn a window with digits before and after it; keys are short."""
    unit, size, drop, multiplier = hop[H_UNIT], hop[H_SIZE], hop[H_DROP], hop[H_SHORT_M]
    for i in range(n):
        key = source[i]
        value = mulhi((key >> drop) * multiplier, size)
        out[i] = key + U64(np.int64(table[value])) * unit + shift


@kernel
def _tail(
    source: Keys, n: U64, hop: Keys, table: Table, parities: Parities, shift: U64, out: Keys
) -> None:
    """Turn a window that reaches the dropped digit; entry 2 * value + parity of its table.

    The dropped digit makes the permutation even, so it follows from the parity of the digits
    before the window and of those inside; the former is looked up in at most four groups.
    """
    unit, unit_m, unit_k = hop[H_UNIT], hop[H_UNIT_M], hop[H_UNIT_K]
    size, size_m, size_k = hop[H_SIZE], hop[H_SIZE_M], hop[H_SIZE_K]
    odd, groups = hop[H_ODD], hop[H_GROUPS]
    a, a_m, a_k, a_at = hop[10], hop[11], hop[12], hop[13]
    b, b_m, b_k, b_at = hop[14], hop[15], hop[16], hop[17]
    c, c_m, c_k, c_at = hop[18], hop[19], hop[20], hop[21]
    last_at = hop[U64(H_GROUP + G_TABLE) + (groups - _1) * U64(G_COLUMNS)]
    for i in range(n):
        key = source[i]
        value = mulhi(key << _1, unit_m) >> unit_k
        before = mulhi(value << _1, size_m) >> size_k
        value -= before * size
        parity = odd
        if groups >= _2:
            rest = mulhi(before << _1, a_m) >> a_k
            parity ^= U64(parities[a_at + before - rest * a])
            before = rest
        if groups >= _3:
            rest = mulhi(before << _1, b_m) >> b_k
            parity ^= U64(parities[b_at + before - rest * b])
            before = rest
        if groups >= _4:
            rest = mulhi(before << _1, c_m) >> c_k
            parity ^= U64(parities[c_at + before - rest * c])
            before = rest
        parity ^= U64(parities[last_at + before])
        out[i] = key + U64(np.int64(table[(value << _1) + parity])) * unit + shift


@kernel
def _short_tail(
    source: Keys, n: U64, hop: Keys, table: Table, parities: Parities, shift: U64, out: Keys
) -> None:
    """Turn a window that reaches the dropped digit; keys are short, two groups of digits before."""
    unit, size, drop, multiplier = hop[H_UNIT], hop[H_SIZE], hop[H_DROP], hop[H_SHORT_M]
    odd = hop[H_ODD]
    a, a_m, a_k = hop[10], hop[11], hop[12]
    low, high = parities[hop[13] :], parities[hop[17] :]
    known = ~_0
    parity = _0
    for i in range(n):
        key = source[i]
        short_key = key >> drop
        before = mulhi(short_key, multiplier)
        value = mulhi(short_key * multiplier, size)
        if before != known:  # seldom, since keys that ascend share the digits before for long
            known = before
            rest = mulhi(before << _1, a_m) >> a_k
            parity = odd ^ U64(low[before - rest * a]) ^ U64(high[rest])
        out[i] = key + U64(np.int64(table[(value << _1) + parity])) * unit + shift


@kernel
def _hop(
    source: Keys, n: U64, hop: Keys, table: Table, parities: Parities, shift: U64, out: Keys
) -> None:
    own = table[hop[H_TABLE] :]
    if hop[H_KIND] == HEAD:
        _head(source, n, hop, own, shift, out)
    elif hop[H_KIND] == SHORT_INNER:
        _short_inner(source, n, hop, own, shift, out)
    elif hop[H_KIND] == INNER:
        _inner(source, n, hop, own, shift, out)
    elif hop[H_KIND] == SHORT_TAIL:
        _short_tail(source, n, hop, own, parities, shift, out)
    else:
        _tail(source, n, hop, own, parities, shift, out)


@kernel
def expand(
    keys: Keys,
    out: Keys,
    scratch: Keys,
    counts: Keys,
    cells: U64,
    cells_m: U64,
    cells_k: U64,
    plan: Keys,
    steps: Keys,
    hops: Keys,
    table: Table,
    parities: Parities,
) -> U64:
    """Write the successors of all keys to `out`, grouped by place and move; return how many.

    keys: uint64[n]. out: uint64[>= n * max_successors]. scratch: uint64[cells + 1, width], counts:
    uint64[cells], both overwritten; the keys are worked on in slices of `width`. plan:
    uint64[cells + 1], the steps of place s are rows plan[s] .. plan[s+1]-1 of `steps`.
    """
    total = U64(len(keys))
    width = U64(scratch.shape[1])
    work = scratch[cells]
    at = _0
    for low in range(_0, total, width):
        counts[:] = _0
        for i in range(low, min(total, low + width)):
            key = keys[i]
            place = key - (mulhi(key << _1, cells_m) >> cells_k) * cells
            n = counts[place]
            scratch[place, n] = key
            counts[place] = n + _1
        for place in range(cells):
            n = counts[place]
            if n == _0:
                continue
            source = scratch[place]
            for k in range(plan[place], plan[place + _1]):
                shift = steps[k, S_SHIFT]
                hop, hop_end = steps[k, S_HOP], steps[k, S_HOP_END]
                go_on = steps[k, S_GO_ON] != _0
                while hop + _1 < hop_end:
                    _hop(source, n, hops[hop], table, parities, _0, work)
                    source = work
                    hop += _1
                children = out[at : at + n]
                if hop < hop_end:
                    _hop(source, n, hops[hop], table, parities, shift, children)
                else:
                    _shift(source, n, shift, children)
                source = children if go_on else scratch[place]
                at += n
    return at
