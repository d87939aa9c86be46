"""Symmetries: only those of walls, shapes and goal, and what they do to counts and parity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from puzzles.blocks import symmetry
from puzzles.blocks.puzzle import METRICS, BlocksPuzzle
from tests import oracle
from tests.puzzles.blocks import naive
from tests.puzzles.blocks.samples import DRAWINGS, model_of, puzzle_of, walk

MIRROR = "left and right exchanged"


def names(name):
    return [found.name for found in symmetry.symmetries(model_of(name))[1:]]


class TestWhichThereAre:
    def test_the_mirror_of_symmetric_goals(self):
        assert names("hakoiri-basic") == names("hakoiri-hard") == names("century") == [MIRROR]

    @pytest.mark.parametrize("name", ["chicago-byid-east", "d209", "simplicity2"])
    def test_none_where_walls_shapes_or_goal_are_not_symmetric(self, name):
        assert names(name) == []

    def test_a_wall_in_the_corner_leaves_a_diagonal(self):
        assert names("turned by 90 degrees only") == ["transposed"]

    def test_eight_of_a_square(self):
        assert len(symmetry.symmetries(model_of("all symmetries of a square"))) == 8

    def test_shapes_that_the_mirror_exchanges(self):
        model = model_of("exchanged by the mirror")
        assert names("exchanged by the mirror") == [MIRROR]
        kinds = symmetry.symmetries(model)[1].kinds
        assert [kind != number for number, kind in enumerate(kinds)].count(True) == 2

    def test_pieces_with_mirrored_goals_change_places(self):
        model = model_of("chicago-swap")
        mirror = symmetry.symmetries(model)[1]
        swapped = [number for number, kind in enumerate(mirror.kinds) if kind != number]
        assert len(swapped) == 2
        assert all(model.kinds[number].count == 1 == len(model.goal[number]) for number in swapped)

    def test_not_with_a_definition_that_forbids_it(self):
        model = replace(model_of("hakoiri-basic"), symmetric_allowed=False)
        assert not BlocksPuzzle(model).symmetric
        assert BlocksPuzzle(model_of("hakoiri-basic")).symmetric
        assert not BlocksPuzzle(model_of("hakoiri-basic"), use_symmetry=False).symmetric


@pytest.mark.parametrize("name", [*DRAWINGS, "hakoiri-basic", "correct-order"])
class TestEach:
    def test_a_group_that_keeps_moves_and_goals(self, name):
        puzzle = puzzle_of(name, use_symmetry=True)
        model = puzzle.model
        for placement in walk(model, 5):
            images = puzzle._images(placement)
            for image in images:
                assert set(puzzle._images(image)) == set(images)
                assert naive.is_goal(model, image) == naive.is_goal(model, placement)
            around = [set(naive.neighbours(model, image, "steps")) for image in images]
            moved: list[set] = [set() for _ in images]
            for after in naive.neighbours(model, placement, "steps"):
                for number, image in enumerate(puzzle._images(after)):
                    moved[number].add(image)
            assert moved == around

    def test_the_change_of_parity(self, name):
        model = model_of(name)

        def parity(placement):
            return sum(
                sum(anchor) + sum(kind.corner)
                for kind, anchors in zip(model.kinds, placement, strict=True)
                for anchor in anchors
            )

        puzzle = puzzle_of(name, use_symmetry=True)
        for placement in walk(model, 5, seed=4):
            images = puzzle._images(placement)
            for found, image in zip(puzzle.symmetries, images, strict=True):
                same = (parity(placement) - parity(image)) % 2 == 0
                assert same == symmetry.keeps_parity(model, found)


def test_the_mirror_of_century_exchanges_the_colours():
    assert not puzzle_of("century", use_symmetry=True).bipartite
    assert puzzle_of("century").bipartite
    assert puzzle_of("hakoiri-basic", use_symmetry=True).bipartite
    assert not puzzle_of("hakoiri-basic", "straight").bipartite
    assert not puzzle_of("hakoiri-basic", "moves").bipartite


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("how", ["chosen", "plain"])
class TestCounts:
    def full(self, puzzle):
        layers = oracle.layers(puzzle)
        sizes = [puzzle.orbit_size(np.array(sorted(layer), np.uint64)) for layer in layers]
        return [int(of_layer.astype(int).sum()) for of_layer in sizes]

    @pytest.mark.parametrize("name", ["an L and a J", "walls", "all symmetries of a square"])
    def test_every_state_belongs_to_one_orbit(self, name, metric, how):
        quotient = puzzle_of(name, metric, True, how)
        plain = puzzle_of(name, metric, False, how)
        states = set().union(*oracle.layers(plain))
        classes = set().union(*oracle.layers(quotient))
        every = np.array(sorted(states), np.uint64)
        assert set(quotient.canonical(every).tolist()) == classes

    def test_a_symmetric_start_gives_the_full_counts(self, metric, how):
        quotient = puzzle_of("its own mirror image", metric, True, how)
        plain = puzzle_of("its own mirror image", metric, False, how)
        assert set(quotient._images(quotient.model.start)) == {quotient.model.start}
        assert quotient.symmetric
        assert self.full(quotient) == oracle.counts(plain)
