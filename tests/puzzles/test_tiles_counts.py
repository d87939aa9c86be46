"""States per depth equal the published tables (tests/data/tiles_counts.json, COLUMNSxROWS)."""

from __future__ import annotations

import json
import re
from math import factorial
from pathlib import Path

import pytest

from puzzles.tiles import board as boards
from puzzles.tiles.family import FAMILY
from tests.puzzles import layers, naive_tiles

TABLES = json.loads((Path(__file__).parents[1] / "data" / "tiles_counts.json").read_text())
BLANKS = {
    "corner": lambda rows, columns: rows * columns - 1,
    "middle of long side": lambda rows, columns: columns // 2,
    "non-corner": lambda rows, columns: 1,
    "edge": lambda rows, columns: 1,
    "center": lambda rows, columns: rows // 2 * columns + columns // 2,
}


def parts_of(name):
    """rows, columns, metric and the blank's cell of a table's name."""
    found = re.match(r"(?:24-puzzle )?(\d+)x(\d+) (?:sliding, )?(\w+)-tile, blank ([^,]+)", name)
    assert found is not None
    columns, rows, metric, blank = int(found[1]), int(found[2]), found[3], found[4]
    return rows, columns, metric, BLANKS[blank](rows, columns)


def puzzle_of(rows, columns, metric, blank):
    """A puzzle that starts with the blank in that cell and the tiles in order."""
    layout = [*range(1, rows * columns)]
    layout.insert(blank, 0)
    goal = " ".join(map(str, layout))
    return FAMILY.from_text(f"{rows}x{columns}", metric=metric, goal=goal)


@pytest.mark.parametrize("name", [n for n in TABLES if not n.startswith("24-puzzle")])
class TestPublishedTables:
    def test_counts_per_depth(self, name):
        rows, columns, metric, blank = parts_of(name)
        published = TABLES[name]["counts"]
        for orientation in {(rows, columns, blank), (columns, rows, turned(rows, columns, blank))}:
            puzzle = puzzle_of(*orientation[:2], metric, orientation[2])
            found = layers.counts(puzzle, most_states=40_000)
            assert found == published[: len(found)]
            assert len(found) == len(published) or sum(found) > 10_000

    def test_the_table_sums_to_the_number_of_reachable_states(self, name):
        rows, columns, metric, _ = parts_of(name)
        table = TABLES[name]
        assert sum(table["counts"]) == table["sum"] == factorial(rows * columns) // 2
        assert table["sum"] == FAMILY.from_text(f"{rows}x{columns}", metric=metric).key_space


def turned(rows, columns, cell):
    """The cell after transposing the board."""
    return cell % columns * rows + cell // columns


@pytest.mark.parametrize("metric", ["single", "multi"])
@pytest.mark.parametrize("size", ["2x2", "2x3", "3x2", "1x6", "6x1", "1x1", "2x4"])
def test_counts_equal_a_search_over_tuples(size, metric):
    rows, columns = map(int, size.split("x"))
    for goal in ("last", "first"):
        start = boards.standard(rows, columns, goal)
        naive = [len(layer) for layer in naive_tiles.layers(start, rows, columns, metric)]
        assert layers.counts(FAMILY.from_text(size, metric=metric, goal=goal)) == naive


@pytest.mark.parametrize("metric", ["single", "multi"])
def test_every_key_of_the_8_puzzle_is_reached(metric):
    assert sum(layers.counts(FAMILY.from_text("3x3", metric=metric))) == 181_440
