"""Where the tables and the scratch of the fast kernels lie.

All tables are in one array `data` and all scratch is in one array `work`, of words; `Tables` and
`Places` say where each begins. (An array taken out of a tuple is counted as a reference by numba,
atomically, which costs more than most functions of `puzzles.blocks.groups` do.) A set of cells is a
word, bit c for cell c.
"""

from __future__ import annotations

from typing import NamedTuple

from puzzles.jit import U64

LARGEST = 256
"""Parents of a group worked on at a time."""
MOST_MARKS = 1 << 16
"""Largest number of ways to place the one-cell pieces for which their children are marked."""
DEPTH, PIECES, BEST, SHOWN = U64(0), U64(1), U64(2), U64(3)
"""The first words of the scratch."""


class Tables(NamedTuple):
    """A puzzle in numbers, and where in `data` its tables begin; k is a kind of big pieces, d a
    direction (up, left, right, down), v a view: a symmetry, number 0 changing nothing.

    cells, height, width; big, small: kinds of big and of one-cell pieces; ways: numbers of the
    one-cell pieces; flat: whether `ranks` serves them; open: the cells without walls.

    node: the automaton, a record of 1 + 2 * columns words a node: the ways to finish, by column the
    offset, by column the node it leads to << 8 | the cell that reads; begin: such a word for the
    first node. seed, mask, shift, base, root, slot: see `puzzles.blocks.rows`; slot: offset, after.
    row[cell]; rows[k]: how many a piece has. weight[k, 64]: what an anchor adds to a row code.
    cover[k, 64]: the cells of a piece by its anchor. legal[k]: its anchors. turn: the cells of a
    shape as rotations, those of kind k at turn_at[k] .. turn_at[k + 1] - 1, the anchor first.
    can[d, k]: anchors that have a legal one at d. ahead[d, k, 64]: the cells that must be empty for
    that step; lead: the same as rotations of their set, at lead_at[d * big + k] .. . go[d]: what a
    step adds to a cell. inner[d]: open cells that have an open neighbour at d.
    view_kind[v, k], view_anchor[v, k, 64]: what a view makes of a piece; image[v, 8, 256]: of a set
    of cells, byte by byte; unit_view[v, small]: of a kind of one-cell pieces.
    counts[small], unit_weight[small], flat_set[ways]: the set of a rank, choose[65, 65], chunk[8,
    65, 256]: see `subset_rank`. goal[big + small]: where pieces must be.
    """

    cells: U64
    height: U64
    width: U64
    big: U64
    small: U64
    ways: U64
    flat: U64
    open: U64
    columns: U64
    node: U64
    begin: U64
    seed: U64
    mask: U64
    shift: U64
    base: U64
    root: U64
    slot: U64
    row: U64
    rows: U64
    weight: U64
    cover: U64
    legal: U64
    turn: U64
    turn_at: U64
    can: U64
    ahead: U64
    lead: U64
    lead_at: U64
    go: U64
    inner: U64
    view_kind: U64
    view_anchor: U64
    image: U64
    unit_view: U64
    counts: U64
    unit_weight: U64
    flat_set: U64
    choose: U64
    chunk: U64
    goal: U64


class Places(NamedTuple):
    """Where in `work` what is known of the group at hand begins, and how long all of it is.

    The first words: DEPTH of the way through the automaton, PIECES, BEST: the least number of the
    big pieces, SHOWN: the set of views that have it.
    step, rank, pieces: the way: a word as `Tables.begin`, rank and pieces so far. kind, anchor: the
    big pieces; mask[k]: their anchors by kind. code, small, state, acc: by view and row, `line`
    words a view. number[v]: the number of the big pieces; free[v]: cells left for the others.
    units[v, LARGEST]: cells of all one-cell pieces of a parent; packed[LARGEST]: the same within
    the free cells; unit[v, small, LARGEST]: by kind. moved[v], left[v]: number and free cells after
    a move. flip[64]: pairs of free cells. marks: one bit a way.
    """

    step: U64
    rank: U64
    pieces: U64
    kind: U64
    anchor: U64
    mask: U64
    line: U64
    code: U64
    small: U64
    state: U64
    acc: U64
    number: U64
    free: U64
    units: U64
    packed: U64
    unit: U64
    moved: U64
    left: U64
    flip: U64
    marks: U64
    words: U64


def places_for(tables: Tables, views: int) -> Places:
    """Where everything is in scratch for a puzzle; the scratch itself must be zeroed once."""
    line = int(tables.height) + 1
    sizes = {
        "step": 66,
        "rank": 66,
        "pieces": 66,
        "kind": 65,
        "anchor": 65,
        "mask": int(tables.big),
        "code": views * line,
        "small": views * line,
        "state": views * line,
        "acc": views * line,
        "number": views,
        "free": views,
        "units": views * LARGEST,
        "packed": LARGEST,
        "unit": 0 if tables.flat else views * int(tables.small) * LARGEST,
        "moved": views,
        "left": views,
        "flip": 64,
        "marks": min(int(tables.ways), MOST_MARKS) // 64 + 1,
    }
    places: dict[str, U64] = {}
    at = 4
    for name, size in sizes.items():
        places[name] = U64(at)
        at += size
    return Places(line=U64(line), words=U64(at), **places)
