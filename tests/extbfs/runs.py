"""Searches as the tests start them, and what must hold in every run directory afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import extbfs
from extbfs.api import Outcome
from store import names
from tests.crash import audit


def counts(run: Path) -> list[int]:
    """States per depth that the catalogue records; status.json must say the same."""
    recorded = recorded_counts(run)
    with extbfs.open_run(run) as opened:
        assert opened.counts.tolist() == recorded
    return recorded


def recorded_counts(run: Path) -> list[int]:
    """States per depth that the catalogue records."""
    with extbfs.open_run(run) as opened:
        return [int(row["states"]) for row in opened.ledger.depths()]


def events(run: Path, kind: str) -> list[dict[str, Any]]:
    """The journal's events of a kind, in order."""
    lines = (run / names.LOG).read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == kind]


def spilled(run: Path) -> int:
    """How many spill files were recorded."""
    return len(events(run, "spill"))


def assert_sound(run: Path) -> None:
    """The run verifies, holds no file it should not and lacks none, and did nothing twice."""
    with extbfs.open_run(run) as opened:
        report = opened.verify()
    assert report["problems"] == []
    assert report["ok"]
    assert report["foreign_files"] == []
    assert audit.stray_files(run) == []
    assert audit.missing_files(run) == []
    assert audit.repeated_pieces(run) == []


def search(puzzle: Any, run: Path, **options: Any) -> Outcome:
    """Start a search that is exhausted unless the options say otherwise."""
    return extbfs.start(puzzle, run, **{"exhaust": True, "threads": 2, **options})


def resume(run: Path, puzzle: Any = None, **options: Any) -> Outcome:
    """Resume a search, of a Python object if there is one."""
    return extbfs.resume(run, puzzle=puzzle, **options)
