"""A fibre that is false is found out before a search begins, whatever is false about it."""

from __future__ import annotations

import pytest

from puzzles.adapter import adapt
from puzzles.check import check, quick_check
from puzzles.errors import PuzzleError
from puzzles.registry import resolve
from tests.fakes import pancakes
from tests.fakes.tokens import LIES, Edge, Tokens, lying, random_tokens


@pytest.mark.parametrize("seed", range(12))
def test_a_true_fibre_passes(seed):
    puzzle = adapt(random_tokens(seed))
    quick_check(puzzle)
    assert check(puzzle).ok


@pytest.mark.parametrize("size", ["2x2", "3x3", "4x4", "1x6", "2x7"])
def test_the_fibre_of_tiles_passes(size):
    report = check(resolve(f"tiles:{size}"), 2000)
    (found,) = [one for one in report.checks if one.name == "fibre"]
    assert found.ok is True
    assert "moves" in found.detail


def test_without_a_fibre_nothing_is_promised():
    report = check(adapt(pancakes.Pancakes(4)))
    (found,) = [one for one in report.checks if one.name == "fibre"]
    assert found.ok is None


@pytest.mark.parametrize("lie", LIES)
def test_a_false_fibre_is_refused(lie):
    with pytest.raises(PuzzleError, match=r"\(fibre\)") as error:
        quick_check(adapt(lying(lie)))
    assert "\n" not in str(error.value)


def test_what_does_not_fit_a_record_is_refused():
    many = [(a, a) for a in range(11)]
    with pytest.raises(PuzzleError, match="at most 10 places"):
        quick_check(adapt(Tokens(6, (11, 11), many, [])))
    with pytest.raises(PuzzleError, match="17 edges, at most 16"):
        quick_check(adapt(Tokens(6, (2, 2), [(0, 0)], [Edge(0, 1, 6)] * 17)))
    with pytest.raises(PuzzleError, match="36 bits, at most 32"):
        quick_check(adapt(Tokens(6, (10, 10), [(0, 0)], [Edge(0, 0, 6)] * 16)))
    with pytest.raises(PuzzleError, match="key_space is 1152921504606846976"):
        quick_check(adapt(Tokens(2**60, (2, 2), [(0, 0)], [])))
