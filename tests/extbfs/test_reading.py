"""What a run says of its states: layers, depths and shortest paths, compared with the oracle."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extbfs
from extbfs.errors import NotFound, NotKept
from puzzles.registry import resolve
from tests import oracle
from tests.extbfs.runs import search
from tests.extbfs.tight import Tight
from tests.fakes.graphs import Graph, random_graph
from tests.fakes.jugs import Jugs
from tests.fakes.pancakes import Pancakes


class Backwards(Graph):
    """A directed graph that also tells its predecessors."""

    def __init__(self, graph: Graph, states: set[int]) -> None:
        self.__dict__.update(graph.__dict__)
        self.asked = 0
        self._before: dict[int, list[int]] = {}
        for key in states:
            for child in oracle.successors(graph, [key]):
                self._before.setdefault(child, []).append(key)
        self.max_predecessors = max(map(len, self._before.values()))

    def predecessors(self, keys: Any, out: Any) -> int:
        self.asked += 1
        found = [key for child in keys.tolist() for key in self._before.get(child, [])]
        out[: len(found)] = found
        return len(found)


DIRECTED = random_graph(1, 800, 2, undirected=False, key_space=2**60, starts=2)
PUZZLES: dict[str, Any] = {
    "tiles": resolve("tiles:2x3"),
    "pancakes": Pancakes(6),
    "jugs": Jugs(),
    "directed": DIRECTED,
    "backwards": Backwards(DIRECTED, set().union(*oracle.layers(DIRECTED))),
    "undirected": random_graph(2, 800, 2, undirected=True, key_space=2**64 - 1, starts=3),
}


@pytest.fixture(scope="module", params=[*PUZZLES, "tiles, fibre"])
def case(request, tmp_path_factory):
    """(puzzle, its layers, an open run of it)."""
    name, _, algebra = request.param.partition(", ")
    puzzle = PUZZLES[name]
    run = tmp_path_factory.mktemp("reading") / "run"
    with pytest.MonkeyPatch.context() as patch:
        Tight(inline=64).install(patch)
        search(puzzle, run, algebra=algebra or "set")
        with extbfs.open_run(run, puzzle=None if name == "tiles" else puzzle) as opened:
            yield puzzle, oracle.layers(puzzle), opened


class TestStates:
    def test_of_every_depth_in_ascending_order(self, case):
        _, layers, run = case
        for depth, layer in enumerate(layers):
            blocks = list(run.states(depth))
            keys = np.concatenate(blocks)
            assert keys.tolist() == sorted(layer)
            assert keys.dtype == np.uint64

    @pytest.mark.parametrize("depth", [-1, 1000])
    def test_of_a_depth_that_is_not_there(self, case, depth):
        _, layers, run = case
        with pytest.raises(NotFound, match=f"0 to {len(layers) - 1}"):
            list(run.states(depth))


class TestDepthOf:
    def test_every_state(self, case):
        puzzle, layers, run = case
        for depth, layer in enumerate(layers):
            for key in sorted(layer)[:: max(1, len(layer) // 9)]:
                assert run.depth_of(key) == depth
                if hasattr(puzzle, "decode"):
                    assert run.depth_of(str(puzzle.decode(key))) == depth

    def test_what_is_not_reached(self, case):
        puzzle, layers, run = case
        reached = set().union(*layers)
        others = [key for key in (0, 1, 2, 5, puzzle.key_space - 1) if key not in reached]
        assert [run.depth_of(key) for key in others] == [None] * len(others)


class TestPath:
    def test_to_states_of_every_depth(self, case):
        puzzle, layers, run = case
        for depth, layer in enumerate(layers):
            for key in sorted(layer)[:: max(1, len(layer) // 4)]:
                path = run.path(key)
                assert len(path) == depth + 1
                assert path[-1] == key
                assert oracle.is_path(puzzle, path)

    def test_to_a_state_that_is_not_reached(self, case):
        puzzle, layers, run = case
        reached = set().union(*layers)
        others = [key for key in (0, 1, 2, 5, puzzle.key_space - 1) if key not in reached]
        for key in others[:1]:
            with pytest.raises(NotFound, match=f"{key} is not among"):
                run.path(key)

    def test_predecessors_are_asked_where_there_are_some(self, case):
        puzzle, layers, run = case
        if isinstance(puzzle, Backwards):
            run.path(min(layers[-1]))
            assert puzzle.asked

    def test_to_the_goal(self, tmp_path):
        puzzle = Jugs()
        search(puzzle, tmp_path / "run", exhaust=False)
        given: Any = puzzle
        path = extbfs.open_run(tmp_path / "run", puzzle=given).path()
        assert oracle.is_path(puzzle, path)
        assert puzzle.is_goal(np.array(path[-1:], np.uint64)).all()
        assert len(path) - 1 == oracle.goal_depth(puzzle)

    def test_to_a_goal_that_was_not_reached(self, tmp_path):
        graph: Any = Graph({0: [1], 1: [0], 2: []}, [0], goals=[2])
        search(graph, tmp_path / "run")
        with pytest.raises(NotFound, match="there is no solution"):
            extbfs.open_run(tmp_path / "run", puzzle=graph).path()


class TestKeepFrontier:
    """What needs the layers that are gone is refused in one sentence."""

    @pytest.fixture
    def run(self, tmp_path):
        search("tiles:2x3", tmp_path / "run", keep="frontier")
        return extbfs.open_run(tmp_path / "run")

    @pytest.mark.parametrize(
        "ask",
        [
            lambda run: list(run.states(3)),
            lambda run: run.path(int(next(run.states(21))[0])),
            lambda run: run.depth_of(7),
        ],
    )
    def test_refused(self, run, ask):
        with pytest.raises(NotKept, match="frontier") as caught:
            ask(run)
        assert caught.value.exit_code == 1
        assert "\n" not in str(caught.value)

    def test_the_last_layer_is_there(self, run):
        (last,) = run.states(21)
        assert set(last.tolist()) == oracle.layers(resolve("tiles:2x3"))[-1]

    def test_counts_and_verify_are_there(self, run):
        assert run.counts.tolist() == oracle.counts(resolve("tiles:2x3"))
        assert run.verify()["ok"]


def test_reading_leaves_no_file_open(tmp_path, monkeypatch):
    Tight(inline=0).install(monkeypatch)
    search("tiles:2x4", tmp_path / "run")

    def open_files() -> list[str]:
        links = [Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd")]
        found = [os.readlink(link) for link in links if os.path.lexists(link)]
        return [name for name in found if str(tmp_path) in name]

    with extbfs.open_run(tmp_path / "run") as run:
        run.verify()
        for depth in range(len(run.counts)):
            list(run.states(depth))
        assert sum(".keys" in name for name in open_files()) <= 64
    assert open_files() == []
