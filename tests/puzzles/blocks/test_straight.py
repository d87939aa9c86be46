"""The metric `straight` as a whole: counts per depth, and where it lies between the other two."""

from __future__ import annotations

import random

import pytest

from puzzles.blocks.definition import build
from puzzles.blocks.drawing import read_drawing
from puzzles.blocks.model import Model
from puzzles.blocks.puzzle import METRICS, BlocksPuzzle
from puzzles.errors import PuzzleError
from tests import oracle
from tests.puzzles.blocks import naive
from tests.puzzles.blocks.samples import model_of

MOST_STATES = 4000


def random_model(seed: int) -> Model:
    """Dominoes, bars, squares, L's and single cells, wherever they fit on a small board."""
    luck = random.Random(seed)
    height, width = luck.choice([(3, 3), (3, 4), (4, 3), (2, 5), (4, 4)])
    rows = [["#" if luck.random() < 0.06 else "." for _ in range(width)] for _ in range(height)]
    shapes = ["a", "aa", "a/a", "aa/a.", "aa/.a", "a../aaa", "aa/aa", "aaa", "a.a/aaa"]
    for letter in "abcdef"[: luck.randint(2, 6)]:
        shape = luck.choice(shapes).split("/")
        y, x = luck.randrange(height), luck.randrange(width)
        cells = [
            (y + i, x + j) for i, row in enumerate(shape) for j, s in enumerate(row) if s == "a"
        ]
        if all(i < height and j < width and rows[i][j] == "." for i, j in cells):
            for i, j in cells:
                rows[i][j] = letter
    return build(read_drawing("\n".join("".join(row) for row in rows), f"random-{seed}"))


def depths(model: Model, metric: str) -> dict:
    """How far every placement is, by the naive twin."""
    before, _ = naive.search(model, metric)
    found: dict = {}
    for placement, parent in before.items():  # parents come first
        found[placement] = 0 if parent is None else found[parent] + 1
    return found


def counts(of: dict) -> list[int]:
    return [list(of.values()).count(depth) for depth in range(max(of.values()) + 1)]


@pytest.mark.parametrize("seeds", [range(first, first + 20) for first in range(0, 120, 20)])
def test_random_boards(seeds):
    searched = 0
    for seed in seeds:
        try:
            model = random_model(seed)
        except PuzzleError:
            continue  # an empty board
        steps = depths(model, "steps")
        if len(steps) > MOST_STATES:
            continue
        searched += 1
        straight, moves = depths(model, "straight"), depths(model, "moves")
        assert steps.keys() == straight.keys() == moves.keys()
        assert all(moves[p] <= straight[p] <= steps[p] for p in steps)
        puzzle = BlocksPuzzle(model, metric="straight", use_symmetry=False)
        assert oracle.counts(puzzle) == counts(straight)
    assert searched >= 10


@pytest.mark.parametrize("name", ["simplicity", "simplicity2", "klotski"])
def test_the_optimum_lies_between_the_others(name):
    model = model_of(name)
    found = {metric: depths(model, metric) for metric in METRICS}
    optima = {
        metric: min(depth for p, depth in of.items() if naive.is_goal(model, p))
        for metric, of in found.items()
    }
    assert optima["moves"] < optima["straight"] < optima["steps"]
    puzzle = BlocksPuzzle(model, metric="straight", use_symmetry=False)
    assert oracle.counts(puzzle) == counts(found["straight"])
    if name == "klotski":
        assert optima == {"steps": 116, "straight": 90, "moves": 81}
