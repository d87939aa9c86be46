"""The tables that forecasts use are the published ones, and are offered only where they hold."""

from __future__ import annotations

import json

import numpy as np
import pytest

from puzzles.contract import BasePuzzle, adapt
from puzzles.registry import resolve
from puzzles.tiles.counts import TABLES as CARRIED
from puzzles.tiles.counts import known_counts
from tests.puzzles.test_tiles_counts import TABLES

CORNER = {
    name: table
    for name, table in TABLES.items()
    if table["complete"] and name.endswith("blank corner")
}


@pytest.mark.parametrize("name", CORNER)
def test_the_published_tables_are_carried(name):
    size, metric, _ = (part.strip() for part in name.split(","))
    columns, rows = (int(number) for number in size.split()[0].split("x"))
    metric = metric.removesuffix("-tile")
    for a, b in ((rows, columns), (columns, rows)):
        found = resolve(f"tiles:{a}x{b}", metric=metric).known_counts()
        assert list(found or ()) == CORNER[name]["counts"]


def test_nothing_else_is_carried_and_every_table_says_where_it_is_from():
    carried = json.loads(CARRIED.read_text())
    assert len(carried) == len(CORNER)
    assert sorted(table["source"] for table in carried) == sorted(
        table["source"] for table in CORNER.values()
    )


@pytest.mark.parametrize(
    "start", ["1 2 3 4 5 6 7 8 0", "2 3 1 4 5 6 7 8 0", "0 1 2 4 5 3 7 8 6", "1 2 0 4 5 3 7 8 6"]
)
def test_any_layout_with_the_blank_in_a_corner(start):
    assert resolve("tiles:3x3", start=start).known_counts() == known_counts(3, 3, "single")


@pytest.mark.parametrize(
    ("board", "start"),
    [("tiles:3x3", "1 2 3 4 5 6 7 0 8"), ("tiles:3x3", "1 2 3 4 0 6 7 5 8"), ("tiles:2x5", None)],
)
def test_none_elsewhere(board, start):
    assert resolve(board, start=start).known_counts() is None


class Counted(BasePuzzle):
    name = "counted"
    key_space = 5
    max_successors = 1

    def starts(self):
        return np.zeros(1, np.uint64)

    def successors(self, keys, out):
        return 0

    def known_counts(self):
        return [1, 1, 1, 1, 1]


class Plain:
    key_space = 5
    max_successors = 1
    starts = Counted.starts
    successors = Counted.successors


def test_a_puzzle_of_ones_own_may_know_its_counts():
    from puzzles.adapter import AdaptedPuzzle

    assert adapt(Plain()).known_counts() is None
    assert AdaptedPuzzle(Counted(), "counted").known_counts() == [1, 1, 1, 1, 1]
    elsewhere = AdaptedPuzzle(Counted(), "counted").with_ends(start=3, goal=None)
    assert elsewhere.known_counts() is None
