"""Whole searches against what others have counted: optima, states, eccentricities, levels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from puzzles.blocks import index
from tests.extbfs.blocks.searches import (
    KNOWN,
    LARGE_ONES,
    METRICS,
    OPTIMA,
    SMALL_ONES,
    SOLVED,
    SYMMETRIC,
    SYMMETRIC_GOALS,
    SYMMETRIC_STARTS,
    Searched,
)

GNOME = Path(__file__).parents[2] / "puzzles" / "blocks" / "data" / "gnome_klotski.json"
MAPS = json.loads(GNOME.read_text())


def each(names: Any) -> Any:
    return pytest.mark.parametrize("name", names)


def both(function: Any) -> Any:
    return pytest.mark.parametrize("metric", METRICS)(function)


def assert_as_known(found: Searched, name: str, metric: str) -> None:
    """A search without symmetry ends where the others' have."""
    known = OPTIMA.get(name, {}).get(metric, {})
    entry = index.index()[name]
    assert found.outcome.reason == "exhausted"
    optimum = -1 if entry.get("solvable") is False else entry[metric]["optimum"]
    assert found.optimum == known.get("optimum", optimum) == optimum
    states = entry["states"]
    assert found.outcome.states == known.get("reachable_states", states) == states
    farthest = entry[metric]["eccentricity"]
    assert found.outcome.depth == known.get("eccentricity", farthest) == farthest
    if optimum >= 0:
        goals = entry[metric]["goal_states"]
        assert found.status["goal"]["states"] == known.get("goal_states_at_optimum", goals) == goals


def assert_identified(found: Searched, plain: Searched, name: str) -> None:
    """A search that identifies mirror images agrees with one that does not."""
    assert found.optimum == plain.optimum
    assert found.outcome.states == plain.outcome.states
    assert sum(found.canonical) < 0.6 * plain.outcome.states
    if name in SYMMETRIC_STARTS:
        assert found.states == plain.states
        assert found.status["goal"]["states"] == plain.status["goal"]["states"]
        assert "the start is not symmetric" not in found.status["symmetry"]
    else:
        assert found.outcome.depth <= plain.outcome.depth
        assert found.states[0] == 2
        assert "the start is not symmetric" in found.status["symmetry"]
        assert "--no-symmetry" in found.status["symmetry"]


class TestSmall:
    @both
    @each(SMALL_ONES)
    def test_without_symmetry(self, searches, name, metric):
        assert_as_known(searches.exhausted(name, metric, symmetry=False), name, metric)

    @both
    @each([name for name in SYMMETRIC if name in SMALL_ONES])
    def test_with_symmetry(self, searches, name, metric):
        plain = searches.exhausted(name, metric, symmetry=False)
        assert_identified(searches.exhausted(name, metric), plain, name)


@pytest.mark.slow
class TestLarge:
    @both
    @each(LARGE_ONES)
    def test_without_symmetry(self, searches, name, metric):
        assert_as_known(searches.exhausted(name, metric, symmetry=False), name, metric)

    @both
    @each([name for name in SYMMETRIC if name in LARGE_ONES])
    def test_with_symmetry(self, searches, name, metric):
        plain = searches.search(name, metric=metric, symmetry=False, exhaust=True)
        assert_identified(searches.exhausted(name, metric), plain, name)


def test_which_puzzles_are_symmetric():
    from puzzles.registry import resolve

    symmetric = [name for name in SOLVED if name != "sliding-digits" and resolve(name).symmetric]
    assert symmetric == sorted(SYMMETRIC)
    assert not any(resolve(name, symmetry=False).symmetric for name in SYMMETRIC)
    assert set(SYMMETRIC_STARTS) | set(SYMMETRIC_GOALS) == set(SYMMETRIC)


def test_without_symmetry_nothing_is_said_of_it(searches):
    found = searches.exhausted("century", "steps", symmetry=False)
    assert found.status["symmetry"] is None
    assert "canonical" not in found.status["depths"][0]


class TestKlotski:
    """Complete tables; with symmetry the full counts are those without."""

    @both
    @pytest.mark.parametrize("symmetry", [True, False])
    @each(["klotski", "hakoiri-basic"])
    def test_states(self, searches, name, metric, symmetry):
        found = searches.exhausted(name, metric, symmetry=symmetry)
        assert found.states == KNOWN["klotski"][f"{metric}.plain"]

    @both
    def test_canonical_states(self, searches, metric):
        found = searches.exhausted("klotski", metric)
        assert found.canonical == KNOWN["klotski"][f"{metric}.mirror"]


class TestArticle:
    """The levels of the article's logs, in steps; those named mirror count images once."""

    @each(["hakoiri-basic", "huarong-dao", "shogi", "super-century"])
    def test_canonical_levels(self, searches, name):
        found = searches.exhausted(name, "steps").canonical
        known = KNOWN["levels"][f"{name}.mirror"]
        assert {int(depth): found[int(depth)] for depth in known} == as_numbers(known)

    def test_levels(self, searches):
        found = searches.exhausted("super-century", "steps", symmetry=False).states
        known = KNOWN["levels"]["super-century.plain"]
        assert {int(depth): found[int(depth)] for depth in known} == as_numbers(known)

    def test_its_15_puzzle_begins_as_it_should(self, searches):
        self.begin(searches, 14)

    @pytest.mark.slow
    def test_its_15_puzzle_goes_on_as_it_should(self, searches):
        self.begin(searches, 20)

    def begin(self, searches, depth):
        found = searches.search("15-puzzle-article", max_depth=depth)
        known = KNOWN["levels"]["15-puzzle-article.plain"]
        assert found.states == [known[str(d)] for d in range(depth + 1)]
        assert found.outcome.sentence.endswith("no goal among them; the frontier is not empty")


def as_numbers(levels: dict[str, int]) -> dict[int, int]:
    return {int(depth): states for depth, states in levels.items()}


class TestGnomeKlotski:
    """The boards of GNOME Klotski with their published minimum moves."""

    def search(self, searches, name, metric, *, symmetry):
        return searches.search(f"blocks:{GNOME}:{name}", metric=metric, symmetry=symmetry)

    @both
    @each([name for name in MAPS if name != "Climb 12"])
    def test_a_board(self, searches, name, metric):
        found = self.search(searches, name, metric, symmetry=False)
        self.assert_optimal(found, name, metric)
        if metric == "moves":
            assert found.outcome.states == MAPS[name]["visited_rlc"]

    @each(["Only 18 Steps", "Red Donkey", "Snowdrop"])
    def test_with_symmetry(self, searches, name):
        found = self.search(searches, name, "moves", symmetry=True)
        self.assert_optimal(found, name, "moves")
        assert sum(found.canonical) < found.outcome.states

    @pytest.mark.slow
    @both
    def test_the_longest(self, searches, metric):
        self.test_a_board(searches, "Climb 12", metric)

    def assert_optimal(self, found, name, metric):
        assert found.outcome.reason == "goal"
        published = MAPS[name]["published_min_moves"]
        assert found.optimum == (published if metric == "moves" else MAPS[name]["step"])
