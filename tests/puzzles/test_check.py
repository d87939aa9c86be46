"""`check` finds every false promise; `quick_check` refuses it in one sentence with the state."""

from __future__ import annotations

import json

import numpy as np
import pytest

from puzzles import check as checks
from puzzles.contract import adapt
from puzzles.errors import PuzzleError
from puzzles.exploration import explore
from tests.fakes import jugs, pancakes, walks

HONEST = [
    jugs.puzzle,
    pancakes.pancakes3,
    pancakes.pancakes6,
    pancakes.targeted7,
    walks.ring,
]

LIARS = [
    (walks.one_way, "undirected", "none leads back"),
    (walks.outside, "exploration", "keys are below key_space = 1000"),
    (walks.moody, "determinism", "other successors"),
    (walks.neighbourly, "determinism", "other successors"),
    (walks.overfull, "exploration", "max_successors = 2"),
    (walks.meddler, "exploration", "changes the keys"),
    (walks.failing, "exploration", "ZeroDivisionError: division by zero"),
    (walks.misread, "round trip", "is read back as key"),
    (walks.small_odd_ring, "bipartite", "same parity"),
    (walks.two_sides, "bipartite", "same parity"),
]

BLOCKWISE = [walks.overfull, walks.meddler]  # a call is to blame, not a state


def named(case):
    return type(case[0] if isinstance(case, tuple) else case).__name__


@pytest.mark.parametrize("obj", HONEST, ids=named)
class TestHonestPuzzles:
    def test_no_promise_is_broken(self, obj):
        report = checks.check(adapt(obj), 5000)
        assert report.ok, report.to_text()
        checks.quick_check(adapt(obj))

    def test_the_report_is_plain_data(self, obj):
        report = checks.check(adapt(obj), 500)
        data = json.loads(json.dumps(report.to_dict()))
        assert data["ok"] is True
        assert {"name", "ok", "detail"} == set(data["checks"][0])
        assert all(check.name in report.to_text() for check in report.checks)


@pytest.mark.parametrize("case", LIARS, ids=named)
class TestFalsePromises:
    def test_check_names_the_promise(self, case):
        obj, name, detail = case
        broken = [c for c in checks.check(adapt(obj), 5000).checks if c.ok is False]
        assert (broken[0].name, True) == (name, detail in broken[0].detail)

    def test_quick_check_refuses_in_one_sentence(self, case):
        obj, _, detail = case
        with pytest.raises(PuzzleError) as caught:
            checks.quick_check(adapt(obj))
        assert detail in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", [c for c in LIARS if c[0] not in BLOCKWISE], ids=named)
def test_the_state_is_named(case):
    broken = [c for c in checks.check(adapt(case[0]), 5000).checks if c.ok is False]
    assert "key " in broken[0].detail


class TestExploration:
    def test_the_jugs(self):
        seen = explore(adapt(jugs.puzzle), 1000)
        goal = jugs.puzzle.is_goal(seen.keys)
        assert seen.complete
        assert len(seen.keys) == 26
        assert int(seen.depths[goal].min()) == 10

    def test_pancakes_have_the_published_layers(self):
        seen = explore(adapt(pancakes.pancakes7), 10_000)
        assert np.bincount(seen.depths).tolist() == [1, 6, 30, 149, 543, 1357, 1903, 1016, 35]

    def test_a_limit_leaves_states_unexpanded(self):
        seen = explore(adapt(pancakes.pancakes8), 100)
        assert len(seen.keys) == 100
        assert not seen.complete
        assert len(seen.children) == 700

    def test_a_promise_not_made_is_not_held_against_the_puzzle(self):
        report = checks.check(adapt(jugs.puzzle), 100)
        assert {c.name: c.ok for c in report.checks}["undirected"] is None

    def test_an_odd_ring_is_found_out_only_where_it_closes(self):
        # Honest limits: the first 100 states of a long odd ring look bipartite.
        assert checks.check(adapt(walks.odd_ring), 100).ok
        assert not checks.check(adapt(walks.odd_ring), 2000).ok


class Quotient:
    """0 .. 99 in a line, x and 99-x the same: canonical is the smaller."""

    key_space = 100
    max_successors = 2
    symmetric = True
    undirected = True

    def starts(self):
        return np.array([7], dtype=np.uint64)

    def canonical(self, keys):
        return np.minimum(keys, np.uint64(99) - keys)

    def orbit_size(self, keys):
        return np.full(len(keys), 2)

    def plain_successors(self, keys, out):
        around = [keys + np.uint64(1), keys - np.uint64(1)]
        children = np.concatenate([part[part < 100] for part in around])
        out[: len(children)] = children
        return len(children)

    def successors(self, keys, out):
        count = self.plain_successors(keys, out)
        out[:count] = self.canonical(out[:count])
        return count


class ForgetfulQuotient(Quotient):
    def successors(self, keys, out):
        return self.plain_successors(keys, out)


@pytest.mark.filterwarnings("ignore:overflow encountered")
class TestSymmetry:
    def test_a_quotient(self):
        report = checks.check(adapt(Quotient()), 1000)
        assert report.ok, report.to_text()
        assert report.states == 50

    def test_a_quotient_that_forgets_to_canonicalise(self):
        broken = [c for c in checks.check(adapt(ForgetfulQuotient()), 1000).checks if c.ok is False]
        assert broken[0].name == "symmetry"
        assert "is not canonical" in broken[0].detail
