"""What `extbfs path` prints can be played by hand, and is as short as it can be."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest

from extbfs.cli import main
from puzzles.blocks import index
from puzzles.blocks.definition import build
from puzzles.blocks.drawing import read_drawing
from puzzles.blocks.family import FAMILY
from puzzles.blocks.puzzle import BlocksPuzzle
from tests.extbfs.blocks.searches import (
    LARGE_ONES,
    METRICS,
    SMALL_ONES,
    SYMMETRIC,
)
from tests.extbfs.blocks.simulator import FromXml
from tests.puzzles.blocks import naive

SOLVABLE_LARGE = [name for name in LARGE_ONES if index.index()[name].get("solvable", True)]


def both(function: Any) -> Any:
    return pytest.mark.parametrize("metric", METRICS)(function)


@pytest.fixture
def printed(capsys):
    """What a command that succeeds prints."""

    def run(*argv: Any) -> str:
        assert main([str(word) for word in argv]) == 0
        out: str = capsys.readouterr().out
        return out

    return run


def moves_in(text: str) -> list[str]:
    """The numbered moves of a printed path."""
    lines = re.findall(r"^ *(\d+)\. (.*)$", text, re.MULTILINE)
    assert [int(number) for number, _ in lines] == list(range(1, len(lines) + 1))
    return [move for _, move in lines]


def replay(moves: list[str], name: str, metric: str) -> None:
    """Play the moves from the start of the file to its goal, one piece each time."""
    board = FromXml(index.read(name))
    assert len(moves) == index.index()[name][metric]["optimum"]
    for move in moves:
        assert not board.solved()
        board.move(move)
        assert metric == "moves" or re.fullmatch(r".* (up|down|left|right)", move)
        assert metric == "moves" or "," not in move
    assert board.solved()


class TestReplay:
    """With symmetry, where it is used, since that is how people search."""

    @both
    @pytest.mark.parametrize("name", SMALL_ONES)
    def test_small_ones(self, searches, printed, name, metric):
        run = searches.exhausted(name, metric, symmetry=name in SYMMETRIC).run
        replay(moves_in(printed("path", run)), name, metric)

    @both
    @pytest.mark.slow
    @pytest.mark.parametrize("name", SOLVABLE_LARGE)
    def test_large_ones(self, searches, printed, name, metric):
        run = searches.search(name, metric=metric).run
        replay(moves_in(printed("path", run)), name, metric)

    @pytest.mark.slow
    @both
    def test_the_hard_one(self, searches, printed, metric):
        if metric not in index.index()["hakoiri-hard"]:
            pytest.skip("its optimum is not known")
        run = searches.search("hakoiri-hard", metric=metric, memory="1GiB").run
        replay(moves_in(printed("path", run)), "hakoiri-hard", metric)


STRAIGHT = {"klotski": 90, "century": 111, "super-century": 150}
"""Century and Super Century as J. A. Storer has them, Klotski by the naive twin."""


class TestStraight:
    """One piece in one direction is one move."""

    @pytest.mark.parametrize("symmetry", [True, False])
    @pytest.mark.parametrize("name", STRAIGHT)
    def test_a_solution(self, searches, printed, name, symmetry):
        found = searches.exhausted(name, "straight", symmetry=symmetry)
        assert found.optimum == STRAIGHT[name]
        assert found.outcome.states == index.index()[name]["states"]
        text = printed("path", found.run)
        board = FromXml(index.read(name))
        moves = moves_in(text)
        for move in moves:
            assert not board.solved()
            board.move(move)
            assert re.fullmatch(r"\S+ (up|down|left|right)( \d)?", move)
        assert board.solved()
        assert any(move[-1].isdigit() for move in moves)
        assert text.endswith(f"\n{STRAIGHT[name]} moves, metric straight\n")


class TestWords:
    def test_one_move_is_one_slide_with_turns(self, searches, printed):
        text = printed("path", searches.exhausted("klotski", "moves", symmetry=True).run)
        moves = moves_in(text)
        assert any("," in move for move in moves)
        pieces = [move.split()[0] for move in moves]
        assert all(a != b for a, b in pairwise(pieces))
        assert text.endswith("\n81 moves\n")

    def test_the_metric_is_said(self, searches, printed):
        text = printed("path", searches.exhausted("century", "steps").run, "--boards", "none")
        assert text.endswith("\n131 moves, metric steps\n")


def labels_on(drawing: str) -> dict[tuple[int, int], str]:
    """The label in every covered cell, counted from 1."""
    return {
        (y, x): label
        for y, line in enumerate(drawing.splitlines(), start=1)
        for x, label in enumerate(line.split(), start=1)
        if set(label) - {".", "#"}
    }


class TestBoards:
    """Every piece keeps its label on the drawings, wherever it goes."""

    @both
    @pytest.mark.parametrize("name", ["century", "super-super-dry-1", "soap"])
    def test_every_drawing_is_the_board_after_the_move(self, searches, printed, name, metric):
        run = searches.exhausted(name, metric, symmetry=name in SYMMETRIC).run
        told = json.loads(printed("path", run, "--json"))
        board = FromXml(index.read(name))
        drawings = [labels_on(state["drawing"]) for state in told["states"]]
        called = {board.picture()[cell]: label for cell, label in drawings[0].items()}
        assert len(set(called.values())) == len(called) == len(board.pieces)
        assert len(drawings) == told["length"] + 1 == len(told["moves"]) + 1
        for move, drawing in zip(told["moves"], drawings[1:], strict=True):
            board.move(move)
            assert drawing == {cell: called[name] for cell, name in board.picture().items()}
        assert board.solved()

    def test_drawings_on_request(self, searches, printed):
        run = searches.exhausted("klotski", "moves", symmetry=True).run
        known = {"none": 0, "ends": 2, "all": 82, "20": 6}  # the first, 20, 40, 60, 80, the last
        for boards, drawn in known.items():
            blocks = re.findall(
                r"(?:^\S+( \S+){3}\n){5}", printed("path", run, "--boards", boards), re.M
            )
            assert len(blocks) == drawn

    def test_the_farthest_states_are_drawn(self, searches, printed):
        run = searches.exhausted("simplicity", "steps", symmetry=False).run
        before, counts = naive.search(FAMILY.model("simplicity"), "steps")
        (farthest,) = [p for p in before if len(naive.path(before, p)) == len(counts)]
        lines = printed("states", run, "--depth", "last", "--draw").splitlines()
        model = FAMILY.model("simplicity")
        cells = {
            (y + 1, x + 1)
            for kind, anchors in enumerate(farthest)
            for anchor in anchors
            for y, x in naive.covered(model, kind, anchor)
        }
        assert set(labels_on("\n".join(lines[1:5]))) == cells
        assert lines[0] == " / ".join(
            " ".join("." if set(label) == {"."} else label for label in line.split())
            for line in lines[1:5]
        )


class TestJson:
    def test_details_for_programs(self, searches, printed):
        """Each move says by itself which piece went where and along which cells."""
        run = searches.exhausted("huarong-dao", "moves").run
        told = json.loads(printed("path", run, "--json"))
        assert (told["puzzle"], told["metric"], told["length"]) == ("huarong-dao", "moves", 77)
        board = FromXml(index.read("huarong-dao"))
        for move, detail in zip(told["moves"], told["details"], strict=True):
            piece = detail["piece"]
            assert list(min(board.pieces[piece])) == detail["from"]
            for way in detail["path"]:
                board.move(f"{piece} {way}")
            assert list(min(board.pieces[piece])) == detail["to"]
            assert move.startswith(piece)
        assert board.solved()


def count_naively(model: Any, metric: str) -> tuple[int, int, int]:
    """(optimum, goal states there, shortest solutions), counted layer by layer."""
    layer, seen, depth = {model.start: 1}, {model.start}, 0
    while not any(naive.is_goal(model, placement) for placement in layer):
        ahead: dict[Any, int] = {}
        for placement, ways in layer.items():
            for after in set(naive.neighbours(model, placement, metric)):
                if after not in seen:
                    ahead[after] = ahead.get(after, 0) + ways
        seen |= ahead.keys()
        layer, depth = ahead, depth + 1
    ends = {p: ways for p, ways in layer.items() if naive.is_goal(model, p)}
    return depth, len(ends), sum(ends.values())


DRAWN = {
    "symmetric": "a..b\n.cc.\nd..e\n\n....\n....\n.cc.",
    "start-aside": "cc.a\nb...\n..d.\n\n....\n....\n.cc.",
    "goal-aside": "a.cc\nb...\n..d.\n\n....\n....\ncc..",
    "square": "aa.\naa.\nb.c\n\n...\n.aa\n.aa",
    "turned": "a..\n.b.\n...\n\n...\n.a.\n...",
    "apart": "ab.\nc..\n\n..a\n.b.",
}


class TestAllOptimal:
    @both
    @pytest.mark.parametrize("name", ["simplicity", "simplicity2"])
    def test_of_the_library(self, searches, printed, name, metric):
        run = searches.exhausted(name, metric, symmetry=False).run
        self.compare(printed, run, count_naively(FAMILY.model(name), metric))

    @pytest.mark.parametrize("metric", [*METRICS, "straight"])
    @pytest.mark.parametrize("symmetry", [True, False])
    @pytest.mark.parametrize("drawing", DRAWN)
    def test_of_drawings(self, searches, printed, drawing, metric, symmetry):
        model = build(read_drawing(DRAWN[drawing], drawing))
        puzzle = BlocksPuzzle(model, metric=metric, use_symmetry=symmetry)
        run = searches.search(puzzle).run
        self.compare(printed, run, count_naively(model, metric))

    @pytest.mark.parametrize("metric", ["steps", "moves"])
    def test_goals_of_one_start_are_not_those_of_its_image(self, searches, printed, metric):
        for symmetry in (True, False):
            run = searches.exhausted("century", metric, symmetry=symmetry).run
            found = json.loads(printed("path", run, "--all-optimal", "count", "--json"))
            goals = index.index()["century"][metric]["goal_states"]
            assert found["all_optimal"]["goal_states"] == goals
            if symmetry:
                solutions = found["all_optimal"]["solutions"]
        assert found["all_optimal"]["solutions"] == solutions

    def compare(self, printed, run, known):
        length, goals, solutions = known
        found = json.loads(printed("path", run, "--all-optimal", "count", "--json"))
        assert found["length"] == length
        assert found["all_optimal"] == {
            "length": length,
            "goal_states": goals,
            "solutions": solutions,
        }


class TestNothingToDo:
    @pytest.mark.parametrize("exhaust", [False, True])
    def test_a_start_that_is_the_goal(self, tmp_path, capsys, exhaust):
        drawing = tmp_path / "here.txt"
        drawing.write_text("a.b\n\na..\n")
        run = tmp_path / "run"
        assert main(["start", str(drawing), str(run), *["--exhaust"] * exhaust]) == 0
        said = capsys.readouterr().err
        assert ("the goal at depth 0" if exhaust else "the start is the goal") in said
        assert main(["path", str(run), "--all-optimal", "count"]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "start: a . b",
            "a . b",
            "",
            "0 moves, metric steps",
            "1 shortest solution, to 1 goal state",
        ]

    @both
    def test_no_solution(self, tmp_path, capsys, metric):
        drawing = tmp_path / "locked.txt"
        drawing.write_text("ab.\n\nba.\n")
        run = tmp_path / "run"
        assert main(["start", str(drawing), str(run), "--metric", metric]) == 0
        err = capsys.readouterr().err
        assert "no solution: all 3 states that can be reached were searched" in err
        assert main(["status", str(run)]) == 0
        assert "every reachable state was found, and none is the goal" in capsys.readouterr().out
        assert main(["path", str(run)]) == 0
        assert capsys.readouterr().out == (
            "there is no solution: all 3 states that can be reached were searched, to depth 2, and"
            " none is the goal\n"
        )

    def test_no_goal(self, tmp_path, capsys):
        drawing = tmp_path / "free.txt"
        drawing.write_text("ab.\n")
        run = tmp_path / "run"
        assert main(["start", str(drawing), str(run)]) == 0
        assert "exhausted: 3 states" in capsys.readouterr().err
        assert main(["path", str(run)]) == 1
        assert "free has no goal; name a state with --to" in capsys.readouterr().err

    def test_not_yet(self, tmp_path, capsys):
        run = tmp_path / "run"
        assert main(["start", "klotski", str(run), "--max-depth", "3"]) == 0
        capsys.readouterr()
        assert main(["path", str(run)]) == 1
        assert "has reached no goal up to depth 3; search on" in capsys.readouterr().err
