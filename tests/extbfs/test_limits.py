"""Limits that stop a search or cannot work, and directories and puzzles that are not right."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import extbfs
from extbfs.engine import budget
from extbfs.errors import LimitError, PuzzleChanged, RunExists, UsageError
from extbfs.sizes import SizeError
from puzzles.registry import resolve
from store.errors import IntegrityError, NotARun
from tests import oracle, sandbox
from tests.extbfs.runs import assert_sound, counts, resume, search
from tests.extbfs.tight import Tight
from tests.fakes.graphs import Graph, bundle, random_graph
from tests.fakes.pancakes import Pancakes

TILES = resolve("tiles:2x4")
MIB = 1 << 20


class TestDisk:
    @pytest.mark.parametrize("name", ["undirected", "directed", "tiny range"])
    @pytest.mark.parametrize("keep", ["all", "frontier"])
    def test_stopped_at_the_limit_again_and_again(self, tmp_path, monkeypatch, name, keep):
        puzzle: Any = {
            "undirected": random_graph(3, 9000, 2, undirected=True, key_space=2**63),
            "directed": random_graph(3, 9000, 2, undirected=False, key_space=2**63),
            "tiny range": bundle(90, 5, 2**60),
        }[name]
        Tight(inline=0, arrivals=128).install(monkeypatch)
        run = tmp_path / "run"
        used = self.least(puzzle, run, keep)
        stops = 0
        limit = used
        outcome = resume(run, puzzle, max_depth=float("inf"), disk=limit)
        while outcome.reason == "disk-limit":
            stops += 1
            assert outcome.exit_code == 3
            assert "extbfs resume" in outcome.sentence
            with extbfs.open_run(run) as opened:
                assert opened.verify()["ok"]
                status = opened.status()
            assert (status["state"], status["reason"]) == ("stopped", "disk-limit")
            assert counts(run) == oracle.counts(puzzle)[: len(counts(run))]
            limit += 20_000
            outcome = resume(run, puzzle, disk=limit)
        assert outcome.reason == "exhausted"
        assert counts(run) == oracle.counts(puzzle)
        assert_sound(run)
        assert stops

    def least(self, puzzle: Any, run: Path, keep: str) -> int:
        """Start the run, and measure what it takes before there is anything in it."""
        search(puzzle, run, max_depth=0, keep=keep)
        return max(MIB, int(extbfs.open_run(run).status()["disk"]["used"]))

    def test_the_limit_is_kept(self, tmp_path, monkeypatch):
        Tight(inline=0).install(monkeypatch)
        run = tmp_path / "run"
        limit = self.least(TILES, run, "all") + 40_000
        resume(run, max_depth=float("inf"), disk=limit)
        files = [Path(root) / name for root, _, found in os.walk(run) for name in found]
        data = [f for f in files if f.parent.name in ("layers", "spill")]
        assert sum(f.stat().st_size for f in data) <= limit - MIB


class TestCannotWork:
    @pytest.mark.parametrize(
        ("options", "error", "says"),
        [
            ({"memory": "10MiB"}, LimitError, r"at least \d+.* is needed"),
            ({"memory": "9999TiB"}, LimitError, "more than the"),
            ({"disk": "1KiB"}, LimitError, "--disk"),
            ({"memory": "a lot"}, SizeError, "--memory"),
            ({"threads": 0}, UsageError, "--threads"),
            ({"max_depth": -1}, UsageError, "--max-depth"),
            ({"max_seconds": 0}, UsageError, "--max-seconds"),
            ({"checkpoint": 0}, UsageError, "--checkpoint"),
            ({"keep": "some"}, UsageError, "--keep"),
        ],
    )
    def test_refused_before_anything_is_written(self, tmp_path, options, error, says):
        run = tmp_path / "run"
        with pytest.raises(error, match=says) as caught:
            search(TILES, run, **options)
        assert caught.value.exit_code == 2
        assert "\n" not in str(caught.value)
        assert not (run / "catalogue").exists()
        search(TILES, run)

    def test_the_least_memory_that_is_named_does_work(self, tmp_path):
        plan = budget.plan_memory
        with pytest.raises(LimitError) as caught:
            plan(1, 2, 4, 100 * MIB)
        least = int(str(caught.value).split("at least ")[1].split(" MiB")[0]) * MIB
        assert plan(least, 2, 4, 100 * MIB).limit == least
        with pytest.raises(LimitError):
            plan(least - MIB, 2, 4, 100 * MIB)

    @pytest.mark.parametrize("threads", [1, 2, 16])
    @pytest.mark.parametrize("worst", [1, 4, 19, 5000])
    def test_shares_add_up_to_the_limit(self, threads, worst):
        for limit in (1 << 36, 1 << 38):
            plan = budget.plan_memory(limit, threads, worst, 100 * MIB)
            worker = plan.pool + plan.arrivals * 16 + plan.slice_keys * worst * 8
            assert threads * worker + plan.baseline <= limit
            assert plan.piece_keys >= plan.slice_keys

    def test_a_limit_on_resume_changes_nothing(self, tmp_path):
        run = tmp_path / "run"
        search(TILES, run, max_depth=5)
        with pytest.raises(LimitError):
            resume(run, memory="10MiB", max_depth=9)
        assert counts(run) == oracle.counts(TILES)[:6]
        resume(run, max_depth=float("inf"))
        assert counts(run) == oracle.counts(TILES)
        assert_sound(run)


class TestDirectories:
    def test_not_empty(self, tmp_path):
        (tmp_path / "mine").write_text("precious")
        with pytest.raises(RunExists, match="not empty"):
            search(TILES, tmp_path)
        with pytest.raises(RunExists, match="mine"):
            search(TILES, tmp_path, force=True)
        assert (tmp_path / "mine").read_text() == "precious"

    def test_a_file(self, tmp_path):
        (tmp_path / "run").write_text("")
        with pytest.raises(RunExists, match="is a file"):
            search(TILES, tmp_path / "run")

    def test_force_replaces_a_run(self, tmp_path):
        run = tmp_path / "run"
        search(Pancakes(6), run)
        with pytest.raises(RunExists):
            search(TILES, run)
        search(TILES, run, force=True)
        assert counts(run) == oracle.counts(TILES)
        assert_sound(run)

    @pytest.mark.parametrize("what", ["missing", "empty", "file"])
    def test_resume_of_what_is_no_run(self, tmp_path, what):
        path = tmp_path / "run"
        if what == "empty":
            path.mkdir()
        if what == "file":
            path.write_text("")
        with pytest.raises(NotARun) as caught:
            resume(path)
        assert caught.value.exit_code == 10
        assert path.exists() == (what != "missing")

    def test_where_nothing_can_be_written(self):
        with sandbox.open_directory() as directory:
            said = sandbox.run_read_only(directory, START, str(directory / "run"))
        assert said.splitlines() == ["NoPermission 1"]


START = """
import sys
import extbfs
try:
    extbfs.start("tiles:2x2", sys.argv[1])
except Exception as error:
    print(type(error).__name__, error.exit_code)
"""


class TestPuzzleChanged:
    @pytest.mark.parametrize(
        "moves",
        [{0: [1], 1: [0, 2], 2: [1, 0]}, {0: [1], 1: [0], 2: [1]}, {0: [2], 1: [0, 2], 2: [1]}],
    )
    def test_other_moves(self, tmp_path, moves):
        graph = Graph({0: [1], 1: [0, 2], 2: [1]}, [0], undirected=True)
        other = Graph(moves, [0], undirected=True)
        search(graph, tmp_path / "run", max_depth=1)
        with pytest.raises(PuzzleChanged) as caught:
            resume(tmp_path / "run", other)
        assert caught.value.exit_code == 22
        assert resume(tmp_path / "run", graph, max_depth=9).states == 3

    def test_a_smaller_key_space(self, tmp_path):
        graph = Graph({0: [9], 9: [0]}, [0], undirected=True)
        search(graph, tmp_path / "run", max_depth=0)
        other = Graph({0: [1], 1: [0]}, [0], undirected=True)
        with pytest.raises(PuzzleChanged):
            resume(tmp_path / "run", other)


class TestDamage:
    """A damaged, short or missing file ends a resume and is found by verify, by name."""

    @pytest.fixture
    def run(self, tmp_path, monkeypatch):
        # no zeros between runs, which nobody reads or misses
        Tight(inline=0, page_cache=1 << 40).install(monkeypatch)
        search(TILES, tmp_path / "run", max_depth=20, algebra="set")
        return tmp_path / "run"

    @pytest.mark.parametrize("depth", [19, 20])
    def test_a_flipped_byte_in_a_layer_that_is_needed(self, run, depth):
        name = f"d{depth:05d}-0000.keys"
        path = run / "layers" / name
        whole = path.read_bytes()
        for at in range(8, len(whole), max(1, len(whole) // 12)):
            damaged = bytearray(whole)
            damaged[at] ^= 0x10
            path.write_bytes(damaged)
            with pytest.raises(IntegrityError) as caught:
                resume(run, max_depth=float("inf"))
            assert caught.value.exit_code == 21
            assert name in caught.value.file
            assert caught.value.block is not None
            with extbfs.open_run(run) as opened:
                problems = opened.verify()["problems"]
            assert any(name in problem["file"] for problem in problems)
        path.write_bytes(whole)
        resume(run, max_depth=float("inf"))
        assert counts(run) == oracle.counts(TILES)
        assert_sound(run)

    @pytest.mark.parametrize("harm", ["missing", "short", "empty"])
    @pytest.mark.parametrize("depth", [7, 20])
    def test_a_missing_or_short_file(self, run, harm, depth):
        path = run / "layers" / f"d{depth:05d}-0000.keys"
        whole = path.read_bytes()
        path.write_bytes({"short": whole[:-1], "empty": b"", "missing": b""}[harm])
        if harm == "missing":
            path.unlink()
        with pytest.raises(IntegrityError, match=path.name) as caught:
            resume(run, max_depth=float("inf"))
        assert caught.value.exit_code == 21
        with extbfs.open_run(run) as opened:
            for quick in (True, False):
                problems = opened.verify(quick=quick)["problems"]
                assert any(path.name in problem["file"] for problem in problems)
        path.write_bytes(whole)
        assert resume(run, max_depth=float("inf")).reason == "exhausted"

    def test_two_layer_files_exchanged(self, run):
        a, b = (run / "layers" / f"d{depth:05d}-0000.keys" for depth in (19, 20))
        a.rename(run / "aside")
        b.rename(a)
        (run / "aside").rename(b)
        with pytest.raises(IntegrityError):
            resume(run, max_depth=float("inf"))
        assert not extbfs.open_run(run).verify()["ok"]

    def test_what_nobody_named_is_deleted(self, run):
        orphans = ["layers/d00021-0000.keys", "layers/v00003-0000.keys", "spill/d00021-0000.spill"]
        orphans += ["spill/x00000-0003.scratch", "status.json.tmp"]
        for name in orphans:
            (run / name).write_bytes(b"garbage")
        longer = run / "layers" / "d00020-0000.keys"
        with longer.open("ab") as file:
            file.write(b"not recorded")
        resume(run, max_depth=float("inf"))
        assert counts(run) == oracle.counts(TILES)
        assert_sound(run)

    def test_a_foreign_file_is_neither_deleted_nor_passed_over(self, run):
        (run / "layers" / "holiday.jpg").write_bytes(b"precious")
        with pytest.raises(IntegrityError, match="holiday"):
            resume(run, max_depth=float("inf"))
        assert (run / "layers" / "holiday.jpg").exists()

    def test_the_journal_and_the_status_may_be_lost(self, run):
        (run / "log.jsonl").unlink()
        (run / "status.json").write_bytes(b"{")
        resume(run, max_depth=float("inf"))
        assert counts(run) == oracle.counts(TILES)
        assert json.loads((run / "log.jsonl").read_text().splitlines()[0])["event"] == "resume"
