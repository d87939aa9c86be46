"""The library: every file loads, is the board it should be, and is what the index says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from puzzles import registry
from puzzles.blocks import index, render
from puzzles.blocks.family import FAMILY
from puzzles.blocks.model import Model
from puzzles.errors import PuzzleError
from tests.puzzles.blocks import naive

# Boards drawn from the author's own files and article by a reader of their own; the letters of
# `alike` are pieces that are not told apart.
BOARDS = json.loads((Path(__file__).with_name("data") / "boards.json").read_text())


def cells(rows) -> dict[str, frozenset]:
    found: dict[str, set] = {}
    for y, row in enumerate(rows):
        for x, sign in enumerate(row):
            found.setdefault(sign, set()).add((y, x))
    found.pop(".", None)
    return {sign: frozenset(where) for sign, where in found.items()}


def kinds_drawn(board) -> set:
    """Per kind where its pieces are and where they should be."""
    start, goal = cells(board["start"]), cells(board["goal"])
    return {
        (
            frozenset(start[sign] for sign in alike),
            frozenset(goal[sign] for sign in alike if sign in goal),
        )
        for alike in board["alike"]
    }


def kinds_of(model: Model) -> set:
    return {
        tuple(
            frozenset(frozenset(naive.covered(model, kind, anchor)) for anchor in anchors)
            for anchors in (model.start[kind], model.goal[kind])
        )
        for kind in range(len(model.kinds))
    }


def test_files_index_and_boards_are_the_same_puzzles():
    files = {path.stem for path in index.DIRECTORY.glob("*.xml")}
    assert files == set(index.index()) == set(BOARDS)


@pytest.mark.parametrize("name", sorted(BOARDS))
class TestEach:
    def test_the_board(self, name):
        model = FAMILY.model(name)
        board = BOARDS[name]
        assert (model.height, model.width) == (len(board["start"]), len(board["start"][0]))
        assert model.walls == cells(board["start"]).get("#", frozenset())
        assert kinds_of(model) == kinds_drawn(board)
        if "pieces" in board:
            assert sorted(p for kind in model.kinds for p in kind.pieces) == sorted(board["pieces"])

    def test_the_index(self, name):
        model = FAMILY.model(name)
        entry = index.index()[name]
        assert entry["size"] == [model.height, model.width]
        assert entry["pieces"] == model.piece_count
        assert (model.name, model.title) == (name, entry["title"])
        assert entry["source"]
        assert entry["goal"]

    def test_it_survives_its_spec(self, name):
        model = FAMILY.model(name)
        assert Model.from_spec(json.loads(json.dumps(model.to_spec()))) == model

    def test_its_start_is_drawn_and_read_back(self, name):
        model = FAMILY.model(name)
        assert render.parse(model, render.draw(model, model.start)) == model.start
        assert render.parse(model, render.inline(model, model.start)) == model.start
        assert render.parse(model, str(render.draw_goal(model)), partial=True) == model.goal


def test_names_are_never_those_of_another():
    names = [name for entry in registry.library() for name in (entry.name, *entry.also)]
    assert len(names) == len(set(names))


def test_other_names():
    entry = registry.find("hakoiri-diff")
    assert entry is not None
    assert entry.name == "hakoiri-hard"
    assert FAMILY.model("shougi") == FAMILY.model("shogi")


# The recomputed optima, by any program, and the published ones where they are right.
@pytest.mark.parametrize(
    ("name", "steps", "moves"),
    [
        ("hakoiri-basic", 116, 81),
        ("chicago-swap", 106, 78),
        ("chicago-byid-west", 56, 42),
        ("d209", 282, 208),
        ("d209-corner", 283, 209),
        ("new-century", 307, 230),
        ("super-super-dry-3", 523, 403),
        ("15-puzzle-article", 49, 49),
    ],
)
def test_optima_in_the_index(name, steps, moves):
    entry = index.index()[name]
    assert (entry["steps"]["optimum"], entry["moves"]["optimum"]) == (steps, moves)


@pytest.mark.parametrize("name", ["simplicity", "simplicity2"])
@pytest.mark.parametrize("metric", index.METRICS)
def test_small_ones_solved_by_the_naive_search(name, metric):
    model = FAMILY.model(name)
    entry = index.index()[name]
    before, counts = naive.search(model, metric)
    assert (len(before), len(counts) - 1) == (entry["states"], entry[metric]["eccentricity"])
    ends = [p for p in before if naive.is_goal(model, p)]
    shortest = min(len(naive.path(before, end)) - 1 for end in ends)
    assert shortest == entry[metric]["optimum"]


@pytest.mark.parametrize(
    "name", [name for name in sorted(BOARDS) if name not in ("15-puzzle-article", "sliding-digits")]
)
def test_a_puzzle_is_made_and_rebuilt_from_its_spec(name):
    puzzle = registry.resolve(name, metric="moves")
    again = registry.from_spec(json.loads(json.dumps(puzzle.spec)))
    assert (again.spec, again.metric) == (puzzle.spec, "moves")
    assert again.starts().tolist() == puzzle.starts().tolist()


@pytest.mark.parametrize(
    "spec",
    [
        {"family": "blocks"},
        {"family": "blocks", "metric": "steps", "symmetry": True},
        {"family": "blocks", "metric": "steps", "symmetry": True, "model": []},
        {"family": "blocks", "metric": "steps", "symmetry": 1, "model": {}},
        {"family": "blocks", "metric": "miles", "symmetry": True, "model": "simplicity"},
    ],
)
def test_bad_specs(spec):
    with pytest.raises(PuzzleError):
        registry.from_spec(spec)


def damaged_specs() -> Iterator[dict[str, Any]]:
    """The spec of a good model with one thing changed at a time."""
    common: list[Any] = [None, 3, "x", [], {}, [None], [[1]], [[1, "2"]], [[10**9, 0]], True]
    good = FAMILY.model("soap").to_spec()
    for field in good:
        for value in common:
            yield {**good, field: value}
    for field in good["kinds"][0]:
        for value in [*common, [[99, 99]], [[-1, 0]], ["\n"], [""]]:
            yield {**good, "kinds": [{**good["kinds"][0], field: value}, *good["kinds"][1:]]}


def test_a_damaged_spec_is_refused_or_another_puzzle():
    refusals = []
    for spec in damaged_specs():
        try:
            model = Model.from_spec(spec)
        except PuzzleError as error:
            refusals.append(str(error))
        else:
            assert Model.from_spec(model.to_spec()) == model
    assert len(refusals) > 100
    assert not any("\n" in refusal for refusal in refusals)
