"""Counts per depth, compared with published tables and with a search over plain sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import extbfs
from extbfs.engine.ledger import Ledger
from puzzles.registry import resolve
from store.catalogue import Catalogue
from tests import oracle
from tests.extbfs.runs import assert_sound, counts, resume, search
from tests.fakes import pancakes, walks
from tests.fakes.graphs import Graph, random_graph
from tests.fakes.hanoi import Hanoi
from tests.fakes.jugs import Jugs
from tests.puzzles.test_tiles_counts import TABLES, parts_of, puzzle_of

SMALL = [name for name, table in TABLES.items() if table["sum"] <= 181_440]
# OEIS A092113: stacks of n pancakes by the least number of flips.
PANCAKES = {
    4: [1, 3, 6, 11, 3],
    5: [1, 4, 12, 35, 48, 20],
    6: [1, 5, 20, 79, 199, 281, 133, 2],
    7: [1, 6, 30, 149, 543, 1357, 1903, 1016, 35],
    8: [1, 7, 42, 251, 1191, 4281, 10561, 15011, 8520, 455],
}
# OEIS A007664: moves for n disks on four pegs.
FOUR_PEGS = [1, 3, 5, 9, 13, 17, 25]


class TestPublishedTables:
    @pytest.mark.parametrize("algebra", ["set", "fibre"])
    @pytest.mark.parametrize("name", SMALL)
    def test_tiles(self, tmp_path, name, algebra):
        rows, columns, metric, blank = parts_of(name)
        puzzle = puzzle_of(rows, columns, metric, blank)
        if algebra == "fibre" and not puzzle.bipartite:
            algebra = "auto"
        search(puzzle, tmp_path / "run", algebra=algebra)
        assert counts(tmp_path / "run") == TABLES[name]["counts"]
        assert_sound(tmp_path / "run")

    @pytest.mark.parametrize("algebra", ["set", "fibre"])
    @pytest.mark.parametrize(("size", "depth"), [("3x4", 18), ("4x4", 15), ("5x3", 17)])
    def test_tiles_past_the_small(self, tmp_path, size, depth, algebra):
        outcome = search(f"tiles:{size}", tmp_path / "run", max_depth=depth, algebra=algebra)
        columns, rows = sorted(map(int, size.split("x")), reverse=True)
        table = TABLES[f"{columns}x{rows} sliding, single-tile, blank corner"]["counts"]
        assert counts(tmp_path / "run") == table[: depth + 1]
        assert (outcome.reason, outcome.exit_code, outcome.depth) == ("max-depth", 0, depth)
        assert_sound(tmp_path / "run")

    @pytest.mark.parametrize("n", PANCAKES)
    def test_pancakes(self, tmp_path, n):
        search(pancakes.Pancakes(n), tmp_path / "run")
        assert counts(tmp_path / "run") == PANCAKES[n]

    @pytest.mark.parametrize("disks", range(1, 7))
    def test_hanoi_with_four_pegs(self, tmp_path, disks):
        puzzle = Hanoi(disks)
        outcome = search(puzzle, tmp_path / "goal", exhaust=False)
        assert (outcome.reason, outcome.depth) == ("goal", FOUR_PEGS[disks - 1])
        outcome = search(puzzle, tmp_path / "all")
        assert outcome.states == 4**disks
        assert counts(tmp_path / "all") == oracle.counts(puzzle)

    def test_jugs(self, tmp_path):
        outcome = search(Jugs(), tmp_path / "run")
        assert outcome.states == 26
        assert counts(tmp_path / "run") == oracle.counts(Jugs())


class TestDirected:
    @pytest.mark.parametrize("keep", ["all", "frontier"])
    @pytest.mark.parametrize("layers", [1, 2, 3, 300])
    def test_one_way_round(self, tmp_path, layers, keep):
        ring = walks.OneWay(layers)
        ring.undirected = False
        search(ring, tmp_path / "run", keep=keep)
        assert counts(tmp_path / "run") == [1] * layers
        assert_sound(tmp_path / "run")

    @pytest.mark.parametrize("keep", ["all", "frontier"])
    @pytest.mark.parametrize("seed", range(4))
    def test_a_random_graph_has_few_visited_levels(self, tmp_path, seed, keep):
        graph = random_graph(seed, 4000, 1.3, undirected=False, key_space=2**50, starts=3)
        search(graph, tmp_path / "run", keep=keep)
        assert counts(tmp_path / "run") == oracle.counts(graph)
        assert_sound(tmp_path / "run")
        with Catalogue.open(tmp_path / "run", readonly=True) as catalogue:
            ledger = Ledger(catalogue)
            compacted, layers = ledger.depths_of("visited"), ledger.depths_of("layer")
        assert len(compacted) <= 12
        if keep == "frontier":
            last = len(counts(tmp_path / "run")) - 1
            assert last in layers
            reach = max(compacted, default=-1)
            assert [depth for depth in layers if depth <= reach] == [last] * (reach == last)


class TestEnds:
    """Starts, goals and limits."""

    def test_several_starts(self, tmp_path):
        graph = random_graph(5, 3000, 1.5, undirected=True, starts=7)
        search(graph, tmp_path / "run")
        assert counts(tmp_path / "run") == oracle.counts(graph)
        assert counts(tmp_path / "run")[0] == 7

    def test_every_state_is_a_start(self, tmp_path):
        graph = Graph({0: [1], 1: [0]}, [0, 1], undirected=True)
        outcome = search(graph, tmp_path / "run")
        assert (outcome.reason, outcome.depth, outcome.states) == ("exhausted", 0, 2)

    def test_a_start_without_moves(self, tmp_path):
        outcome = search(Graph({3: []}, [3], key_space=2**64 - 1), tmp_path / "run")
        assert (outcome.reason, outcome.depth, outcome.states) == ("exhausted", 0, 1)

    def test_the_first_and_the_last_key_there_can_be(self, tmp_path):
        top = 2**64 - 2
        graph = Graph({0: [top], top: [0, 1], 1: [top]}, [0], undirected=True)
        graph.key_space = top + 1
        search(graph, tmp_path / "run")
        assert counts(tmp_path / "run") == [1, 1, 1]

    def test_stops_at_the_depth_of_the_nearest_goals(self, tmp_path):
        graph = random_graph(6, 3000, 1.5, undirected=True, goals=9)
        depth = oracle.goal_depth(graph)
        assert depth is not None
        outcome = search(graph, tmp_path / "run", exhaust=False)
        assert (outcome.reason, outcome.exit_code, outcome.depth) == ("goal", 0, depth)
        assert counts(tmp_path / "run") == oracle.counts(graph, depth)
        layer = np.array(sorted(oracle.layers(graph, depth)[depth]), np.uint64)
        goal = extbfs.open_run(tmp_path / "run").status()["goal"]
        assert goal["states"] == graph.is_goal(layer).sum()
        assert int(goal["state"]) in layer[graph.is_goal(layer)]

    def test_goes_on_past_the_goal_when_told_to_exhaust(self, tmp_path):
        graph = random_graph(6, 3000, 1.5, undirected=True, goals=9)
        search(graph, tmp_path / "run", exhaust=False)
        outcome = resume(tmp_path / "run", graph, exhaust=True)
        assert outcome.reason == "exhausted"
        assert counts(tmp_path / "run") == oracle.counts(graph)
        assert extbfs.open_run(tmp_path / "run").status()["goal"]["depth"] == oracle.goal_depth(
            graph
        )

    def test_the_start_is_a_goal(self, tmp_path):
        graph = Graph({0: [1], 1: [0]}, [0], goals=[0], undirected=True)
        outcome = search(graph, tmp_path / "run", exhaust=False)
        assert (outcome.reason, outcome.depth, outcome.states) == ("goal", 0, 1)

    def test_a_goal_that_cannot_be_reached(self, tmp_path):
        graph = Graph({0: [1], 1: [0], 2: []}, [0], goals=[2], undirected=True)
        outcome = search(graph, tmp_path / "run", exhaust=False)
        assert (outcome.reason, outcome.depth, outcome.states) == ("exhausted", 1, 2)
        assert extbfs.open_run(tmp_path / "run").status()["goal"] is None

    @pytest.mark.parametrize("depth", [0, 1, 5])
    def test_max_depth(self, tmp_path, depth):
        outcome = search("tiles:3x3", tmp_path / "run", max_depth=depth)
        assert (outcome.reason, outcome.exit_code, outcome.depth) == ("max-depth", 0, depth)
        table = TABLES["3x3 sliding, single-tile, blank corner"]["counts"]
        assert counts(tmp_path / "run") == table[: depth + 1]
        assert not extbfs.open_run(tmp_path / "run").status()["frontier_empty"]

    def test_max_depth_beyond_the_last(self, tmp_path):
        outcome = search("tiles:2x2", tmp_path / "run", max_depth=100)
        assert outcome.reason == "exhausted"
        assert extbfs.open_run(tmp_path / "run").status()["frontier_empty"]

    @pytest.mark.parametrize("algebra", ["set", "fibre"])
    def test_keep_frontier_leaves_little_behind(self, tmp_path, algebra):
        runs: list[Path] = [tmp_path / "all", tmp_path / "frontier"]
        for run in runs:
            search("tiles:3x4", run, max_depth=17, keep=run.name, algebra=algebra)
            assert_sound(run)
        assert counts(runs[0]) == counts(runs[1])
        with Catalogue.open(runs[1], readonly=True) as catalogue:
            kept = Ledger(catalogue).depths_of("layer")
        assert kept == ([16, 17] if algebra == "set" else [17])

    def test_an_exhausted_run_is_not_searched_again(self, tmp_path):
        search("tiles:3x3", tmp_path / "run")
        before = counts(tmp_path / "run")
        outcome = extbfs.resume(tmp_path / "run")
        assert outcome.reason == "exhausted"
        assert counts(tmp_path / "run") == before


def test_the_puzzle_library_agrees_with_the_oracle(tmp_path):
    for name in ("tiles:2x3", "tiles:3x2", "tiles:1x5", "tiles:2x4"):
        for metric in ("single", "multi"):
            run = tmp_path / f"{name}-{metric}"
            search(name, run, metric=metric)
            assert counts(run) == oracle.counts(resolve(name, metric=metric))
