"""Forecasts against arithmetic by hand and against what a search then really did; refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import extbfs
from extbfs import calibrate, forecast
from extbfs.api import Limits
from extbfs.cli import main
from extbfs.errors import LimitError, RunExists
from extbfs.forecast import Needs, Rates, extend, predict, total
from puzzles.registry import resolve
from tests.extbfs.samples import COUNTS

ROOT = Path(__file__).resolve().parents[2]

RATES = Rates(
    seconds=1e-6,
    bytes=2.0,
    routed=0.5,
    record_bytes=4,
    pool=1000,
    overhead=0.001,
    base=100,
    disk=1e6,
)


class TestCounts:
    def test_a_table_that_begins_as_the_search_did_is_taken(self):
        assert extend([1, 2, 4], [1, 2, 4, 8, 3], 99, None) == ([1, 2, 4, 8, 3], "table", None)
        assert extend([1, 2], [1, 2, 4, 8, 3], 99, 3)[0] == [1, 2, 4, 8]

    def test_a_table_that_does_not_is_not(self):
        counts, source, _ = extend([1, 2, 5], [1, 2, 4, 8, 3], 99, 3)
        assert (counts[:3], source) == ([1, 2, 5], "growth")

    def test_growth_is_the_mean_of_the_last_steps(self):
        counts, source, growth = extend([1, 1, 1, 2, 4, 8, 16], None, 10**6, 9)
        assert source == "growth"
        assert growth == pytest.approx(2.0)
        assert counts == [1, 1, 1, 2, 4, 8, 16, 32, 64, 128]

    def test_depths_that_take_turns_do_not_mislead(self):
        counts, _, growth = extend([1, 2, 10, 20, 100, 200, 1000, 2000], None, 10**9, 9)
        assert growth == pytest.approx(10**0.5)
        assert counts[9] == pytest.approx(20000, rel=0.01)

    def test_no_more_states_than_keys(self):
        counts, _, _ = extend([1, 2, 4, 8], None, 100, None)
        assert sum(counts) == 100

    def test_a_search_that_shrinks_ends(self):
        counts, _, _ = extend([1, 64, 32, 16, 8, 4], None, 10**9, None)
        assert counts[-3:] == [4, 2, 1]

    @pytest.mark.parametrize("counts", [[1], [3, 3, 3]])
    def test_what_does_not_grow_ends_somewhere(self, counts):
        assert len(extend(counts, None, 2**63, None)[0]) <= forecast.MOST_DEPTHS + 1
        assert len(extend(counts, None, 2**63, 7)[0]) == 8


class TestFigures:
    def rows(self, counts, keep="all", history=(2,), measured=()):
        return predict(counts, measured, RATES, Needs(keep, history))

    def test_by_hand(self):
        small, large = self.rows([100, 10_000])
        assert (small["bytes"], small["spilled"], small["seconds"]) == (200, 0, 0.001)
        # 10,000 states: 20,000 bytes, and 5,000 children of 4 bytes, past the pool of 1,000 bytes;
        # the disk takes 40 ms for both, the computing 10 ms
        assert (large["bytes"], large["spilled"]) == (20_000, 20_000)
        assert large["seconds"] == pytest.approx(0.04)
        assert large["peak_disk"] == 200 + 20_000 + 20_000 + 100
        whole = total([small, large])
        assert (whole["states"], whole["bytes"], whole["written"]) == (10_100, 20_200, 40_200)
        assert whole["peak_disk"] == large["peak_disk"]

    @pytest.mark.parametrize(
        ("keep", "history", "layers"),
        [
            ("all", (), 15),
            ("all", (2,), 15),
            ("frontier", (), 8 + 4),
            ("frontier", (2,), 8 + 4 + 2),
            ("frontier", (2, 1), 8 + 4 + 2),
            ("all", None, 15 + 15),
            ("frontier", None, 15 + 8),
        ],
    )
    def test_which_layers_lie_on_disk_at_once(self, keep, history, layers):
        last = self.rows([1, 2, 4, 8], keep, history)[-1]
        assert last["peak_disk"] == 2 * layers + 100

    def test_what_was_measured_stays(self):
        row = {"states": 1, "bytes": 108, "seconds": 0.5, "spilled": 7}
        first, second = self.rows([1, 2], measured=[row])
        assert (first["bytes"], first["seconds"], first["spilled"]) == (108, 0.5, 7)
        assert (first["counted"], second["counted"]) == (True, False)


@pytest.fixture(scope="module", params=[("set", "all"), ("fibre", "all"), ("fibre", "frontier")])
def searched(request, tmp_path_factory):
    """A measurement of the 11-puzzle to depth 25, and the run that then went to depth 29."""
    algebra, keep = request.param
    place = tmp_path_factory.mktemp("forecast")
    puzzle = resolve("tiles:3x4")
    measured = calibrate.measure(
        puzzle,
        str(place / "run"),
        Limits(memory="2GiB", max_depth=25),
        keep=keep,
        exhaust=False,
        algebra=algebra,
        tell=print,
    )
    assert os.listdir(place) == []
    extbfs.start(puzzle, place / "run", max_depth=29, keep=keep, memory="2GiB", algebra=algebra)
    return measured, extbfs.open_run(place / "run").status()


class TestAgainstTheSearch:
    def test_from_a_table(self, searched):
        measured, status = searched
        known = resolve("tiles:3x4").known_counts()
        counts = [row["states"] for row in measured.rows]
        counts, source, _ = extend(counts, known, 239_500_800, 29)
        rows = predict(counts, measured.rows, measured.rates, measured.needs)
        assert source == "table"
        assert [row["states"] for row in rows] == [row["states"] for row in status["depths"]]
        for row, really in zip(rows[26:], status["depths"][26:], strict=True):
            assert row["bytes"] == pytest.approx(really["bytes"], rel=0.3)
        found = total(rows)
        assert found["peak_disk"] == pytest.approx(status["disk"]["peak"], rel=0.4)
        assert found["seconds"] > 0

    def test_from_growth(self, searched):
        measured, status = searched
        counts = [row["states"] for row in measured.rows]
        counts, source, _ = extend(counts, None, 239_500_800, 27)
        assert source == "growth"
        really = status["depths"][27]["states"]
        assert really < counts[27] < 1.5 * really  # growth falls: rather too much


class TestRefusal:
    def test_what_cannot_fit_is_refused_before_anything_is_written(self, tmp_path):
        with pytest.raises(LimitError, match=r"at least 2\.38 TiB .* and 5\.00 GiB is what --disk"):
            extbfs.start("tiles:4x4", tmp_path / "R", disk="5GiB")
        assert os.listdir(tmp_path) == []

    def test_exit_code_and_sentence(self, tmp_path, capsys):
        argv = ["start", "tiles:3x4", str(tmp_path / "R"), "--disk", "40MiB"]
        assert main(argv) == 2
        said = capsys.readouterr().err
        assert "needs at least 57.1 MiB" in said
        assert "--keep frontier or --force" in said
        assert os.listdir(tmp_path) == []

    def test_force_starts_all_the_same(self, tmp_path):
        outcome = extbfs.start("tiles:3x4", tmp_path / "R", disk="4MiB", force=True)
        assert (outcome.reason, outcome.exit_code) == ("disk-limit", 3)

    def test_a_search_that_may_end_early_is_not_refused(self, tmp_path):
        outcome = extbfs.start("tiles:3x4", tmp_path / "R", disk="4MiB", max_seconds=0.2)
        assert outcome.reason in ("max-seconds", "disk-limit")
        start = "1 2 3 4 5 6 7 8 9 10 0 11"
        outcome = extbfs.start("tiles:3x4", tmp_path / "S", disk="4MiB", start=start, goal="last")
        assert (outcome.reason, outcome.depth) == ("goal", 1)

    def test_an_old_run_is_refused_first_and_stays(self, tmp_path):
        extbfs.start("tiles:2x2", tmp_path / "R")
        before = sorted(os.listdir(tmp_path / "R"))
        with pytest.raises(RunExists):
            extbfs.start("tiles:4x4", tmp_path / "R", disk="5GiB")
        assert sorted(os.listdir(tmp_path / "R")) == before

    @pytest.mark.parametrize("board", ["2x4", "3x3"])
    @pytest.mark.parametrize(
        ("metric", "algebra"), [("single", "set"), ("single", "fibre"), ("multi", "set")]
    )
    def test_nothing_that_would_fit_is_refused(self, board, metric, algebra, tmp_path):
        puzzle = resolve(f"tiles:{board}", metric=metric)
        extbfs.start(puzzle, tmp_path / "R", algebra=algebra)
        sizes = [row["bytes"] for row in extbfs.open_run(tmp_path / "R").depths]
        known = puzzle.known_counts()
        assert known is not None
        for depth in range(len(known)):
            counts = known[: depth + 1]
            assert forecast.least_disk(counts, "all") <= sum(sizes[: depth + 1])
            pair = max(a + b for a, b in zip([0, *sizes[:depth]], sizes, strict=False))
            assert forecast.least_disk(counts, "frontier") <= pair


@pytest.fixture
def hasty(monkeypatch):
    """Measurements of a fraction of a second."""
    monkeypatch.setattr(calibrate, "SECONDS", 0.3)
    monkeypatch.setattr(calibrate, "LARGEST_WRITE", 1 << 20)


@pytest.mark.usefixtures("hasty")
class TestDryRun:
    def report(self, capsys, *argv: str):
        assert main([*argv, "--dry-run", "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    def test_a_search_that_is_done_within_the_measurement(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr(calibrate, "SECONDS", 60)
        data = self.report(capsys, "start", "tiles:3x3", str(tmp_path / "R"))
        assert [row["states"] for row in data["depths"]] == COUNTS
        assert data["counts"]["from"] == "search"
        assert data["disk"]["fits"]
        assert os.listdir(tmp_path) == []

    def test_the_fifteen_puzzle(self, tmp_path, capsys):
        run = tmp_path / "R"
        data = self.report(capsys, "start", "tiles:4x4", str(run), "--memory", "2GiB")
        assert data["counts"]["from"] == "table"
        assert data["total"]["states"] == 10461394944000  # 16!/2
        assert data["total"]["depth"] == 80
        keys = {"depth", "states", "cumulative", "seconds", "bytes", "spilled", "written"}
        assert keys | {"peak_disk", "counted"} == set(data["depths"][80])
        counted = [row["counted"] for row in data["depths"]]
        assert counted[0]
        assert not counted[-1]
        assert data["memory"] == {"limit": 2 << 30, "threads": data["memory"]["threads"]} | {
            "expected": data["memory"]["expected"]
        }
        assert 0 < data["memory"]["expected"] <= 2 << 30
        assert data["measured"]["states_per_second"] > 0
        assert data["measured"]["disk_bytes_per_second"] > 0
        stops = data["disk"]["stops_at_depth"]
        assert data["disk"]["fits"] == (stops is None)
        if stops is not None:
            assert data["depths"][stops]["peak_disk"] > data["disk"]["available"]
        assert os.listdir(tmp_path) == []

    def test_a_puzzle_that_nobody_has_counted(self, tmp_path, capsys):
        argv = ["start", "tiles:4x5", str(tmp_path / "R"), "--memory", "2GiB"]
        data = self.report(capsys, *argv, "--max-depth", "40")
        assert data["counts"]["from"] == "growth"
        assert data["counts"]["growth"] > 1
        assert data["total"]["depth"] == 40
        assert main([*argv, "--max-depth", "40", "--dry-run"]) == 0
        out = capsys.readouterr().out
        assert "an estimate from there to depth 40" in out
        assert "~" in out.splitlines()[-1] or "the disk would be full" in out.splitlines()[-1]

    def test_a_small_disk_is_told_and_not_an_error(self, tmp_path, capsys):
        argv = ["start", "tiles:3x4", str(tmp_path / "R"), "--disk", "20MiB", "--memory", "2GiB"]
        data = self.report(capsys, *argv)
        assert not data["disk"]["fits"]
        assert data["disk"]["available"] == 20 << 20

    def test_a_run_directory_that_exists_stays_as_it_is(self, tmp_path, capsys):
        run = tmp_path / "R"
        run.mkdir()
        self.report(capsys, "start", "tiles:2x2", str(run))
        assert os.listdir(run) == []
        assert os.listdir(tmp_path) == ["R"]

    def test_force_deletes_nothing(self, tmp_path, capsys):
        run = tmp_path / "R"
        extbfs.start("tiles:2x2", run)
        before = sorted(os.listdir(run))
        self.report(capsys, "start", "tiles:3x3", str(run), "--force")
        assert sorted(os.listdir(run)) == before

    def test_limits_that_cannot_work_are_refused_as_by_start(self, tmp_path, capsys):
        argv = ["start", "tiles:3x3", str(tmp_path / "R"), "--memory", "1MiB", "--dry-run"]
        assert main(argv) == 2
        assert "--memory 1.00 MiB cannot work" in capsys.readouterr().err
        assert os.listdir(tmp_path) == []

    def test_what_a_killed_dry_run_left_is_deleted_by_the_next(self, tmp_path, capsys):
        done = subprocess.Popen([sys.executable, "-c", ""])
        done.wait()
        mine = tmp_path / f"{calibrate.PREFIX}{os.getpid()}-y"
        for path in (mine, tmp_path / f"{calibrate.PREFIX}{done.pid}-x"):
            path.mkdir()
            (path / "file").touch()
        self.report(capsys, "start", "tiles:2x2", str(tmp_path / "R"))
        assert os.listdir(tmp_path) == [mine.name]


@pytest.mark.parametrize(
    ("number", "later"), [(signal.SIGINT, 0.0), (signal.SIGTERM, 0.7), (signal.SIGHUP, 0.3)]
)
def test_an_interrupted_dry_run_leaves_nothing(number, later, tmp_path):
    argv = ["start", "tiles:4x4", str(tmp_path / "R"), "--memory", "1GiB", "--dry-run"]
    process = subprocess.Popen(
        [sys.executable, "-m", "extbfs", *argv], stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("searching"):
            break
    time.sleep(later)
    process.send_signal(number)
    said = process.stderr.read()
    assert process.wait() == 128 + number
    assert "nothing was left behind" in said
    assert os.listdir(tmp_path) == []
