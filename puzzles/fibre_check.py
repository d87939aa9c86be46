"""Is a puzzle's fibre what `puzzles.fibre` says, and do its tables give the puzzle's own moves?"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from puzzles.errors import PuzzleError
from puzzles.exploration import Exploration, named
from puzzles.fibre import MOST_BITS, MOST_EDGES, MOST_KEYS, MOST_PLACES, Fibre

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from puzzles.contract import Keys, Puzzle

U64 = np.uint64
_GUARD = 64  # words behind the room given to expand(), to see whether it writes past it
_MARK = U64(0xA5A5A5A5A5A5A5A5)


def compare_fibre(puzzle: Puzzle, fibre: Fibre, seen: Exploration) -> str:
    """What was looked at. Raises PuzzleError naming the table, or the state and move, at fault."""
    _sizes(puzzle, fibre)
    _places(fibre)
    _tables(fibre)
    _spans(fibre)
    parents, children = _moves(puzzle, fibre, seen)
    found = _distinct_pairs(parents, children)
    expected = _distinct_pairs(seen.parents, seen.children)
    if found != expected:
        parent, child = min(found ^ expected)
        has, lacks = "fibre", "successors()"
        if (parent, child) in expected:
            has, lacks = lacks, has
        raise PuzzleError(
            f"the move from {named(puzzle, seen.keys[parent])} to {named(puzzle, child)} is one by"
            f" its {has} and none by its {lacks}"
        )
    return (
        f"{len(expected):,} moves lead over {fibre.places} places and {fibre.edges} edges as"
        " successors() does"
    )


def _require(holds: Any, what: str) -> None:
    if not bool(holds):
        raise PuzzleError(f"its fibre is wrong: {what}")


def _sizes(puzzle: Puzzle, fibre: Fibre) -> None:
    widths = [len(side) for side in fibre.place_of]
    _require(len(widths) == 2, "place_of has a row for each of two sides")
    _require(max(widths) <= MOST_PLACES, f"a side has at most {MOST_PLACES} places, not {widths}")
    _require(0 <= fibre.edges <= MOST_EDGES, f"it has {fibre.edges} edges, at most {MOST_EDGES}")
    bits = sum(widths) + fibre.edges
    _require(bits <= MOST_BITS, f"places and edges take {bits} bits, at most {MOST_BITS} are there")
    _require(
        1 <= fibre.key_space <= MOST_KEYS, f"key_space is {fibre.key_space}, at most {MOST_KEYS}"
    )
    _require(
        fibre.key_space * fibre.places == puzzle.key_space,
        f"{fibre.key_space} keys times {fibre.places} places are not the {puzzle.key_space} states",
    )


def _is(array: Any, dtype: Any, shape: tuple[int, ...], name: str) -> None:
    _require(
        isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape,
        f"{name} should be {np.dtype(dtype)}{list(shape)}",
    )


def _places(fibre: Fibre) -> None:
    """Sides and bits number the places."""
    _is(fibre.side_of, np.uint8, (fibre.places,), "side_of")
    _is(fibre.bit_of, np.uint8, (fibre.places,), "bit_of")
    for side, places in enumerate(fibre.place_of):
        _is(places, np.uint8, (len(places),), f"place_of[{side}]")
        bits = np.flatnonzero(fibre.side_of == side)
        _require(
            np.array_equal(np.sort(places), bits)
            and np.array_equal(fibre.bit_of[places], np.arange(len(places))),
            f"place_of[{side}] is not the inverse of side_of and bit_of",
        )
    _require(sum(map(len, fibre.place_of)) == fibre.places, "some place is on no side")


def _tables(fibre: Fibre) -> None:
    """The tables of masks are unions over the places of a mask, and agree with the edges."""
    widths = [len(places) for places in fibre.place_of]
    _is(fibre.edge_bit, np.uint8, (2, fibre.edges), "edge_bit")
    for side, width in enumerate(widths):
        _require((fibre.edge_bit[side] < width).all(), f"edge_bit[{side}] names no place")
        for name, tables, most in (
            ("free", fibre.free, widths[1 - side]),
            ("incident", fibre.incident, fibre.edges),
        ):
            table = tables[side]
            _is(table, np.uint16, (1 << width,), f"{name}[{side}]")
            union = np.zeros(1, np.uint16)
            for bit in range(width):
                union = np.concatenate([union, union | table[1 << bit]])
            _require(
                np.array_equal(table, union) and int(union[-1]) < 1 << most,
                f"{name}[{side}] is not the union of what single places have",
            )
        for bit in range(width):
            edges = sum(1 << int(e) for e in np.flatnonzero(fibre.edge_bit[side] == bit))
            _require(
                int(fibre.incident[side][1 << bit]) == edges,
                f"incident[{side}] of bit {bit} is not the edges that end there",
            )
    for a in range(widths[0]):
        for b in range(widths[1]):
            there, back = int(fibre.free[0][1 << a]) >> b & 1, int(fibre.free[1][1 << b]) >> a & 1
            _require(there == back, f"a free move joins bits {a} and {b} one way only")


def _spans(fibre: Fibre) -> None:
    _is(fibre.edge_span, np.uint64, (fibre.edges,), "edge_span")
    _is(fibre.spans, np.uint64, (len(fibre.spans),), "spans")
    spans = fibre.spans.tolist()
    _require(len(spans) and spans[-1] == 1, "the last of spans should be 1")
    _require(
        all(a > b and a % b == 0 for a, b in pairwise(spans)),
        "spans should descend, each a multiple of the next",
    )
    _require(set(fibre.edge_span.tolist()) <= set(spans), "an edge_span is not among spans")


def _moves(
    puzzle: Puzzle, fibre: Fibre, seen: Exploration
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """(positions of the parents, children) of all moves of the expanded states by the fibre."""
    keys, places = np.divmod(seen.keys, U64(fibre.places))
    parents: list[NDArray[np.int64]] = []
    children: list[Keys] = []
    for side in (0, 1):
        here = np.flatnonzero(fibre.side_of[places] == side)
        masks = np.uint32(1) << fibre.bit_of[places[here]].astype(np.uint32)
        free = fibre.free[side][masks]
        for bit, place in enumerate(fibre.place_of[1 - side].tolist()):
            moved = here[free >> np.uint16(bit) & np.uint16(1) != 0]
            parents.append(moved)
            children.append(keys[moved] * U64(fibre.places) + U64(place))
        if fibre.edges and here.size:
            pending = fibre.incident[side][masks].astype(np.uint32)
            through = _expand(fibre, keys[here], pending, side)
            for edge, (which, reached) in enumerate(through):
                span = fibre.edge_span[edge]
                astray = reached // span != keys[here][which] // span
                if astray.any():
                    state = seen.keys[here[which[np.argmax(astray)]]]
                    raise PuzzleError(
                        f"edge {edge} leads from {named(puzzle, state)} out of its range of {span}"
                        " fibre keys"
                    )
                place = fibre.place_of[1 - side][fibre.edge_bit[1 - side, edge]]
                parents.append(here[which])
                children.append(reached * U64(fibre.places) + U64(place))
    return np.concatenate(parents), np.concatenate(children)


def _expand(
    fibre: Fibre, keys: Keys, pending: NDArray[np.uint32], side: int
) -> list[tuple[NDArray[np.int64], Keys]]:
    """For each edge (positions of the keys it is pending for, where they lead)."""
    n = len(keys)
    room = n * fibre.edges
    buffer = np.full(room + _GUARD, _MARK, dtype=np.uint64)
    counts = np.zeros(fibre.edges, np.uint64)
    given = keys.copy(), pending.copy()
    try:
        got = int(fibre.expand(*given, n, side, buffer[:room], counts))
    except PuzzleError:
        raise
    except Exception as error:
        raise PuzzleError(f"its fibre's expand() fails: {type(error).__name__}: {error}") from error
    which = [np.flatnonzero(pending >> np.uint32(e) & np.uint32(1)) for e in range(fibre.edges)]
    wanted = [len(chosen) for chosen in which]
    _require(
        counts.tolist() == wanted and got == sum(wanted),
        f"expand() of {n} keys writes {counts.tolist()} keys an edge, and {wanted} are pending",
    )
    _require((buffer[room:] == _MARK).all(), "expand() writes past the room it is given")
    _require(
        np.array_equal(given[0], keys) and np.array_equal(given[1], pending),
        "expand() changes the keys or masks it is given",
    )
    _require((buffer[:got] < fibre.key_space).all(), "expand() leads out of the key space")
    ends = np.cumsum([0, *wanted])
    return [(which[e], buffer[ends[e] : ends[e + 1]].copy()) for e in range(fibre.edges)]


def _distinct_pairs(parents: NDArray[np.int64], children: Keys) -> set[tuple[int, int]]:
    return set(zip(parents.tolist(), children.tolist(), strict=True))
