"""Names, specs and users' objects: what resolves, what is refused, and what is never imported."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from puzzles import registry
from puzzles.contract import BasePuzzle, Puzzle, adapt
from puzzles.errors import PuzzleError

ROOT = Path(__file__).parents[2]
JUGS = "tests.fakes.jugs:puzzle"


class TestResolve:
    def test_a_library_name(self):
        assert registry.resolve("15-puzzle").spec == registry.resolve("tiles:4x4").spec

    def test_every_library_entry_resolves(self):
        for entry in registry.library():
            assert isinstance(registry.resolve(entry.name), Puzzle)

    def test_options_reach_the_family(self):
        puzzle = registry.resolve(
            "8-puzzle", start="1 2 3 4 5 6 7 0 8", goal="last", metric="multi"
        )
        assert (puzzle.has_goal, puzzle.metric) == (True, "multi")

    def test_a_python_object(self):
        puzzle = registry.resolve(JUGS)
        assert puzzle.spec == {"family": "python", "object": JUGS}
        assert (puzzle.has_goal, puzzle.undirected) == (True, False)
        assert registry.resolve(f"python:{JUGS}").spec == puzzle.spec

    def test_a_class_is_called(self):
        assert registry.resolve("tests.fakes.jugs:Jugs").key_space == 54

    def test_a_module_in_the_current_directory(self, tmp_path, monkeypatch):
        (tmp_path / "my_own_ring.py").write_text("from tests.fakes.walks import ring as mine\n")
        monkeypatch.chdir(tmp_path)
        assert registry.resolve("my_own_ring:mine").key_space == 1000
        assert "" not in sys.path

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("nonsense", "neither a puzzle of the library"),
            ("", "neither a puzzle of the library"),
            ("tiles", "write tiles:ROWSxCOLUMNS"),
            ("hexagons:4", "neither a puzzle of the library"),
            ("no.such.module:thing", "there is no module 'no'"),
            ("tests.fakes.jugs:teapot", "has no 'teapot'"),
            ("tests.fakes.pancakes:Pancakes", "did not make a puzzle"),
            ("math:pi", "has no key_space"),
        ],
    )
    def test_refusals(self, text, message):
        with pytest.raises(PuzzleError, match=message) as caught:
            registry.resolve(text)
        assert "\n" not in str(caught.value)

    def test_a_file_nobody_reads(self, tmp_path):
        path = tmp_path / "board.odt"
        path.write_text("1 2 3")
        with pytest.raises(PuzzleError, match="a file that no puzzle family reads"):
            registry.resolve(str(path))

    def test_a_module_that_fails_to_import(self, tmp_path, monkeypatch):
        (tmp_path / "my_broken_puzzle.py").write_text("1 / 0\n")
        monkeypatch.chdir(tmp_path)
        with pytest.raises(PuzzleError, match="ZeroDivisionError"):
            registry.resolve("my_broken_puzzle:puzzle")


class TestStartAndGoalOfAPythonPuzzle:
    def test_they_are_read_by_its_encode_and_stored(self):
        puzzle = registry.resolve(JUGS, start="8,0", goal="0,5")
        assert puzzle.starts().tolist() == [48]
        assert puzzle.is_goal(np.array([5, 48], dtype=np.uint64)).tolist() == [True, False]
        again = registry.from_spec(puzzle.spec, allow_import=JUGS)
        assert again.starts().tolist() == [48]
        assert again.has_goal

    def test_an_unknown_metric(self):
        with pytest.raises(PuzzleError, match="cannot be asked for 'litres'"):
            registry.resolve(JUGS, metric="litres")


class TestSpecs:
    def test_a_python_object_is_imported_only_when_named(self):
        spec = {"family": "python", "object": "tests.fakes.must_not_be_imported:puzzle"}
        with pytest.raises(PuzzleError, match=r"add --puzzle tests\.fakes\.must_not_be_imported"):
            registry.from_spec(spec)
        with pytest.raises(PuzzleError, match=f"not {JUGS}"):
            registry.from_spec(spec, allow_import=JUGS)
        assert "tests.fakes.must_not_be_imported" not in sys.modules

    def test_naming_it_rebuilds_it(self):
        spec = registry.resolve(JUGS).spec
        assert registry.from_spec(spec, allow_import=JUGS).key_space == 54

    @pytest.mark.parametrize(
        "spec",
        [
            {},
            {"family": 3},
            {"family": "os:system"},
            {"family": "python"},
            {"family": "python", "object": JUGS, "start": "8,0"},
            {"family": "python", "object": JUGS, "goal": 10**6},
            [],
            None,
        ],
    )
    def test_bad_specs(self, spec):
        with pytest.raises(PuzzleError):
            registry.from_spec(spec, allow_import=JUGS)


class FakeFamily:
    suffixes = (".dots",)

    def from_text(self, parameters, *, start=None, goal=None, metric=None, symmetry=True):
        return adapt(Tiny(), f"dots:{parameters}")

    def from_spec(self, spec):
        return adapt(Tiny(), "dots")

    def from_file(self, path, *, start=None, goal=None, metric=None, symmetry=True):
        return adapt(Tiny(), Path(path).name)


class Tiny:
    key_space = 2
    max_successors = 1

    def starts(self):
        return [0]

    def successors(self, keys, out):
        out[: len(keys)] = np.uint64(1) - keys
        return len(keys)


FAMILY = FakeFamily()


class TestEntryPoints:
    @pytest.fixture(autouse=True)
    def installed(self, monkeypatch):
        entries = [
            metadata.EntryPoint("dots", f"{__name__}:FAMILY", registry.GROUP),
            metadata.EntryPoint("ruined", "no.such.package:FAMILY", registry.GROUP),
            metadata.EntryPoint("tiles", "no.such.package:FAMILY", registry.GROUP),
        ]
        monkeypatch.setattr(metadata, "entry_points", lambda group: entries)

    def test_they_are_listed_without_being_imported(self):
        names = [info.name for info in registry.families()]
        assert names == ["blocks", "dots", "python", "ruined", "tiles"]

    def test_they_resolve(self):
        assert registry.resolve("dots:7").name == "dots:7"
        assert registry.from_spec({"family": "dots"}).name == "dots"

    def test_they_read_files(self, tmp_path, monkeypatch):
        monkeypatch.setattr(
            metadata,
            "entry_points",
            lambda group: [metadata.EntryPoint("dots", f"{__name__}:FAMILY", registry.GROUP)],
        )
        path = tmp_path / "small.dots"
        path.write_text("..")
        assert registry.resolve(str(path)).name == "small.dots"

    def test_one_that_cannot_be_imported_is_an_error_only_when_used(self):
        with pytest.raises(PuzzleError, match=r"ruined is registered as no\.such\.package"):
            registry.resolve("ruined:1")

    def test_none_replaces_a_family_built_in(self):
        assert registry.resolve("tiles:2x2").key_space == 12


class TestAdapter:
    def test_defaults(self):
        puzzle = adapt(Tiny())
        assert isinstance(puzzle, Puzzle)
        assert (puzzle.name, puzzle.metric, puzzle.has_goal) == ("Tiny", "moves", False)
        assert not any((puzzle.undirected, puzzle.bipartite, puzzle.symmetric))
        assert puzzle.starts().dtype == np.uint64
        assert puzzle.encode("1") == puzzle.decode(1) == 1
        assert (puzzle.render(1), puzzle.move(0, 1)) == ("1", "0 -> 1")
        assert puzzle.describe() == "Tiny"
        assert not puzzle.is_goal(np.zeros(2, dtype=np.uint64)).any()
        puzzle.warm()

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"key_space": None}, "has no key_space"),
            ({"key_space": 0}, "key_space is 0"),
            ({"key_space": 2**64}, "key_space is"),
            ({"key_space": 2.0}, "key_space is 2.0"),
            ({"key_space": True}, "key_space is True"),
            ({"max_successors": 0}, "max_successors is 0"),
            ({"undirected": "yes"}, "undirected is 'yes'"),
            ({"starts": None}, r"no method starts\(\)"),
            ({"successors": 3}, r"no method successors\(\)"),
            ({"has_goal": True}, r"no method is_goal\(\)"),
            ({"symmetric": True}, r"no method canonical\(\)"),
        ],
    )
    def test_what_is_missing_or_of_the_wrong_type_is_named(self, changes, message):
        with pytest.raises(PuzzleError, match=message):
            adapt(type("Changed", (Tiny,), changes)())

    @pytest.mark.parametrize("starts", [[], [2], [-1], ["a"], 5, [None]])
    def test_starts_that_are_no_keys(self, starts):
        changed = type("Changed", (Tiny,), {"starts": lambda self: starts})()
        with pytest.raises(PuzzleError):
            adapt(changed).starts()

    def test_starts_are_sorted_and_unique(self):
        changed = type("Changed", (Tiny,), {"starts": lambda self: [1, 0, 1]})()
        assert adapt(changed).starts().tolist() == [0, 1]

    @pytest.mark.parametrize("count", [None, -1, 3, 1.5])
    def test_counts_that_are_none(self, count):
        changed = type("Changed", (Tiny,), {"successors": lambda self, keys, out: count})()
        keys = np.zeros(2, dtype=np.uint64)
        with pytest.raises(PuzzleError, match="should return how many it wrote, at most 2"):
            adapt(changed).successors(keys, keys.copy())

    def test_flags_of_the_wrong_shape(self):
        changed = type("Changed", (Tiny,), {"is_goal": lambda self, keys: keys == 7})
        assert not adapt(changed()).is_goal(np.zeros(2, dtype=np.uint64)).any()
        changed = type("Changed", (Tiny,), {"is_goal": lambda self, keys: True})
        with pytest.raises(PuzzleError, match="should return"):
            adapt(changed()).is_goal(np.zeros(2, dtype=np.uint64))

    def test_keys_by_number(self):
        puzzle = BasePuzzle()
        puzzle.key_space = 10
        assert puzzle.encode("7") == 7
        for text in ("10", "-1", "x", "1.5"):
            with pytest.raises(PuzzleError):
                puzzle.encode(text)


def test_listing_imports_neither_numba_nor_numpy():
    code = (
        "import sys; from puzzles import registry, contract, errors;"
        "registry.families(); registry.library();"
        "sys.exit(any(name in sys.modules for name in ('numba', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
