"""The benchmarks run from end to end on small boards, and their counts are those of the tables."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from ops.bench import depths, rivals, table, tiles
from ops.bench.numpy_search import search

MACHINES = "processor cores memory_bytes system file_system load_average".split()


@pytest.mark.parametrize("text", ["2x2", "2x3", "3x3", "2x4"])
def test_the_numpy_search_counts_right(text):
    board = table.Board.parse(text)
    counts = table.Counts(board)
    found = [states for _, states, _ in search(board.rows, board.columns, len(counts.counts) - 1)]
    assert found == counts.counts


def test_the_hash_set_counts_right():
    if rivals.find_compiler() is None:
        pytest.skip("there is no C++ compiler here")
    counts = table.Counts(table.Board(3, 3))
    found = rivals.hash_set(counts.board, 31, counts)  # compares with the table itself
    assert found["states"] == counts.board.states


def test_the_benchmark_itself_stays_small_and_compiles_nothing():
    code = "import sys, ops.bench.tiles; print('numpy' in sys.modules, 'numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_quick_trial_reports_everything(tmp_path, capsys):
    output = tmp_path / "bench.json"
    arguments = ["--quick", "--directory", str(tmp_path), "--output", str(output), "--repeat", "2"]
    assert tiles.main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads(output.read_text())
    counts = table.Counts(table.Board(3, 3))
    out = found["out_of_core"]
    assert found["counts_are_right"] is True
    assert (found["from"], found["to"]) == (29, 31)
    assert [row["states"] for row in out["depths"]] == counts.counts[29:]
    assert out["range"]["states"] == sum(counts.counts[29:])
    for row in [out["range"], *out["depths"]]:
        assert set(depths.STAGES) < set(row["ns_by_stage"])
        assert row["ns_by_stage"]["sort"] > 0
        total = sum(row["ns_by_stage"].values())
        assert total == pytest.approx(row["ns_per_state_and_core"], rel=1e-3, abs=0.1)
    assert out["peak_resident_bytes"] > 1 << 20
    assert out["beside_layers_bytes"] > 0
    assert set(MACHINES) <= set(found["machine"])
    assert found["numpy"]["states"] == counts.board.states
    assert found["ratios"]["engine_to_numpy"] > 0
    assert len(found["repetitions"]) == 2
    assert len(found["bars"]) == 2
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--board", "3x3", "--to", "32"],
        ["--board", "3x3", "--from", "5", "--to", "4"],
        ["--board", "1x4"],
        ["--repeat", "0"],
        ["--memory", "much"],
        ["--directory", "no/such/directory"],
    ],
)
def test_what_cannot_be_run_is_refused(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        tiles.parse(arguments)
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_every_kernel_is_measured(capsys):
    from ops.bench import kernels

    assert kernels.main(["--depth", "12", "--dense-depth", "16"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sparse"]["keys"] == table.Counts(table.Board(4, 4)).counts[12]
    names = {row["kernel"] for row in found["kernels"]}
    assert {"successors multi", "route", "gather", "subtract", "encode", "decode"} < names
    assert all(row["items"] > 0 and row["ns_per_item"] > 0 for row in found["kernels"])
