"""Successors by moves of one piece any distance, in one direction or along any path."""

from __future__ import annotations

import numpy as np
import pytest

from puzzles.blocks import bounds
from puzzles.blocks.puzzle import MOST
from tests.puzzles.blocks import naive
from tests.puzzles.blocks.samples import DRAWINGS, LIBRARY, model_of, puzzle_of, walk
from tests.puzzles.blocks.test_kernels import HOW, STATES, compare

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("use_symmetry", [False, True])
@pytest.mark.parametrize("name", [*DRAWINGS, *LIBRARY])
@pytest.mark.parametrize("metric", ["straight", "moves"])
def test_moves_equal_the_twin(metric, name, use_symmetry, how):
    compare(puzzle_of(name, metric, use_symmetry, how), metric, STATES // 2)


@pytest.mark.parametrize("how", HOW)
def test_one_piece_reaches_the_whole_board(how):
    puzzle = puzzle_of("one piece", "moves", how=how)
    out = np.empty(puzzle.max_successors, np.uint64)
    assert puzzle.successors(puzzle.starts(), out) == 8  # 3 x 3 places of the box but its own


@pytest.mark.parametrize("how", HOW)
def test_one_piece_goes_straight_along_its_row_and_column(how):
    puzzle = puzzle_of("one piece", "straight", how=how)
    out = np.empty(puzzle.max_successors, np.uint64)
    assert puzzle.successors(puzzle.starts(), out) == 2 + 2


@pytest.mark.parametrize("name", [*DRAWINGS, *LIBRARY, "hakoiri-hard", "sliding-digits"])
def test_no_state_has_more_successors_than_the_bound(name):
    model = model_of(name)
    for placement in walk(model, 20, seed=3):
        steps = len(set(naive.neighbours(model, placement, "steps")))
        straight = len(set(naive.neighbours(model, placement, "straight")))
        moves = len(set(naive.neighbours(model, placement, "moves")))
        assert straight <= bounds.most_straight(model)
        assert steps <= bounds.most_steps(model)
        assert moves <= bounds.most_moves(model)


def test_the_bounds_are_small():
    hard = model_of("hakoiri-hard")
    assert (bounds.most_steps(hard), bounds.most_moves(hard)) == (16, 56)
    assert bounds.most_straight(hard) == 16
    full = model_of("full")
    assert [most(full) for most in MOST.values()] == [1, 1, 1]
