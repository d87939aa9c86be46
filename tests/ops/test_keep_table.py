"""Keeping the table of a whole search for later ones to be compared with."""

from __future__ import annotations

import json

import pytest

import extbfs
from ops import keep_table
from puzzles.blocks import index


@pytest.fixture
def library(monkeypatch, tmp_path):
    monkeypatch.setattr(index, "DIRECTORY", tmp_path / "library")
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "simplicity.xml").write_bytes(XML)
    return tmp_path / "library"


XML = index.read("simplicity")
ENTRY = index.index()["simplicity"]


def test_what_is_kept_is_read_back(library, tmp_path, capsys):
    extbfs.start("simplicity", tmp_path / "run", exhaust=True)
    assert keep_table.main([str(tmp_path / "run")]) == 0
    facts = json.loads(capsys.readouterr().out.split("of it: ")[1])
    assert facts == {"states": ENTRY["states"], **ENTRY["steps"]}
    kept = json.loads((library / "tables" / "simplicity.steps.json").read_text())
    assert sum(kept["counts"]) == 161
    assert kept["found"].startswith("extbfs ")
    index.table.cache_clear()
    assert index.table("simplicity", "steps") == {"counts": kept["counts"]}
    index.table.cache_clear()


@pytest.mark.parametrize(
    ("puzzle", "options", "reason"),
    [
        ("simplicity", {}, "is not exhausted"),
        ("tiles:2x2", {"exhaust": True}, "not a puzzle of the library"),
        ("huarong-dao", {"exhaust": True}, "--no-symmetry"),
    ],
)
def test_what_cannot_serve(tmp_path, capsys, puzzle, options, reason):
    extbfs.start(puzzle, tmp_path / "run", **options)
    assert keep_table.main([str(tmp_path / "run")]) == 1
    assert reason in capsys.readouterr().err


def test_wrong_words(capsys):
    assert keep_table.main([]) == 2
    assert "keep_table RUN" in capsys.readouterr().err
