"""What the journal tells about the cost of every depth."""

from __future__ import annotations

import json
import sys

import pytest

import extbfs

STAGES = {"read", "expand", "route", "gather", "sort", "subtract", "encode", "write"}


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    run = tmp_path_factory.mktemp("costs") / "run"
    extbfs.start("tiles:3x4", run, threads=2, max_depth=25, algebra="set")
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]


def test_the_stages_of_the_depths_add_up_to_those_of_the_search(lines):
    depths = [line for line in lines if line["event"] == "depth" and line["depth"] > 0]
    end = lines[-1]
    assert end["event"] == "end"
    assert set(end["stages"]) >= STAGES
    for stage in STAGES:
        found = sum(line["stages"].get(stage, 0.0) for line in depths)
        assert found == pytest.approx(end["stages"][stage], abs=1e-3)
    assert sum(line["cpu_seconds"] for line in depths) > 0


def test_both_stages_take_their_part_of_a_depth(lines):
    for line in lines:
        if line["event"] == "depth" and line["depth"] > 0:
            assert 0 < line["expand_seconds"] + line["merge_seconds"] <= line["seconds"] + 1e-5


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts a process's bytes")
def test_bytes_moved_are_at_least_those_that_were_stored_in_files(lines):
    depths = [line for line in lines if line["event"] == "depth" and line["depth"] > 0]
    assert all(line["read"] >= 0 and line["device_read"] >= 0 for line in depths)
    large = [line for line in depths if line["bytes"] >= 1 << 20]
    assert large
    assert all(line["written"] >= line["bytes"] for line in large)
