"""The rule of pending moves, in plain Python: a search that keeps one layer and nothing before it.

A record of the layer at one depth is, for a fibre key: the mask of its places in the layer, the
mask of free neighbours and the mask of edges that no move has yet come from. This is the truth
that a fast search over fibres is measured against; SNAKE.md derives it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from puzzles.tiles.family import FAMILY
from tests import helpers_numba
from tests.puzzles import naive_tiles
from tests.puzzles.test_tiles_counts import TABLES

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow encountered")]


class Record(NamedTuple):
    """What is kept of one fibre key at one depth."""

    places: int  # of the layer, on the layer's side
    free: int  # places on the other side, reached by free moves and not yet visited
    edges: int  # that lead to what is not yet visited


def layers(fibre, state):
    """The layers of a breadth-first search from a state key, as dicts of fibre key to Record."""
    key, place = divmod(state, fibre.places)
    side, start = int(fibre.side_of[place]), 1 << int(fibre.bit_of[place])
    layer = {key: Record(start, int(fibre.free[side][start]), int(fibre.incident[side][start]))}
    while layer:
        yield side, layer
        layer = next_layer(fibre, side, layer)
        side = 1 - side


def next_layer(fibre, side, layer):
    other = 1 - side
    nothing = Record(0, 0, 0)
    following = {}
    arrived = arrivals(fibre, side, layer)
    for key in layer.keys() | arrived.keys():
        record = layer.get(key, nothing)
        places, edges = arrived.get(key, (0, 0))
        found = record.free | places
        if found:
            following[key] = Record(
                found,
                int(fibre.free[other][found]) & ~record.places,
                int(fibre.incident[other][found]) & ~edges,
            )
    return following


def arrivals(fibre, side, layer):
    """For each fibre key reached through an edge: the places reached, and the edges."""
    keys = np.array(sorted(layer), dtype=np.uint64)
    pending = np.array([layer[int(key)].edges for key in keys], dtype=np.uint32)
    out = np.empty(len(keys) * fibre.edges, dtype=np.uint64)
    counts = np.empty(fibre.edges, dtype=np.uint64)
    fibre.expand(keys, pending, len(keys), side, out, counts)
    arrived: dict[int, tuple[int, int]] = {}
    at = 0
    for edge, count in enumerate(counts.tolist()):
        end = 1 << int(fibre.edge_bit[1 - side, edge])
        for key in out[at : at + count].tolist():
            places, edges = arrived.get(key, (0, 0))
            assert not edges >> edge & 1, "the same move twice"
            arrived[key] = (places | end, edges | 1 << edge)
        at += count
    return arrived


def states_of(fibre, side, layer):
    return {
        key * fibre.places + int(place)
        for key, record in layer.items()
        for bit, place in enumerate(fibre.place_of[side])
        if record.places >> bit & 1
    }


def start_at(size, where):
    """A layout with the blank at a cell of the user's board and the other tiles in order."""
    rows, columns = map(int, size.split("x"))
    tiles = list(range(1, rows * columns))
    tiles.insert(where, 0)
    return " ".join(map(str, tiles))


STARTS = [
    *[("2x2", cell) for cell in range(4)],
    *[("2x3", cell) for cell in (0, 1, 5)],
    *[("3x2", cell) for cell in (0, 2, 5)],
    *[("2x4", cell) for cell in (0, 2, 4)],
    ("4x2", 3),
    ("3x3", 0),  # a corner
    ("3x3", 1),  # an edge
    ("3x3", 4),  # the centre
    ("1x5", 2),
    ("1x1", 0),
]


@pytest.mark.parametrize(("size", "cell"), STARTS)
def test_the_rule_finds_the_layers_of_a_plain_search(size, cell):
    rows, columns = map(int, size.split("x"))
    start = start_at(size, cell)
    puzzle = FAMILY.from_text(size, start=start, goal=start)
    fibre = puzzle.fibre
    assert fibre is not None
    depths = 200 if helpers_numba.JIT else 8
    total = 0
    naive = naive_tiles.layers(puzzle.layout_of(int(puzzle.starts()[0])), rows, columns, "single")
    by_rule = layers(fibre, int(puzzle.starts()[0]))
    for depth, (expected, (side, layer)) in enumerate(zip(naive, by_rule, strict=False)):
        found = states_of(fibre, side, layer)
        assert found == {puzzle.key_of(layout) for layout in expected}, depth
        total += len(found)
        if depth == depths:
            return
    assert next(naive, None) is None
    assert next(by_rule, None) is None
    assert total == puzzle.key_space


def test_counts_of_the_15_puzzle():
    puzzle = FAMILY.from_text("4x4")
    fibre = puzzle.fibre
    assert fibre is not None
    known = TABLES["4x4 sliding, single-tile, blank corner"]["counts"]
    depths = 16 if helpers_numba.JIT else 8
    found = [
        sum(record.places.bit_count() for record in layer.values())
        for _, (_, layer) in zip(
            range(depths), layers(fibre, int(puzzle.starts()[0])), strict=False
        )
    ]
    assert found == known[:depths]


def test_no_move_pends_along_both_ways():
    """Of the two ways through an edge between two layers, only the one outwards is ever taken."""
    puzzle = FAMILY.from_text("3x3")
    fibre = puzzle.fibre
    assert fibre is not None
    taken = 0
    for _, layer in layers(fibre, int(puzzle.starts()[0])):
        taken += sum(record.edges.bit_count() for record in layer.values())
        if not helpers_numba.JIT and taken > 100:
            return
    assert taken == fibre.key_space * fibre.edges  # every edge over every key, once
