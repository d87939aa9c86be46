"""Groups: what parents with the same big pieces share, on boards of up to 64 cells.

Sorted parents come in such groups. The big pieces are decoded once a group, continuing from the
group before where the automaton still agrees; ranks of symmetric images and of moved pieces come
row by row (`puzzles.blocks.rows`). A set of cells is a word, bit c for cell c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from puzzles.blocks.bits import deposit, extract, inlined, popcount
from puzzles.blocks.rows import small
from puzzles.jit import U64, ctz64

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

LARGEST = 256
"""Parents of a group worked on at a time."""
MOST_MARKS = 1 << 16
"""Largest number of ways to place the one-cell pieces for which their children are marked."""

_0, _1, _6, _8 = U64(0), U64(1), U64(6), U64(8)
_63, _255 = U64(63), U64(255)


class Tables(NamedTuple):
    """A puzzle in numbers and words.

    big: kinds of big pieces; ways: numbers of the one-cell pieces, small: kinds of them, flat:
    whether `flat_rank` serves them; views: symmetries, the first changing nothing.
    open: the cells without walls. place, offset, after: the automaton, with one more column in
    offset for the ways to finish. seeds, shift, root, row_offset, row_after, weight, base: see
    `puzzles.blocks.rows`. row: uint64[64], the row of a cell; rows: uint64[big], rows of a piece.
    cover: uint64[big, 64], the cells of a piece by its anchor; legal: uint64[big], its anchors.
    turns: the cells of a shape as rotations, those of kind k at turn_at[k] .. turn_at[k + 1] - 1.
    can: uint64[4, big], anchors that have a legal one up, left, right, down; ahead: uint64[4, big,
    64], the cells that must be empty for that step; leads: the same as rotations of their set,
    lead_at[d * big + k] .. ; go: uint64[4], what a step adds to an anchor. inner: uint64[4], cells
    that have a neighbour there. view_kind: uint64[views, big], view_anchor: uint64[views, big, 64].
    image: uint64[views, 8, 256], the images of sets of cells, byte by byte; unit_view:
    uint64[views, small], what a view makes of a kind of one-cell pieces.
    counts, unit_weight: uint64[small]. flat_rank: uint16[2**free], flat_set: uint16[ways], the
    inverse. choose: uint64[65, 65]. chunk: uint64[8, 65, 256], see `subset_rank`.
    goal: uint64[big + small], where pieces must be.
    """

    cells: U64
    height: U64
    width: U64
    big: U64
    small: U64
    ways: U64
    flat: U64
    views: U64
    open: U64
    place: NDArray[np.uint8]
    offset: Words
    after: NDArray[np.uint32]
    seeds: NDArray[np.uint32]
    shift: U64
    base: U64
    root: U64
    row_offset: Words
    row_after: NDArray[np.uint32]
    weight: Words
    row: Words
    rows: Words
    cover: Words
    legal: Words
    turn: Words
    turn_at: Words
    can: Words
    ahead: Words
    lead: Words
    lead_at: Words
    go: Words
    inner: Words
    view_kind: Words
    view_anchor: Words
    image: Words
    unit_view: Words
    counts: Words
    unit_weight: Words
    flat_rank: NDArray[np.uint16]
    flat_set: NDArray[np.uint16]
    choose: Words
    chunk: Words
    goal: Words


class Group(NamedTuple):
    """The group at hand, one a thread.

    now: uint64[4], depth of the way through the automaton, number of big pieces, the best number of
    the big pieces, the set of views that show it. node, rank, pieces: the way: node, rank and
    pieces so far. kind, anchor: the big pieces; mask: uint64[big + 1], anchors by kind. code,
    small, state, acc: uint64[views, height + 2], by row. number: uint64[views], the number of the
    big pieces in each view; free: uint64[views], cells left for the others. units: uint64[views,
    LARGEST], cells of all one-cell pieces by view and parent; packed: uint64[LARGEST], the same
    within the free cells; unit: uint64[views, small, LARGEST], by kind. moved, left: uint64[views],
    numbers and free cells after a move. flip: uint64[64], pairs of free cells. marks: one bit a
    way.
    """

    now: Words
    node: Words
    rank: Words
    pieces: Words
    kind: Words
    anchor: Words
    mask: Words
    code: Words
    small: Words
    state: Words
    acc: Words
    number: Words
    free: Words
    units: Words
    packed: Words
    unit: Words
    moved: Words
    left: Words
    flip: Words
    marks: Words


DEPTH, PIECES, BEST, SHOWN = U64(0), U64(1), U64(2), U64(3)


def group_for(tables: Tables) -> Group:
    """New scratch, one set a thread."""
    views, small_kinds = int(tables.views), max(1, int(tables.small))
    by_row = (views, int(tables.height) + 2)

    def words(*shape: int) -> Words:
        return np.zeros(shape, np.uint64)

    return Group(
        now=words(4),
        node=words(66),
        rank=words(66),
        pieces=words(66),
        kind=words(65),
        anchor=words(65),
        mask=words(int(tables.big) + 1),
        code=words(*by_row),
        small=words(*by_row),
        state=words(*by_row),
        acc=words(*by_row),
        number=words(views),
        free=words(views),
        units=words(views, LARGEST),
        packed=words(LARGEST),
        unit=words(views, small_kinds, LARGEST),
        moved=words(views),
        left=words(views),
        flip=words(64),
        marks=words(min(int(tables.ways), MOST_MARKS) // 64 + 1),
    )


@inlined
def image_of(t: Tables, view: U64, cells: U64) -> U64:
    """What symmetry `view` makes of a set of cells."""
    found = _0
    i = _0
    while cells:
        found |= t.image[view, i, cells & _255]
        cells >>= _8
        i += _1
    return found


@inlined
def decode(t: Tables, g: Group, places: U64) -> None:
    """Set the way through the automaton, kind, anchor and the number of pieces."""
    columns = U64(t.after.shape[1])
    depth = g.now[DEPTH]
    while depth:  # back to where the way of the group before is this one's too
        at = g.rank[depth - _1]
        if at <= places and places - at < t.offset[g.node[depth - _1], columns]:
            break
        depth -= _1
    node, rank, n = _0, _0, _0
    if depth:
        depth -= _1
        node, rank, n = g.node[depth], g.rank[depth], g.pieces[depth]
    while U64(t.place[node]) < t.cells:
        g.node[depth] = node
        g.rank[depth] = rank
        g.pieces[depth] = n
        depth += _1
        rest = places - rank
        column = columns - _1
        while t.offset[node, column] > rest:
            column -= _1
        rank += t.offset[node, column]
        if column:
            g.kind[n] = column - _1
            g.anchor[n] = U64(t.place[node])
            n += _1
        node = U64(t.after[node, column])
    g.now[DEPTH] = depth
    g.now[PIECES] = n


@inlined
def enter(t: Tables, g: Group, views: U64, places: U64) -> None:
    """Make the big pieces of number `places` the group's, as the first `views` symmetries show
    them; set all of the group but what depends on the parents."""
    decode(t, g, places)
    n = g.now[PIECES]
    for k in range(t.big):
        g.mask[k] = _0
    for i in range(n):
        g.mask[g.kind[i]] |= _1 << g.anchor[i]
    for v in range(views):
        for y in range(t.height):
            g.code[v, y] = t.base
        free = t.open
        for i in range(n):
            k = t.view_kind[v, g.kind[i]]
            a = t.view_anchor[v, g.kind[i], g.anchor[i]]
            g.code[v, t.row[a]] += t.weight[k, a]
            free ^= t.cover[k, a]
        g.free[v] = free
        state, rank = t.root, _0
        for y in range(t.height):
            number = small(g.code[v, y], t.seeds, t.shift)
            g.small[v, y] = number
            g.state[v, y] = state
            g.acc[v, y] = rank
            rank += t.row_offset[state + number]
            state = U64(t.row_after[state + number])
        g.acc[v, t.height] = rank
        g.number[v] = rank
    choose_view(g, views, g.number)


@inlined
def choose_view(g: Group, views: U64, number: Words) -> None:
    """Set BEST and SHOWN to the least of number[:views] and the set of views that have it."""
    best, shown = number[_0], _1
    for i in range(_1, views):
        v = U64(i)
        if number[v] < best:
            best, shown = number[v], _1 << v
        elif number[v] == best:
            shown |= _1 << v
    g.now[BEST] = best
    g.now[SHOWN] = shown


@inlined
def move_piece(t: Tables, g: Group, views: U64, kind: U64, home: U64, target: U64) -> None:
    """Set moved and left to the numbers and the free cells of the group when a big piece goes
    from `home` to `target`, and BEST and SHOWN to the best of them."""
    for i in range(views):
        v = U64(i)
        k = t.view_kind[v, kind]
        a, b = t.view_anchor[v, kind, home], t.view_anchor[v, kind, target]
        from_row, to_row = t.row[a], t.row[b]
        code_a = g.code[v, from_row] - t.weight[k, a]
        if from_row == to_row:
            code_a += t.weight[k, b]
        first, last = min(from_row, to_row), max(from_row, to_row) + t.rows[k]
        state, rank = g.state[v, first], g.acc[v, first]
        for j in range(first, last):
            y = U64(j)
            number = g.small[v, y]
            if y == from_row:
                number = small(code_a, t.seeds, t.shift)
            elif y == to_row:
                number = small(g.code[v, to_row] + t.weight[k, b], t.seeds, t.shift)
            rank += t.row_offset[state + number]
            state = U64(t.row_after[state + number])
        g.moved[v] = g.number[v] + rank - g.acc[v, last]
        g.left[v] = g.free[v] ^ t.cover[k, a] ^ t.cover[k, b]
    choose_view(g, views, g.moved)


@inlined
def take(t: Tables, g: Group, views: U64, keys: Words, first: U64, places: U64) -> U64:
    """Load the parents from keys[first] on that have the group's big pieces; how many."""
    low = places * t.ways
    n = _0
    total = U64(len(keys))
    while first + n < total and n < U64(LARGEST):
        way = keys[first + n] - low
        if way >= t.ways:
            break
        load_units(t, g, views, n, way)
        n += _1
    return n


@inlined
def subset_rank(t: Tables, members: U64) -> U64:
    """The rank of a subset: the sum of C(p, i), the i-th smallest member being p, i from 1.

    chunk[c, n, byte] is the part of the members 8 c + bits of byte, when n are below them.
    """
    rank, seen, c = _0, _0, _0
    while members:
        byte = members & _255
        rank += t.chunk[c, seen, byte]
        seen += popcount(byte)
        members >>= _8
        c += _1
    return rank


@inlined
def subset_of(t: Tables, rank: U64, count: U64, size: U64) -> U64:
    """The subset of `count` of `size` members with this rank."""
    members, top = _0, size
    for i in range(count):
        k = count - U64(i)
        top -= _1
        while t.choose[top, k] > rank:
            top -= _1
        rank -= t.choose[top, k]
        members |= _1 << top
    return members


@inlined
def load_units(t: Tables, g: Group, views: U64, j: U64, way: U64) -> None:
    """Set units, unit and packed of parent j of the group."""
    free = g.free[_0]
    if t.flat:
        packed = U64(t.flat_set[way])
        g.packed[j] = packed
        cells = deposit(packed, free)
        g.units[_0, j] = cells
        for v in range(_1, views):
            g.units[v, j] = image_of(t, v, cells)
        return
    every = _0
    for i in range(t.small):
        k = U64(i)
        rank = way // t.unit_weight[k]
        way -= rank * t.unit_weight[k]
        rest = free & ~every
        cells = deposit(subset_of(t, rank, t.counts[k], popcount(rest)), rest)
        g.unit[_0, k, j] = cells
        every |= cells
    g.units[_0, j] = every
    for v in range(_1, views):
        for i in range(t.small):
            g.unit[v, t.unit_view[v, i], j] = image_of(t, v, g.unit[_0, i, j])


@inlined
def way_of(t: Tables, g: Group, view: U64, j: U64, free: U64) -> U64:
    """The number of parent j's one-cell pieces as `view` shows them among the cells `free`."""
    if t.flat:
        return U64(t.flat_rank[extract(g.units[view, j], free)])
    way = _0
    for i in range(t.small):
        cells = g.unit[view, i, j]
        way += subset_rank(t, extract(cells, free)) * t.unit_weight[i]
        free ^= cells
    return way


@inlined
def least_way(t: Tables, g: Group, shown: U64, j: U64, free: Words) -> U64:
    """The least way_of among the views in the set `shown`, each with its own free cells."""
    least = ~_0
    while shown:
        v = ctz64(shown)
        shown &= shown - _1
        least = min(least, way_of(t, g, v, j, free[v]))
    return least


@inlined
def exchange(t: Tables, g: Group, views: U64, kind: U64, j: U64, cells: U64) -> None:
    """Exchange a one-cell piece of parent j and an empty cell, in all views."""
    for v in range(views):
        image = cells
        if v:
            image = image_of(t, v, cells)
        if t.flat:
            g.units[v, j] ^= image
        else:
            g.unit[v, t.unit_view[v, kind], j] ^= image


@inlined
def sweep(t: Tables, g: Group, base: U64, out: Words, n: U64) -> U64:
    """Write base plus every marked way to `out` from `n` on, and clear the marks; the end."""
    marks = g.marks
    for w in range((t.ways + _63) >> _6):
        bits = marks[w]
        marks[w] = _0
        first = base + (w << _6)
        while bits:
            out[n] = first + ctz64(bits)
            n += _1
            bits &= bits - _1
    return n
