"""A search of a library puzzle that finds something else than is known of it ends in an error."""

from __future__ import annotations

import json
from typing import Any

import pytest

import extbfs
from extbfs.cli import main
from extbfs.engine.known import KnownResultDiffers, compare_with_known
from puzzles.blocks import index
from puzzles.contract import BasePuzzle
from puzzles.registry import resolve
from store.errors import IntegrityError

TABLES = sorted((index.DIRECTORY / "tables").glob("*.json"))


class TestWhatIsKnown:
    def test_of_the_library(self):
        known = resolve("century", symmetry=False).known_result()
        assert known == {"optimum": 131, "eccentricity": 250, "goal_states": 1, "states": 81340}
        assert resolve("sliding-digits", metric="moves").known_result() == {
            "optimum": None,
            "eccentricity": 34,
            "states": 2105172,
        }

    def test_from_a_start_and_its_image_only_the_optimum_is(self):
        assert resolve("century").known_result() == {"optimum": 131}
        klotski = resolve("klotski").known_result()
        assert klotski is not None
        assert klotski["states"] == 25955

    def test_of_a_stored_puzzle(self):
        from puzzles.registry import from_spec

        spec = json.loads(json.dumps(resolve("century", metric="moves").spec))
        assert from_spec(spec).known_result() == {"optimum": 99}

    def test_nothing_once_start_or_goal_is_another(self, tmp_path):
        start = "re . ye . / re re ye ye / bl bl gr . / . . gr ."
        assert resolve("simplicity", start=start).known_result() is None
        goal = ". . . . / . . . . / . . re . / . . re re"
        assert resolve("simplicity", goal=goal).known_result() is None
        drawing = tmp_path / "simplicity.txt"
        drawing.write_text("ab.\n\n.ab\n")
        assert resolve(str(drawing)).known_result() is None
        assert resolve("tiles:3x3").known_result() is None

    def test_a_file_with_the_very_puzzle(self, tmp_path):
        file = tmp_path / "simplicity.xml"
        file.write_bytes(index.read("simplicity"))
        assert resolve(str(file)).known_result() == resolve("simplicity").known_result()


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_a_kept_table_is_that_of_its_puzzle(path):
    name, metric = path.stem.split(".")
    entry, table = index.index()[name], index.table(name, metric)
    assert table is not None
    assert table["counts"][0] == 1
    assert min(table["counts"]) >= 1
    assert sum(table["counts"]) == entry["states"]
    assert len(table["counts"]) - 1 == entry[metric]["eccentricity"]
    for canonical, states in zip(table.get("canonical", ()), table["counts"], strict=False):
        assert canonical <= states <= 4 * canonical


# What could be wrong of simplicity in steps: 161 states, 31 to the goal, 46 to the farthest.
LIES: list[tuple[str, Any, bool, str]] = [
    ("optimum", 30, False, "the goal is at depth 31 and not 30"),
    ("optimum", 32, False, "the goal is at depth 31 and not 32"),
    ("optimum", None, False, "the goal is at depth 31 and not None"),
    ("goal_states", 2, False, "the goal states there are 1 and not 2"),
    ("states", 162, True, "the states are 161 and not 162"),
    ("eccentricity", 47, True, "the last depth is 46 and not 47"),
    ("counts", [1, 2, 4], False, "the states at depth 2 are 3 and not 4"),
    ("counts", [1, 2], False, "the last depth is 31 and not 1"),
]


class TestSearches:
    @pytest.fixture
    def lie(self, monkeypatch):
        """Makes the library know something else."""

        def tell(what: str, value: Any) -> None:
            entry = dict(index.index()["simplicity"])
            if what == "counts":
                monkeypatch.setattr(index, "table", lambda name, metric: {"counts": value})
            elif what == "states":
                entry["states"] = value
            elif what == "optimum" and value is None:
                entry["solvable"] = False
            else:
                entry["steps"] = {**entry["steps"], what: value}
            monkeypatch.setitem(index.index(), "simplicity", entry)

        return tell

    @pytest.mark.parametrize(("what", "value", "exhaust", "message"), LIES)
    def test_another_result(self, lie, tmp_path, what, value, exhaust, message):
        lie(what, value)
        with pytest.raises(KnownResultDiffers, match=message) as caught:
            extbfs.start("simplicity", tmp_path / "run", exhaust=exhaust)
        assert "the known result of simplicity" in str(caught.value)
        assert isinstance(caught.value, IntegrityError)
        with extbfs.open_run(tmp_path / "run") as run:
            assert run.status()["state"] == "failed"
        with pytest.raises(KnownResultDiffers):
            extbfs.resume(tmp_path / "run")

    def test_in_a_sentence_with_the_code_of_damage(self, lie, tmp_path, capsys):
        lie("optimum", 30)
        assert main(["start", "simplicity", str(tmp_path / "run")]) == 21
        assert capsys.readouterr().err.splitlines()[-1] == (
            "extbfs: the goal is at depth 31 and not 30: the search differs from the known result"
            " of simplicity, so one of them is wrong"
        )

    def test_a_search_that_was_stopped_agrees_so_far(self, lie, tmp_path):
        lie("counts", [1, 2, 3, 3, 99])
        extbfs.start("simplicity", tmp_path / "run", max_depth=3)
        with pytest.raises(KnownResultDiffers, match="at depth 4"):
            extbfs.resume(tmp_path / "run", max_depth=4)

    def test_past_the_optimum(self, lie, tmp_path):
        lie("optimum", 7)
        extbfs.start("simplicity", tmp_path / "run", max_depth=6)
        with pytest.raises(KnownResultDiffers, match="the goal is at depth None and not 7"):
            extbfs.resume(tmp_path / "run", max_depth=7)


class Knowing(BasePuzzle):
    name = "knowing"

    def __init__(self, **known):
        self._known = known

    def known_result(self):
        return self._known


def rows(*states: int, goal: int | None = None) -> list[dict[str, Any]]:
    return [
        {"depth": d, "states": n, "cumulative": sum(states[: d + 1]), "canonical": (n + 1) // 2}
        | ({"goals": 1} if d == goal else {"goals": 0})
        for d, n in enumerate(states)
    ]


class TestComparison:
    def test_canonical_counts(self):
        known = Knowing(counts=[1, 4, 3], canonical=[1, 2, 2])
        compare_with_known(known, rows(1, 4, 3), exhausted=True)
        compare_with_known(known, rows(1, 4), exhausted=False)
        with pytest.raises(KnownResultDiffers, match="the canonical states at depth 2 are 2 and"):
            compare_with_known(Knowing(canonical=[1, 2, 3]), rows(1, 4, 3), exhausted=True)
        with pytest.raises(KnownResultDiffers, match="the last depth is 1 and not 2"):
            compare_with_known(known, rows(1, 4), exhausted=True)

    def test_no_solution(self):
        compare_with_known(Knowing(optimum=None), rows(1, 4), exhausted=True)
        with pytest.raises(KnownResultDiffers, match="the goal is at depth 1 and not None"):
            compare_with_known(Knowing(optimum=None), rows(1, 4, goal=1), exhausted=True)
        with pytest.raises(KnownResultDiffers, match="the goal is at depth None and not 5"):
            compare_with_known(Knowing(optimum=5), rows(1, 4), exhausted=True)

    def test_nothing_to_compare(self):
        compare_with_known(Knowing(), rows(1, 4), exhausted=True)
        compare_with_known(Knowing(optimum=1), [], exhausted=False)
