"""`--algebra`: what start takes, status and export tell, and resume keeps."""

from __future__ import annotations

import json

import pytest

import extbfs
from extbfs.cli import main
from extbfs.status import read_status
from store import names
from tests.extbfs.runs import counts, search
from tests.puzzles.test_tiles_counts import TABLES

TABLE = TABLES["3x3 sliding, single-tile, blank corner"]["counts"]


def said(capsys):
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("wanted", "used"),
    [([], "fibre"), (["--algebra", "set"], "set"), (["--algebra=auto"], "fibre")],
)
def test_start_status_export_and_resume(tmp_path, capsys, wanted, used):
    run = str(tmp_path / "run")
    assert main(["start", "tiles:3x3", run, "--max-depth", "9", *wanted, "--json"]) == 0
    assert said(capsys)["algebra"] == used
    assert main(["resume", run, "--no-max-depth", "--exhaust", "--json"]) == 0
    assert said(capsys)["algebra"] == used
    with extbfs.open_run(run) as opened:
        assert opened.meta["algebra"] == used
        assert opened.layer(20).metas[0].payload_bits == (32 if used == "fibre" else 0)
    assert counts(tmp_path / "run") == TABLE
    assert main(["status", run, "--json"]) == 0
    assert said(capsys)["algebra"] == used
    assert main(["status", run]) == 0
    assert f"algebra    {used}" in capsys.readouterr().out
    assert main(["export", run, "--json"]) == 0
    assert said(capsys)["parameters"]["algebra"] == used


def test_a_run_that_lost_its_status_still_tells(tmp_path):
    search("tiles:2x3", tmp_path / "run", algebra="fibre")
    (tmp_path / "run" / names.STATUS).unlink()
    assert read_status(tmp_path / "run")["algebra"] == "fibre"


def test_a_puzzle_without_a_fibre(tmp_path, capsys):
    run = str(tmp_path / "run")
    argv = ["start", "tiles:3x3", run, "--metric", "multi", "--algebra", "fibre"]
    assert main(argv) == 2
    error = capsys.readouterr().err
    assert "has no fibre" in error
    assert "Traceback" not in error
    assert not names.files_of(run) or names.is_unstarted(run)


def test_an_unknown_algebra(tmp_path, capsys):
    assert main(["start", "tiles:3x3", str(tmp_path / "run"), "--algebra", "fast"]) == 2
    assert "'auto', 'set', 'fibre'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_dry_run_measures_the_algebra_asked_for(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("extbfs.calibrate.SECONDS", 0.3)
    monkeypatch.setattr("extbfs.calibrate.WRITE_SECONDS", 0.05)
    for algebra in ("set", "fibre"):
        argv = ["start", "tiles:3x3", str(tmp_path / "run"), "--dry-run", "--algebra", algebra]
        assert main([*argv, "--json"]) == 0
        assert said(capsys)["algebra"] == algebra
