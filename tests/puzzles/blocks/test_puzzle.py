"""The puzzle as the search sees it: promises, counts of Klotski, texts, and its spec."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import extbfs
from puzzles.blocks.family import FAMILY
from puzzles.blocks.puzzle import METRICS, BlocksPuzzle
from puzzles.check import check
from puzzles.errors import PuzzleError
from tests.puzzles.blocks import naive
from tests.puzzles.blocks.samples import DRAWINGS, model_of, puzzle_of, walk

KLOTSKI = json.loads((Path(__file__).with_name("data") / "klotski.json").read_text())


@pytest.mark.parametrize("use_symmetry", [False, True])
@pytest.mark.parametrize("metric", METRICS)
class TestPromises:
    @pytest.mark.parametrize("name", [*DRAWINGS, "hakoiri-hard", "super-super-dry-3"])
    def test_are_kept(self, name, metric, use_symmetry):
        report = check(puzzle_of(name, metric, use_symmetry), states=500)
        assert report.ok, report.to_text()

    def test_by_the_plain_kernels(self, metric, use_symmetry):
        for how in ("plain", "product"):
            report = check(puzzle_of("hakoiri-basic", metric, use_symmetry, how), states=500)
            assert report.ok, report.to_text()


@pytest.mark.parametrize("use_symmetry", [False, True])
@pytest.mark.parametrize("metric", ["steps", "moves"])
class TestKlotski:
    def test_counts_per_depth(self, metric, use_symmetry, tmp_path):
        puzzle = puzzle_of("klotski", metric, use_symmetry)
        extbfs.start(puzzle, tmp_path / "run", exhaust=True, threads=1)
        mirrored = " mirrored" if use_symmetry else ""
        with extbfs.open_run(tmp_path / "run") as run:
            assert run.counts.tolist() == KLOTSKI[metric]["counts"]
            keys = [row["keys"] for row in run.depths]
        assert keys == KLOTSKI[metric + mirrored]["counts"]
        assert sum(keys) == (13_011 if use_symmetry else 25_955)

    @pytest.mark.parametrize("how", ["plain", "product"])
    def test_by_the_plain_kernels(self, metric, use_symmetry, how):
        puzzle = puzzle_of("klotski", metric, use_symmetry, how)
        expected = KLOTSKI[metric + (" mirrored" if use_symmetry else "")]["counts"]
        layer, before = puzzle.starts(), np.empty(0, np.uint64)
        counts = []
        while len(layer):
            counts.append(len(layer))
            out = np.empty(len(layer) * puzzle.max_successors, np.uint64)
            found = np.unique(out[: puzzle.successors(layer, out)])
            before, layer = layer, np.setdiff1d(found, np.concatenate([before, layer]))
        assert counts == expected


class TestTexts:
    @pytest.mark.parametrize("name", [*DRAWINGS, "hakoiri-hard", "sliding-digits"])
    def test_states_are_read_back(self, name):
        puzzle = puzzle_of(name)
        for placement in walk(puzzle.model, 5):
            key = puzzle.key_of(placement)
            assert puzzle.placement_of(key) == placement
            assert puzzle.encode(puzzle.decode(key)) == key
            assert puzzle.encode(puzzle.render(key)) == key

    def test_moves_have_names(self):
        puzzle = puzzle_of("hakoiri-basic")
        model = puzzle.model
        for after in naive.neighbours(model, model.start, "steps"):
            words = puzzle.move(puzzle.key_of(model.start), puzzle.key_of(after))
            assert words.split()[-1] in ("up", "left", "right", "down")

    def test_moves_between_classes(self):
        puzzle = puzzle_of("hakoiri-basic", "steps", True)
        start = puzzle.starts()
        out = np.empty(puzzle.max_successors, np.uint64)
        for child in out[: puzzle.successors(start, out)]:
            assert puzzle.move(int(start[0]), int(child))

    def test_no_move(self):
        puzzle = puzzle_of("hakoiri-basic")
        start = int(puzzle.starts()[0])
        with pytest.raises(PuzzleError, match=f"leads from key {start} to key 0"):
            puzzle.move(start, 0)
        with pytest.raises(PuzzleError, match="no move"):
            puzzle.move(start, start)

    def test_a_long_move_is_no_step(self):
        steps, moves = puzzle_of("one piece"), puzzle_of("one piece", "moves")
        far = moves.key_of((((0, 0),),))
        start = int(moves.starts()[0])
        assert "2" in moves.move(start, moves.key_of((((1, 0),),))) or moves.move(start, far)
        with pytest.raises(PuzzleError, match="no move"):
            steps.move(start, far)

    def test_a_move_with_a_turn_is_not_straight(self):
        straight = puzzle_of("one piece", "straight")
        start = int(straight.starts()[0])
        assert straight.move(start, straight.key_of((((1, 0),),))).split()[1:] == ["left"]
        beyond = straight.key_of((((2, 2),),))
        with pytest.raises(PuzzleError, match="no move"):
            straight.move(start, beyond)

    def test_one_line(self):
        assert "447,539,400 keys" in puzzle_of("hakoiri-hard").describe()


@pytest.mark.parametrize("metric", METRICS)
def test_a_spec_rebuilds_the_puzzle(metric):
    puzzle = BlocksPuzzle(model_of("walls"), metric=metric)
    again = FAMILY.from_spec(json.loads(json.dumps(puzzle.spec)))
    assert again.spec == puzzle.spec
    assert again.key_space == puzzle.key_space
    assert again.starts().tolist() == puzzle.starts().tolist()


def test_an_unknown_metric():
    with pytest.raises(PuzzleError, match="steps, straight or moves, not in 'pushes'"):
        BlocksPuzzle(model_of("walls"), metric="pushes")
