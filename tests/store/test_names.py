"""Names and their parser are inverse, and nothing else is taken for a file of a run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store import names
from store.names import Kind, Name, classify

NUMBERS = st.integers(0, 10**17)


@given(NUMBERS, NUMBERS)
def test_classify_inverts_the_numbered_names(depth: int, number: int) -> None:
    assert classify(names.layer_file(depth, number)) == Name(Kind.LAYER, depth, number)
    assert classify(names.visited_file(depth, number)) == Name(Kind.VISITED, depth, number)
    assert classify(names.spill_file(depth, number)) == Name(Kind.SPILL, depth, number)
    scratch = classify(names.scratch_file(depth, number))
    assert scratch == Name(Kind.SCRATCH, None, number, temporary=True)
    temporary = classify(names.temporary(names.spill_file(depth, number)))
    assert temporary == Name(Kind.SPILL, depth, number, temporary=True)


@given(st.integers(0, 99998), st.integers(0, 9998))
def test_the_order_of_names_is_the_order_of_numbers(depth: int, number: int) -> None:
    for name in (names.layer_file, names.visited_file, names.spill_file, names.scratch_file):
        assert name(depth, number) < name(depth, number + 1) < name(depth + 1, 0)


def test_the_names_are_the_documented_ones() -> None:
    assert names.layer_file(29, 3) == "layers/d00029-0003.keys"
    assert names.visited_file(12, 0) == "layers/v00012-0000.keys"
    assert names.spill_file(29, 7) == "spill/d00029-0007.spill"
    assert names.scratch_file(3, 7) == "spill/x00003-0007.scratch"


@pytest.mark.parametrize(
    ("name", "kind", "temporary"),
    [
        ("catalogue/data.mdb", Kind.CATALOGUE, False),
        ("catalogue/lock.mdb", Kind.CATALOGUE, False),
        ("catalogue.tmp/data.mdb", Kind.CATALOGUE, True),
        ("catalogue.tmp/lock.mdb", Kind.CATALOGUE, True),
        ("status.json", Kind.STATUS, False),
        ("status.json.tmp", Kind.STATUS, True),
        ("log.jsonl", Kind.LOG, False),
        ("LOCK", Kind.LOCK, False),
        ("reserve", Kind.RESERVE, False),
        ("reserve.tmp", Kind.RESERVE, True),
    ],
)
def test_the_fixed_names(name: str, kind: Kind, temporary: bool) -> None:
    assert classify(name) == Name(kind, temporary=temporary)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "layers",
        "layers/d00029-0003",
        "layers/d00029-0003.spill",
        "layers/d0029-0003.keys",  # too short
        "layers/d000029-0003.keys",  # padded otherwise than we do
        "layers/d00029-00003.keys",
        "layers/d00029-0003.keys\n",
        "layers/d00029-0003.keys.tmp.tmp",
        "layers/d٠٠٠٢٩-0003.keys",  # digits, but not ours
        "layers/x00029-0003.keys",
        "spill/v00029-0003.spill",
        "spill/../layers/d00029-0003.keys",
        "./status.json",
        "LOCK.tmp",
        "catalogue/data.mdb.tmp",
        "catalogue.tmp/status.json",
        "catalogue.tmp/catalogue.tmp/data.mdb",
        "core",
    ],
)
def test_other_names_are_none_of_ours(name: str) -> None:
    found = classify(name)
    assert found is None


@given(st.text())
def test_any_text_is_classified_without_an_error(name: str) -> None:
    classify(name)


def _make(run: Path, *paths: str) -> None:
    for path in paths:
        (run / path).parent.mkdir(parents=True, exist_ok=True)
        (run / path).write_bytes(b"")


def test_files_of_lists_every_file_once(tmp_path: Path) -> None:
    made = ["LOCK", "catalogue/data.mdb", "layers/d00001-0000.keys", "strange/deep/file"]
    _make(tmp_path, *made)
    os.symlink("/", tmp_path / "layers" / "root")
    assert sorted(names.files_of(str(tmp_path))) == sorted([*made, "layers/root"])


def test_an_interrupted_start_may_be_started_again(tmp_path: Path) -> None:
    assert names.is_unstarted(str(tmp_path))
    _make(tmp_path, "LOCK", "log.jsonl", "reserve", "reserve.tmp", "catalogue.tmp/data.mdb")
    (tmp_path / "layers").mkdir()
    assert names.is_unstarted(str(tmp_path))


@pytest.mark.parametrize("name", ["thesis.tex", "catalogue/data.mdb", "layers/d00000-0000.keys"])
def test_a_directory_with_anything_else_may_not(tmp_path: Path, name: str) -> None:
    _make(tmp_path, "LOCK", name)
    assert not names.is_unstarted(str(tmp_path))
