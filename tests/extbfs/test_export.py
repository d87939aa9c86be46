"""Exports: each format read back by a reader of its own, and files written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import stat

import pytest

import extbfs
from extbfs.export import ExportError, export_text, write_export
from extbfs.report import COLUMNS
from tests.extbfs.samples import COUNTS, rows, running, sample_status


def test_csv_reads_back():
    read = list(csv.DictReader(io.StringIO(export_text(sample_status(), "csv"))))
    assert list(read[0]) == list(COLUMNS)
    assert [int(row["states"]) for row in read] == COUNTS
    assert [int(row["cumulative"]) for row in read] == [row["cumulative"] for row in rows()]
    assert [float(row["seconds"]) for row in read] == pytest.approx(
        [row["seconds"] for row in rows()]
    )


def test_json_embeds_what_made_it():
    data = json.loads(export_text(sample_status(spec={"family": "tiles"}), "json"))
    assert data["schema"] == 1
    assert data["extbfs"] == extbfs.__version__
    assert data["puzzle"] == "tiles:3x3"
    assert data["complete"] is True
    assert data["parameters"]["spec"] == {"family": "tiles"}
    assert data["parameters"]["keep"] == "all"
    assert data["depths"] == rows()


def test_bfile_is_what_oeis_reads():
    lines = export_text(sample_status(), "bfile").splitlines()
    comments = [line for line in lines if line.startswith("#")]
    terms = [tuple(map(int, line.split(" "))) for line in lines[len(comments) :]]
    assert terms == list(enumerate(COUNTS))
    header = "\n".join(comments)
    for fact in ("tiles:3x3", "metric single", "a(n) is the number of states", "extbfs 0.1.0"):
        assert fact in header
    assert "depths 0 to 31, complete" in header


def test_markdown_is_a_table():
    lines = export_text(sample_status(), "markdown").splitlines()
    assert lines[0] == "| depth | states | cumulative | seconds | bytes |"
    cells = [line.strip("|").split("|") for line in lines[2 : 2 + len(COUNTS)]]
    assert [int(cell[1]) for cell in cells] == COUNTS
    assert lines[-1].startswith("tiles:3x3, metric single; depths 0 to 31, complete")


@pytest.mark.parametrize("form", ["csv", "json", "bfile", "markdown"])
def test_a_run_under_way_exports_its_finished_depths(form):
    text = export_text(running(5), form)
    assert "16" in text
    assert "20," not in text
    if form in ("bfile", "markdown"):
        assert "depths 0 to 4, not complete" in text


@pytest.mark.parametrize("form", ["csv", "json", "bfile", "markdown"])
def test_a_run_without_any_finished_depth(form):
    text = export_text(sample_status(1, depths=[], frontier_empty=False), form)
    assert text.endswith("\n")


def test_a_name_cannot_break_out_of_its_comment():
    text = export_text(sample_status(puzzle="x\n99 99"), "bfile")
    assert "\n99 99" not in text


class TestWriting:
    def test_a_new_file(self, tmp_path):
        write_export("1 2\n", tmp_path / "b.txt")
        assert (tmp_path / "b.txt").read_text() == "1 2\n"
        assert os.listdir(tmp_path) == ["b.txt"]

    def test_it_has_the_rights_of_any_new_file(self, tmp_path):
        (tmp_path / "other").touch()
        write_export("x", tmp_path / "b.txt")
        mode = stat.S_IMODE((tmp_path / "b.txt").stat().st_mode)
        assert mode == stat.S_IMODE((tmp_path / "other").stat().st_mode)

    def test_an_existing_file_stays(self, tmp_path):
        (tmp_path / "b.txt").write_text("mine")
        with pytest.raises(ExportError, match="exists already; name another file or give --force"):
            write_export("x", tmp_path / "b.txt")
        assert (tmp_path / "b.txt").read_text() == "mine"

    def test_force_replaces_it(self, tmp_path):
        (tmp_path / "b.txt").write_text("mine")
        write_export("x", tmp_path / "b.txt", force=True)
        assert (tmp_path / "b.txt").read_text() == "x"

    def test_not_a_file(self, tmp_path):
        with pytest.raises(ExportError, match="not a plain file"):
            write_export("x", tmp_path, force=True)

    def test_no_directory(self, tmp_path):
        with pytest.raises(ExportError, match="No such file or directory"):
            write_export("x", tmp_path / "a" / "b.txt")

    def test_a_failure_leaves_the_old_file_and_no_other(self, tmp_path, monkeypatch):
        (tmp_path / "b.txt").write_text("mine")

        def full(fd):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(ExportError, match="No space left on device"):
            write_export("x", tmp_path / "b.txt", force=True)
        assert (tmp_path / "b.txt").read_text() == "mine"
        assert os.listdir(tmp_path) == ["b.txt"]
