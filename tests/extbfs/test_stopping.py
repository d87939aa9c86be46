"""Stopped anywhere, by any means, and resumed with other limits: the same counts, nothing twice."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest

import extbfs
from extbfs.engine.board import Board
from extbfs.engine.control import Control
from extbfs.engine.layerfile import LayerFiles
from extbfs.engine.ledger import Ledger
from puzzles.registry import resolve
from store import fs, names
from store.catalogue import Catalogue
from store.errors import IoFailure, StoreError
from store.pages import PAGE
from tests import oracle
from tests.extbfs.runs import assert_sound, counts, events, resume, search
from tests.extbfs.tight import Tight
from tests.fakes.graphs import bundle, random_graph
from tests.faults import Fault, FaultyFileSystem, PowerCut

PUZZLES: dict[str, Any] = {
    "tiles": resolve("tiles:2x4"),
    "directed": random_graph(1, 1500, 2, undirected=False, key_space=2**50),
    "all in one tiny range": bundle(90, 5, 2**60),
}
ALGEBRAS = [("tiles", "set"), ("tiles", "fibre"), ("directed", "set")]
ALGEBRAS += [("all in one tiny range", "set")]
MEMORIES = [
    Tight(),
    Tight(arrivals=64, bucket_arrivals=128, slots=0),
    Tight(pool=1 << 20, arrivals=1 << 16, piece_blocks=8, slice_keys=64),
]
NAMED = {"tiles": None}


@pytest.fixture(scope="module")
def expected() -> dict[str, list[int]]:
    return {name: oracle.counts(puzzle) for name, puzzle in PUZZLES.items()}


class Stopper:
    """Asks every search to stop, as a signal does, when it has looked at it so many times."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.left = 0
        stopper = self

        def go_on(control: Control) -> bool:
            stopper.left -= 1
            if stopper.left <= 0:
                control.signal = signal.SIGTERM
            return control.signal is None

        patch.setattr(Control, "go_on", property(go_on))
        patch.setattr(Control, "checkpoint_due", property(lambda control: True))


def named(name: str) -> Any:
    """What resume must be told of a puzzle."""
    return NAMED.get(name, PUZZLES[name])


def progress(run: Path) -> tuple[int, int]:
    """(recorded spill files, recorded buckets) of the depth under way."""
    with Catalogue.open(run, readonly=True) as catalogue:
        ledger = Ledger(catalogue)
        depth = len(ledger.depths())
        return len(ledger.spills(depth)), len(ledger.books(depth))


class TestStopped:
    @pytest.mark.parametrize(("name", "algebra"), ALGEBRAS)
    @pytest.mark.parametrize("keep", ["all", "frontier"])
    def test_again_and_again(self, ram, monkeypatch, expected, name, algebra, keep):
        rng = random.Random(f"{name} {algebra} {keep}")
        run = ram / "run"
        stopper = Stopper(monkeypatch)
        stopper.left = 20
        MEMORIES[0].install(monkeypatch)
        outcome = search(PUZZLES[name], run, algebra=algebra, keep=keep)
        stops = 0
        while outcome.reason == "signal":
            assert outcome.exit_code == 128 + signal.SIGTERM
            assert_sound(run)
            recorded = counts(run)
            assert recorded == expected[name][: len(recorded)]
            stops += 1
            stopper.left = rng.randint(1, 60 if name == "tiles" else 30)
            rng.choice(MEMORIES).install(monkeypatch)
            outcome = resume(run, named(name), threads=rng.randint(1, 3))
        assert outcome.reason == "exhausted"
        assert counts(run) == expected[name]
        assert_sound(run)
        assert os.listdir(run / names.SPILL) == []
        assert stops

    @pytest.mark.parametrize("cached", [-1, 1 << 40], ids=["past the page cache", "cached"])
    @pytest.mark.parametrize(("name", "algebra"), ALGEBRAS[:2])
    def test_runs_that_another_thread_writes(
        self, tmp_path, monkeypatch, expected, name, algebra, cached
    ):
        run = tmp_path / "run"
        handed = [0]
        hand_over = LayerFiles.hand_over

        def count(*arguments):
            handed[0] += 1
            return hand_over(*arguments)

        monkeypatch.setattr(LayerFiles, "hand_over", count)
        stopper = Stopper(monkeypatch)
        Tight(page_cache=cached, handed_over=1, inline=0).install(monkeypatch)
        outcome: Any = None
        while outcome is None or outcome.reason == "signal":
            stopper.left = 17
            outcome = resume(run) if outcome else search(PUZZLES[name], run, algebra=algebra)
        assert handed[0] > 100
        with Catalogue.open(run, readonly=True) as catalogue:
            ledger = Ledger(catalogue)
            runs = [r.meta for d in range(len(ledger.depths())) for r in ledger.runs("layer", d)]
        places = [meta.offset for meta in runs if meta.file]
        assert len(places) > 100
        assert sum(places) > 0
        if cached < 0:
            assert all(offset % PAGE == 0 for offset in places)
        assert counts(run) == expected[name]
        assert_sound(run)

    def test_with_spills_and_buckets_recorded(self, tmp_path, monkeypatch, expected):
        """Both kinds of progress are made use of by the resume."""
        run = tmp_path / "run"
        stopper = Stopper(monkeypatch)
        Tight(bucket_arrivals=16).install(monkeypatch)
        outcome: Any = None
        seen = set()
        while outcome is None or outcome.reason == "signal":
            stopper.left = 23
            if outcome is None:
                outcome = search(PUZZLES["tiles"], run, algebra="set")
            else:
                outcome = resume(run)
            spills, buckets = progress(run)
            seen |= {("spills", spills > 0), ("buckets", buckets > 0)}
        assert {("spills", True), ("buckets", True)} <= seen
        assert len(events(run, "merge")) > 10
        assert counts(run) == expected["tiles"]
        assert_sound(run)

    def test_by_max_depth_one_by_one(self, tmp_path, monkeypatch, expected):
        Tight().install(monkeypatch)
        run = tmp_path / "run"
        graph = PUZZLES["directed"]
        search(graph, run, max_depth=0, keep="frontier")
        for depth in range(1, len(expected["directed"])):
            assert resume(run, graph, max_depth=depth).reason == "max-depth"
            assert counts(run) == expected["directed"][: depth + 1]
        assert resume(run, graph, max_depth=float("inf")).reason == "exhausted"
        assert counts(run) == expected["directed"]
        assert_sound(run)

    def test_before_anything_was_done(self, tmp_path, monkeypatch, expected):
        stopper = Stopper(monkeypatch)
        monkeypatch.setattr(Control, "__enter__", _signalled)
        outcome = search(PUZZLES["tiles"], tmp_path / "run")
        assert (outcome.reason, outcome.depth, outcome.states) == ("signal", 0, 1)
        monkeypatch.undo()
        del stopper
        assert resume(tmp_path / "run").reason == "exhausted"
        assert counts(tmp_path / "run") == expected["tiles"]

    def test_max_seconds(self, tmp_path, monkeypatch, expected):
        monkeypatch.setattr(Control, "out_of_time", property(lambda control: True))
        outcome = search(PUZZLES["tiles"], tmp_path / "run", max_seconds=1.0)
        assert (outcome.reason, outcome.exit_code) == ("max-seconds", 3)
        monkeypatch.undo()
        assert resume(tmp_path / "run").reason == "exhausted"
        assert counts(tmp_path / "run") == expected["tiles"]

    def test_the_resume_line_is_told(self, tmp_path, monkeypatch):
        monkeypatch.setattr(Control, "out_of_time", property(lambda control: True))
        run = tmp_path / "a run"
        outcome = search(PUZZLES["tiles"], run, max_seconds=1.0)
        assert f"extbfs resume '{run}'" in outcome.sentence


def _signalled(control: Control) -> Control:
    control.signal = signal.SIGTERM
    return control


@pytest.fixture
def still(monkeypatch):
    """status.json is not written between depths: it would be most of the operations."""
    monkeypatch.setattr(Board, "refresh", lambda board: None)
    monkeypatch.setattr(Control, "checkpoint_due", property(lambda control: True))


@pytest.fixture
def real_files():
    before = fs.current()
    yield
    fs.install(before)


@pytest.mark.usefixtures("still", "real_files")
class TestStruck:
    """The power is cut, or an operation fails, before durable operations drawn from a seed."""

    def go(self, name: str, algebra: str, run: Path, **options: Any) -> Any:
        if not run.exists() or names.is_unstarted(str(run)):
            return search(PUZZLES[name], run, algebra=algebra, **options)
        return resume(run, named(name), **options)

    def operations(self, name: str, algebra: str, run: Path) -> int:
        counting = FaultyFileSystem(run)
        fs.install(counting)
        self.go(name, algebra, run)
        return counting.count

    @pytest.mark.parametrize(("name", "algebra"), ALGEBRAS)
    def test_power_cuts(self, ram, monkeypatch, expected, name, algebra):
        Tight(bucket_arrivals=64).install(monkeypatch)
        most = self.operations(name, algebra, ram / "whole")
        rng = random.Random(f"power {name} {algebra}")
        for number in range(3):
            run = ram / str(number)
            self.strike(run, rng, most, name, algebra)
            assert counts(run) == expected[name]
            assert_sound(run)
            assert os.listdir(run / names.SPILL) == []

    def strike(self, run, rng, most, name, algebra):
        """Cut the power again and again, at fewer operations each time, until it is done."""
        while True:
            at = rng.randint(1, most)
            faulty = FaultyFileSystem(run, at=at, fault=Fault.POWER_CUT)
            fs.install(faulty)
            try:
                self.go(name, algebra, run, threads=rng.randint(1, 3))
            except PowerCut:
                faulty.lose_unsynced(rng)
            else:
                faulty.forget()
                return

    @pytest.mark.parametrize("fault", [Fault.POWER_CUT, Fault.FROM_THEN_ON])
    def test_what_fails_while_a_run_begins_leaves_no_lock_behind(self, ram, fault):
        """Before each of the first operations; the same process tries again."""
        for at in range(1, 16):
            run = ram / f"{fault.name} {at}"
            fs.install(FaultyFileSystem(run, at=at, fault=fault, code=errno.ENOSPC))
            with contextlib.suppress(PowerCut, StoreError):
                self.go("directed", "set", run)
            fs.install(fs.FileSystem())
            self.go("directed", "set", run, max_depth=2)

    @pytest.mark.parametrize(("name", "algebra"), ALGEBRAS)
    def test_the_disk_is_full_from_some_operation_on(
        self, ram, monkeypatch, expected, name, algebra
    ):
        Tight(bucket_arrivals=64).install(monkeypatch)
        most = self.operations(name, algebra, ram / "whole")
        rng = random.Random(f"full {name} {algebra}")
        for number in range(3):
            run = ram / str(number)
            fs.install(fs.FileSystem())
            self.go(name, algebra, run, max_depth=1)
            at = rng.randint(1, most)
            fs.install(FaultyFileSystem(run, at=at, fault=Fault.FROM_THEN_ON, code=errno.ENOSPC))
            outcome = resume(run, named(name), max_depth=float("inf"))
            if outcome.reason != "exhausted":
                assert (outcome.reason, outcome.exit_code) == ("disk-full", 20)
                with extbfs.open_run(run) as opened:
                    assert opened.verify()["ok"]
                    assert opened.status()["state"] in ("stopped", "killed")
            fs.install(fs.FileSystem())
            assert resume(run, named(name), max_depth=float("inf")).reason == "exhausted"
            assert counts(run) == expected[name]
            assert_sound(run)

    @pytest.mark.parametrize(("name", "algebra"), ALGEBRAS)
    def test_an_operation_fails(self, ram, monkeypatch, expected, name, algebra):
        Tight(bucket_arrivals=64).install(monkeypatch)
        most = self.operations(name, algebra, ram / "whole")
        rng = random.Random(f"error {name} {algebra}")
        for number in range(3):
            run = ram / str(number)
            fs.install(fs.FileSystem())
            self.go(name, algebra, run, max_depth=1)
            fs.install(FaultyFileSystem(run, at=rng.randint(1, most), fault=Fault.ONCE))
            with contextlib.suppress(IoFailure):
                resume(run, named(name), max_depth=float("inf"))
            with extbfs.open_run(run) as opened:
                assert opened.verify()["ok"]
            fs.install(fs.FileSystem())
            assert resume(run, named(name), max_depth=float("inf")).reason == "exhausted"
            assert counts(run) == expected[name]
            assert_sound(run)
