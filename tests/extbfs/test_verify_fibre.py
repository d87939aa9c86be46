"""verify looks into the records of fibre layers: states, pending moves, and books at work."""

from __future__ import annotations

import dataclasses
import json
import time

import pytest

import extbfs
from extbfs.cli import main
from extbfs.engine.build import DepthBuild
from extbfs.engine.control import Control
from extbfs.engine.ledger import Ledger
from store.catalogue import Catalogue
from tests.extbfs.algebra.cramped import Cramped
from tests.extbfs.runs import search
from tests.fakes.tokens import random_tokens


def report_of(run, puzzle=None, quick=False):
    told = []

    class Watcher:
        def on_event(self, event):
            told.append(event["text"])

    with extbfs.open_run(run, puzzle=puzzle) as opened:
        return opened.verify(quick=quick, observer=Watcher()), told


@pytest.fixture
def run(tmp_path):
    search("tiles:2x4", tmp_path / "run", algebra="fibre")
    return tmp_path / "run"


def change_row(run, depth, **changes):
    """Alter a row of the depth table behind the checksums' back."""
    with Catalogue.open(run) as catalogue:
        ledger = Ledger(catalogue)
        ledger.put_depth({**ledger.depths()[depth], **changes})
        ledger.commit()


def test_a_sound_run(run):
    report, told = report_of(run)
    assert report["ok"]
    assert told == []


def test_states_that_are_not_those_of_the_records(run):
    with extbfs.open_run(run) as opened:
        rows = opened.ledger.depths()
    change_row(run, 20, states=rows[20]["states"] + 1, cumulative=rows[20]["cumulative"] + 1)
    change_row(run, 21, states=rows[21]["states"] - 1)
    report, _ = report_of(run)
    assert [problem["file"] for problem in report["problems"]] == ["layer 20", "layer 21"]
    assert f"{rows[20]['states'] + 1} and" in report["problems"][0]["detail"]
    assert report_of(run, quick=True)[0]["ok"]


def test_pending_moves_that_did_not_arrive(run):
    with extbfs.open_run(run) as opened:
        rows = opened.ledger.depths()
    change_row(run, 20, pending=rows[20]["pending"] + 1)
    report, _ = report_of(run)
    assert [problem["file"] for problem in report["problems"]] == ["layer 20", "depth 21"]
    assert not report_of(run, quick=True)[0]["ok"]


def test_a_puzzle_that_must_be_named(tmp_path, capsys, monkeypatch):
    puzzle = random_tokens(1)
    search(puzzle, tmp_path / "run")
    report, told = report_of(tmp_path / "run")
    assert report["ok"]
    assert len(told) == 1
    assert "are not counted" in told[0]
    assert report_of(tmp_path / "run", puzzle) == (report, [])


def test_verify_names_the_puzzle(tmp_path, capsys):
    run = str(tmp_path / "run")
    assert main(["start", "tests.fakes.tokens:tokens", run]) == 0
    capsys.readouterr()
    assert main(["verify", run]) == 0
    assert "--puzzle tests.fakes.tokens:tokens" in capsys.readouterr().err
    assert main(["verify", run, "--puzzle", "tests.fakes.tokens:tokens", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["ok"]
    assert "not counted" not in err


def test_books_of_a_depth_under_way(tmp_path, monkeypatch):
    Cramped(widest=97, bucket_arrivals=80, part=32, pool_records=64).install(monkeypatch)
    inner = DepthBuild._merge_bucket
    merged = []

    def stop_after_three(build, worker, bucket):
        if build.plan.depth == 18:
            merged.append(bucket)
            time.sleep(0.05)  # for the coordinator to notice
        return inner(build, worker, bucket)

    monkeypatch.setattr(DepthBuild, "_merge_bucket", stop_after_three)
    monkeypatch.setattr(Control, "go_on", property(lambda _: len(merged) < 3))
    monkeypatch.setattr(Control, "checkpoint_due", property(lambda _: True))
    outcome = search("tiles:2x4", tmp_path / "run", algebra="fibre", threads=2)
    assert outcome.depth == 17
    report, _ = report_of(tmp_path / "run")
    assert report["ok"]
    assert report["checked"]["spill files"] > 0
    with Catalogue.open(tmp_path / "run") as catalogue:
        ledger = Ledger(catalogue)
        books = ledger.books(18)
        assert books
        bucket = min(books)
        kept = books[bucket].kept
        wrong = kept._replace(fingerprint=kept.fingerprint ^ 1)
        ledger.put_books(18, bucket, dataclasses.replace(books[bucket], kept=wrong))
        ledger.commit()
    report, _ = report_of(tmp_path / "run")
    assert [p["file"] for p in report["problems"]] == [f"bucket {bucket} of depth 18"]
