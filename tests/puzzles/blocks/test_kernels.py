"""Successors by steps, goals, canonical keys and orbits: the kernels equal the naive twin."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest

from puzzles.blocks import (
    arrays,
    group_moves,
    group_states,
    group_steps,
    groups,
    kernels,
    moves,
    rows,
)
from puzzles.blocks.grouped import Grouped
from puzzles.blocks.plain import Plain
from puzzles.blocks.puzzle import METRICS, BlocksPuzzle
from puzzles.errors import PuzzleError
from tests import helpers_numba
from tests.puzzles.blocks import naive
from tests.puzzles.blocks.samples import DRAWINGS, LIBRARY, puzzle_of, walk, words

pytestmark = pytest.mark.kernels

HOW = ["chosen", "plain", "product"]
STATES = 30 if helpers_numba.JIT else 6


def compare(puzzle, metric, states=STATES):
    """The successors of states on a random walk, one by one and all at once."""
    model = puzzle.model
    union = set()
    placements = walk(model, states)
    for placement in placements:
        twins = {puzzle.key_of(after) for after in naive.neighbours(model, placement, metric)}
        out = np.empty(puzzle.max_successors, np.uint64)
        count = puzzle.successors(words([puzzle.key_of(placement)]), out)
        assert set(out[:count].tolist()) == twins, placement
        if not puzzle.symmetric:
            assert count == len(twins)
        union |= twins
    parents = words({puzzle.key_of(placement) for placement in placements})
    for asked in (parents, parents[::-1].copy(), np.repeat(parents, 3)):
        out = np.empty(len(asked) * puzzle.max_successors, np.uint64)
        assert set(out[: puzzle.successors(asked, out)].tolist()) == union


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("use_symmetry", [False, True])
@pytest.mark.parametrize("name", [*DRAWINGS, *LIBRARY])
class TestStepsEqualTheTwin:
    def test_successors(self, name, use_symmetry, how):
        compare(puzzle_of(name, "steps", use_symmetry, how), "steps")

    def test_goals_canonical_keys_and_orbits(self, name, use_symmetry, how):
        puzzle = puzzle_of(name, "steps", use_symmetry, how)
        placements = walk(puzzle.model, STATES, seed=2)
        plain = np.array([puzzle.plain_key_of(p) for p in placements], np.uint64)
        images = [
            {puzzle.plain_key_of(image) for image in puzzle._images(placement)}
            for placement in placements
        ]
        assert puzzle.canonical(plain).tolist() == [min(of_one) for of_one in images]
        assert puzzle.orbit_size(plain).tolist() == [len(of_one) for of_one in images]
        goals = [naive.is_goal(puzzle.model, placement) for placement in placements]
        assert puzzle.is_goal(plain).tolist() == goals
        assert puzzle.is_goal(puzzle.canonical(plain)).tolist() == goals


@pytest.mark.parametrize("how", HOW)
def test_goals_are_found(how):
    for name in ("a whole layout", "single cells told apart"):
        puzzle = puzzle_of(name, how=how)
        before, _ = naive.search(puzzle.model, "steps")
        found = {p: puzzle.plain_key_of(p) for p in before}
        flags = puzzle.is_goal(words(found.values()))
        assert int(flags.sum()) == sum(naive.is_goal(puzzle.model, p) for p in before) > 0


@pytest.mark.parametrize("name", ["d209", "super-dry", "soap", "walls", "many free cells"])
def test_goals_among_neighbouring_keys(name):
    """Whole ranges of keys are no goal together; some of the pieces of a kind may be anywhere."""
    luck = random.Random(name)
    whole = puzzle_of(name)
    placements = walk(whole.model, 50)
    for _ in range(4 if helpers_numba.JIT else 1):
        wanted = luck.choice(placements)
        goal = tuple(
            tuple(sorted(luck.sample(anchors, luck.randint(0, min(2, len(anchors))))))
            for anchors in wanted
        )
        puzzle = BlocksPuzzle(replace(whole.model, goal=goal), metric="steps", use_symmetry=False)
        here = puzzle.key_of(wanted)
        begun = [here - 100, *(luck.randrange(puzzle.key_space) for _ in range(STATES))]
        every = {key for low in begun for key in range(low, min(low + 200, puzzle.key_space))}
        keys = words(key for key in every if key >= 0)
        goals = [naive.is_goal(puzzle.model, puzzle.placement_of(key)) for key in keys.tolist()]
        assert puzzle.is_goal(keys).tolist() == goals
        assert puzzle.is_goal(keys[::-1].copy()).tolist() == goals[::-1]
        if any(goal):
            assert goals[keys.tolist().index(here)]


def test_which_kernels_are_chosen():
    assert isinstance(puzzle_of("one row of 64 cells")._kernels, Grouped)
    assert isinstance(puzzle_of("wide and over 64 cells")._kernels, Plain)


def test_groups_larger_than_what_is_worked_on_at_a_time():
    puzzle = puzzle_of("many free cells")
    every = np.arange(3 * arrays.LARGEST, dtype=np.uint64)
    out = np.empty(len(every) * puzzle.max_successors, np.uint64)
    at_once = set(out[: puzzle.successors(every, out)].tolist())
    plain = puzzle_of("many free cells", how="plain")
    assert at_once == set(out[: plain.successors(every, out)].tolist())


@pytest.mark.parametrize("how", HOW)
class TestArguments:
    def test_no_keys(self, how):
        puzzle = puzzle_of("walls", how=how)
        none = np.empty(0, np.uint64)
        assert puzzle.successors(none, none) == 0
        assert puzzle.canonical(none).tolist() == []
        assert puzzle.orbit_size(none).tolist() == []

    def test_keys_that_may_not_be_written_or_are_strided(self, how):
        puzzle = puzzle_of("walls", how=how)
        start = puzzle.starts()
        start.flags.writeable = False
        wide = np.zeros(2, np.uint64)
        wide[0] = start[0]
        out = np.empty(puzzle.max_successors, np.uint64)
        first = sorted(out[: puzzle.successors(start, out)].tolist())
        assert sorted(out[: puzzle.successors(wide[::2], out)].tolist()) == first

    def test_too_little_room_and_other_types(self, how):
        puzzle = puzzle_of("walls", how=how)
        start = puzzle.starts()
        with pytest.raises(PuzzleError, match="need room for"):
            puzzle.successors(start, np.empty(puzzle.max_successors - 1, np.uint64))
        with pytest.raises(PuzzleError, match="keys are uint64"):
            puzzle.is_goal(start.astype(np.int64))


@pytest.mark.skipif(not helpers_numba.JIT, reason="there is nothing typed without the JIT")
def test_no_kernel_computes_with_floats(monkeypatch):
    for how in HOW[:2]:
        for metric in METRICS:
            puzzle = puzzle_of("single cells told apart", metric, how=how)
            puzzle.warm()
            puzzle.canonical(puzzle.starts())
            puzzle.orbit_size(puzzle.starts())
    config: Any = numba.config
    monkeypatch.setattr(config, "OPT", type(config.OPT)(0))  # compiled for the types only
    for module in (kernels, moves, rows, groups, group_steps, group_moves, group_states):
        for kernel in helpers_numba.kernels_of(module).values():
            for signature in kernel.signatures:
                for name, kind in helpers_numba.typed_variables(kernel, signature).items():
                    assert "float" not in str(kind), f"{kernel.py_func.__name__}: {name} is {kind}"
