"""Groups: what parents with the same big pieces share, on boards of up to 64 cells.

Sorted parents come in such groups. The big pieces are decoded once a group, continuing from the
group before where the automaton still agrees; ranks of symmetric images and of moved pieces come
row by row (`puzzles.blocks.rows`). `puzzles.blocks.arrays` tells what t, data, p and work are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from puzzles.blocks.arrays import BEST, DEPTH, LARGEST, PIECES, SHOWN, Places, Tables
from puzzles.blocks.bits import deposit, extract, inlined, popcount
from puzzles.jit import U64, ctz64

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Ranks = NDArray[np.uint16]

_0, _1, _6, _8 = U64(0), U64(1), U64(6), U64(8)
_63, _65, _255 = U64(63), U64(65), U64(255)
_LARGEST = U64(LARGEST)
_ALL = U64(0xFFFFFFFFFFFFFFFF)


@inlined
def image_of(t: Tables, data: Words, view: U64, cells: U64) -> U64:
    """What symmetry `view` makes of a set of cells."""
    found = _0
    at = t.image + (view << U64(11))
    while cells:
        found |= data[at + (cells & _255)]
        cells >>= _8
        at += U64(256)
    return found


@inlined
def decode(t: Tables, data: Words, p: Places, work: Words, number: U64) -> None:
    """Set the way through the automaton, kind, anchor and PIECES."""
    size = _1 + t.columns + t.columns
    depth = work[DEPTH]
    while depth:  # back to where the way of the group before is this one's too
        at = work[p.rank + depth - _1]
        if number - at < data[t.node + (work[p.step + depth - _1] >> _8) * size]:
            break
        depth -= _1
    step, rank, n = t.begin, _0, _0
    if depth:
        depth -= _1
        step = work[p.step + depth]
        rank, n = work[p.rank + depth], work[p.pieces + depth]
    while step & _255 < t.cells:
        work[p.step + depth] = step
        work[p.rank + depth] = rank
        work[p.pieces + depth] = n
        depth += _1
        rest = number - rank
        at = t.node + (step >> _8) * size + t.columns
        column = t.columns - _1
        while data[at] > rest:
            at -= _1
            column -= _1
        rank += data[at]
        if column:
            work[p.kind + n] = column - _1
            work[p.anchor + n] = step & _255
            n += _1
        step = data[at + t.columns]
    work[DEPTH] = depth
    work[PIECES] = n


@inlined
def small(t: Tables, data: Words, code: U64) -> U64:
    """The small number of a row code; see `puzzles.blocks.rows.small`."""
    number: U64 = (code * data[t.seed + (code & t.mask)]) >> t.shift
    return number


@inlined
def place_big(t: Tables, data: Words, p: Places, work: Words, number: U64) -> None:
    """Decode the big pieces of this number, and set the mask of anchors of each kind."""
    decode(t, data, p, work, number)
    for k in range(t.big):
        work[p.mask + k] = _0
    for i in range(work[PIECES]):
        work[p.mask + work[p.kind + i]] |= _1 << work[p.anchor + i]


@inlined
def doomed(t: Tables, data: Words, p: Places, work: Words, number: U64) -> U64:
    """The end of the numbers from this one on that are no goal for the same reason: up to some
    cell the same pieces are read, and a piece of a goal is missing, or one too many elsewhere.

    The big pieces of `number` are decoded, and they are no goal.
    """
    cell = t.cells
    for k in range(t.big):
        here, goal = work[p.mask + k], data[t.goal + k]
        if goal & ~here:
            cell = min(cell, ctz64(goal & ~here))
        astray = here & ~goal
        for _ in range(popcount(here) - min(popcount(here), popcount(goal))):  # may be elsewhere
            astray &= astray - _1
        if astray:
            cell = min(cell, ctz64(astray))
    end = number + _1
    for i in range(work[DEPTH]):
        step = work[p.step + i]
        if step & _255 > cell:
            end = work[p.rank + i] + data[t.node + (step >> _8) * (_1 + t.columns + t.columns)]
            break
    return end


@inlined
def enter(t: Tables, data: Words, p: Places, work: Words, views: U64, number: U64) -> None:
    """Make the big pieces of this number the group's, as the first `views` symmetries show them;
    set all but what depends on the parents."""
    place_big(t, data, p, work, number)
    n = work[PIECES]
    for v in range(views):
        line = v * p.line
        for y in range(t.height):
            work[p.code + line + y] = t.base
        free = t.open
        for i in range(n):
            k, a = work[p.kind + i], work[p.anchor + i]
            if v:
                a = data[t.view_anchor + ((v * t.big + k) << _6) + a]
                k = data[t.view_kind + v * t.big + k]
            work[p.code + line + data[t.row + a]] += data[t.weight + (k << _6) + a]
            free ^= data[t.cover + (k << _6) + a]
        work[p.free + v] = free
        state, rank = t.root, _0
        for y in range(t.height):
            entry = small(t, data, work[p.code + line + y])
            work[p.small + line + y] = entry
            work[p.state + line + y] = state
            work[p.acc + line + y] = rank
            at = t.slot + ((state + entry) << _1)
            rank += data[at]
            state = data[at + _1]
        work[p.acc + line + t.height] = rank
        work[p.number + v] = rank
    choose_view(work, views, p.number)


@inlined
def choose_view(work: Words, views: U64, numbers: U64) -> None:
    """Set BEST and SHOWN to the least of the numbers there and the set of views that have it."""
    best, shown = work[numbers], _1
    for v in range(_1, views):
        number = work[numbers + v]
        if number < best:
            best, shown = number, _1 << v
        elif number == best:
            shown |= _1 << v
    work[BEST] = best
    work[SHOWN] = shown


@inlined
def move_piece(
    t: Tables,
    data: Words,
    p: Places,
    work: Words,
    views: U64,
    kind: U64,
    home: U64,
    target: U64,
) -> None:
    """Set moved and left to the numbers and the free cells of the group when a big piece goes
    from `home` to `target`, and BEST and SHOWN to the best of them."""
    for v in range(views):
        line = v * p.line
        k, a, b = kind, home, target
        if v:
            at = t.view_anchor + ((v * t.big + kind) << _6)
            k = data[t.view_kind + v * t.big + kind]
            a, b = data[at + home], data[at + target]
        of_kind = k << _6
        a_row, b_row = data[t.row + a], data[t.row + b]
        add = data[t.weight + of_kind + b]
        a_code = work[p.code + line + a_row] - data[t.weight + of_kind + a]
        b_code = work[p.code + line + b_row] + add
        if a_row == b_row:
            a_code += add
            b_code = a_code
        first, last = min(a_row, b_row), max(a_row, b_row) + data[t.rows + k]
        state = work[p.state + line + first]
        rank = work[p.number + v] + work[p.acc + line + first] - work[p.acc + line + last]
        for y in range(first, last):
            entry = work[p.small + line + y]
            if y == a_row:
                entry = small(t, data, a_code)
            elif y == b_row:
                entry = small(t, data, b_code)
            at = t.slot + ((state + entry) << _1)
            rank += data[at]
            state = data[at + _1]
        work[p.moved + v] = rank
        work[p.left + v] = (
            work[p.free + v] ^ data[t.cover + of_kind + a] ^ data[t.cover + of_kind + b]
        )
    choose_view(work, views, p.moved)


@inlined
def take(
    t: Tables,
    data: Words,
    p: Places,
    work: Words,
    views: U64,
    keys: Words,
    first: U64,
    number: U64,
) -> U64:
    """Load the parents from keys[first] on that have the group's big pieces; how many."""
    low = number * t.ways
    most = min(U64(len(keys)) - first, _LARGEST)
    free = work[p.free]
    n = _0
    while n < most:
        way = keys[first + n] - low
        if way >= t.ways:
            break
        if t.flat:
            packed = data[t.flat_set + way]
            cells = deposit(packed, free)
            work[p.packed + n] = packed
        else:
            cells = _0
            for k in range(t.small):
                rank = way // data[t.unit_weight + k]
                way -= rank * data[t.unit_weight + k]
                rest = free & ~cells
                members = subset_of(t, data, rank, data[t.counts + k], popcount(rest))
                own = deposit(members, rest)
                work[p.unit + k * _LARGEST + n] = own
                cells |= own
                for v in range(_1, views):
                    to = v * t.small + data[t.unit_view + v * t.small + k]
                    work[p.unit + to * _LARGEST + n] = image_of(t, data, v, own)
        work[p.units + n] = cells
        n += _1
    if t.flat:
        for v in range(_1, views):
            for j in range(n):
                image = image_of(t, data, v, work[p.units + j])
                work[p.units + v * _LARGEST + j] = image
    return n


@inlined
def subset_rank(t: Tables, data: Words, members: U64) -> U64:
    """The rank of a subset: the sum of C(p, i), the i-th smallest member being p, i from 1.

    chunk[c, n, byte] is the part of the members 8 c + bits of byte, when n are below them.
    """
    rank, seen, at = _0, _0, t.chunk
    while members:
        byte = members & _255
        rank += data[at + (seen << _8) + byte]
        seen += popcount(byte)
        members >>= _8
        at += _65 << _8
    return rank


@inlined
def subset_of(t: Tables, data: Words, rank: U64, count: U64, size: U64) -> U64:
    """The subset of `count` of `size` members with this rank."""
    members, top = _0, size
    while count:
        top -= _1
        while data[t.choose + top * _65 + count] > rank:
            top -= _1
        rank -= data[t.choose + top * _65 + count]
        members |= _1 << top
        count -= _1
    return members


@inlined
def way_of(
    t: Tables, data: Words, ranks: Ranks, p: Places, work: Words, view: U64, j: U64, free: U64
) -> U64:
    """The number of parent j's one-cell pieces as `view` shows them among the cells `free`."""
    if t.flat:
        return U64(ranks[extract(work[p.units + view * _LARGEST + j], free)])
    way = _0
    for k in range(t.small):
        cells = work[p.unit + (view * t.small + k) * _LARGEST + j]
        way += subset_rank(t, data, extract(cells, free)) * data[t.unit_weight + k]
        free ^= cells
    return way


@inlined
def least_way(
    t: Tables, data: Words, ranks: Ranks, p: Places, work: Words, shown: U64, j: U64, free: U64
) -> U64:
    """The least way_of among the views in the set `shown`; free: where in `work` the free cells of
    each view are (`Places.free` or `Places.left`)."""
    least = _ALL
    while shown:
        v = ctz64(shown)
        shown &= shown - _1
        least = min(least, way_of(t, data, ranks, p, work, v, j, work[free + v]))
    return least


@inlined
def exchange(
    t: Tables, data: Words, p: Places, work: Words, views: U64, kind: U64, j: U64, cells: U64
) -> None:
    """Exchange a one-cell piece of parent j and an empty cell, in all views."""
    for v in range(views):
        image = cells
        if v:
            image = image_of(t, data, v, cells)
        at = p.units + v * _LARGEST + j
        if not t.flat:
            k = kind
            if v:
                k = data[t.unit_view + v * t.small + kind]
            at = p.unit + (v * t.small + k) * _LARGEST + j
        work[at] ^= image


@inlined
def sweep(t: Tables, p: Places, work: Words, base: U64, out: Words, n: U64) -> U64:
    """Write base plus every marked way to `out` from `n` on, and clear the marks; the end."""
    for w in range((t.ways + _63) >> _6):
        bits = work[p.marks + w]
        work[p.marks + w] = _0
        first = base + (w << _6)
        while bits:
            out[n] = first + ctz64(bits)
            n += _1
            bits &= bits - _1
    return n
