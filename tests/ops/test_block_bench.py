"""The benchmark of sliding blocks from end to end on small searches, against the known tables."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import pytest

from ops.bench import block_kernels, block_rivals, blocks, depths, rivals, table
from puzzles.blocks import index
from puzzles.blocks.family import FAMILY
from puzzles.blocks.model import Model
from tests.puzzles.blocks import naive
from tests.puzzles.blocks.samples import DRAWINGS, model_of

HARD = table.blocks("hakoiri-hard", "steps")


def small_enough(model: Model) -> bool:
    return model.height * model.width <= block_rivals.MOST_CELLS


class TestHashSet:
    @pytest.fixture(autouse=True)
    def compiler(self):
        if rivals.find_compiler() is None:
            pytest.skip("there is no C++ compiler here")

    def test_a_whole_library_puzzle(self):
        counts = table.blocks("klotski", "steps")
        assert counts.last == 167
        found = block_rivals.hash_set(FAMILY.model("klotski"), 167, counts)  # compares itself
        assert found["states"] == 25955

    def test_the_hard_one_begins_as_it_should(self):
        found = block_rivals.hash_set(FAMILY.model("hakoiri-hard"), 30, HARD)
        assert found["states"] == HARD.cumulative[30]

    @pytest.mark.parametrize("name", [n for n in DRAWINGS if small_enough(model_of(n))])
    def test_shapes_and_walls_as_the_naive_twin(self, name):
        model = model_of(name)
        layer, seen, counts = [model.start], {model.start}, [1]
        while layer and sum(counts) < 1500:
            ahead = {a for p in layer for a in naive.neighbours(model, p, "steps")} - seen
            seen |= ahead
            layer = sorted(ahead)
            counts.append(len(layer))
        counts = counts if counts[-1] else counts[:-1]
        found = block_rivals.hash_set(model, len(counts) - 1, table.Table(name, counts))
        assert found["states"] == sum(counts)

    def test_wrong_counts_are_noticed(self):
        lie = table.Table("klotski", [1, 4, 9])
        with pytest.raises(table.WrongCounts, match="in C\\+\\+: 10 states at depth 2 of klotski"):
            block_rivals.hash_set(FAMILY.model("klotski"), 2, lie)


def test_boards_that_the_hash_set_does_not_fit():
    found = block_rivals.hash_set(FAMILY.model("sliding-digits"), 1, table.Table("x", [1, 2]))
    assert "does not fit" in found["skipped"]


class TestTable:
    def test_of_the_library(self):
        assert (HARD.last, HARD.cumulative[-1]) == (181, 425_568_234)
        assert table.blocks("shogi", "steps").counts == []

    def test_a_whole_search_has_to_end_where_the_table_does(self):
        known = table.Table("it", [1, 4, 2])
        known.compare_whole([1, 4, 2], "the engine")
        for found, last in (([1, 4], 1), ([1, 4, 2, 1], 3)):
            with pytest.raises(table.WrongCounts, match=f"it ends at depth {last}, and the table"):
                known.compare_whole(found, "the engine")


def test_the_benchmark_itself_stays_small_and_compiles_nothing():
    code = "import sys, ops.bench.blocks; print('numpy' in sys.modules, 'numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


SOLVER = "import sys; print('solved in 31 steps' if '<puzzle' in open(sys.argv[1]).read() else '')"


def test_a_quick_trial_reports_everything(tmp_path, capsys):
    output = tmp_path / "bench.json"
    program = f"{shlex.quote(sys.executable)} -c {shlex.quote(SOLVER)} {{xml}}"
    arguments = ["--quick", "--directory", str(tmp_path), "--output", str(output)]
    assert blocks.main([*arguments, "--max-depth", "24", "--program", program]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads(output.read_text())
    assert list(tmp_path.iterdir()) == [output]
    search = found["search"]
    assert search["states"] == HARD.cumulative[24]
    assert search["range"]["states"] == HARD.cumulative[24] - 1
    assert search["largest_depth"]["states"] == HARD.counts[24]
    assert set(depths.STAGES) < set(search["range"]["ns_by_stage"])
    assert search["range"]["cpu_ns_per_state"] > 0
    assert search["peak_resident_bytes"] > 1 << 20
    if rivals.find_compiler() is not None:
        assert found["cpp"]["states"] == HARD.cumulative[24]
        assert all(value > 0 for value in found["ratios"].values())
    (race,) = found["program"]
    assert (race["puzzle"], race["optimum"]) == ("simplicity", 31)
    assert race["program_names_optimum"] is True
    assert race["program_to_extbfs"] > 0
    samples = {(row["puzzle"], row["metric"], row["symmetry"]) for row in found["kernels"]}
    assert samples == set(block_kernels.SAMPLES)
    names = {row["kernel"] for row in found["kernels"]}
    assert names == {"successors", "goal test", "canonical", "unrank and rank", "orbit size"}
    assert all(row["items"] > 0 and row["ns_per_item"] > 0 for row in found["kernels"])


class TestRace:
    def test_a_program_that_fails_is_told_of(self, tmp_path):
        how = block_rivals.Race("false {xml}", "moves", 512 << 20, 1)
        found = block_rivals.race(how, "simplicity", tmp_path)
        assert found["optimum"] == index.index()["simplicity"]["moves"]["optimum"]
        assert "ended with 1" in found["failed"]
        assert "program_seconds" not in found

    def test_the_file_goes_where_the_command_says(self, tmp_path):
        file = tmp_path / "a b.xml"
        words = block_rivals.command_for("solve --in='{xml}' -v", file)
        assert words == ["solve", f"--in={file}", "-v"]

    @pytest.mark.parametrize("output", ["81", "moves=81, done", "in 81.", "x\n81\n"])
    def test_an_optimum_that_is_named(self, output):
        assert block_rivals.says(output, 81)

    @pytest.mark.parametrize("output", ["", "181", "812", "0.81", "81.5", "8 1"])
    def test_an_optimum_that_is_not(self, output):
        assert not block_rivals.says(output, 81)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--max-depth", "182"],
        ["--max-depth", "0"],
        ["--program", "solve"],
        ["--puzzle", "no-such-puzzle"],
        ["--repeat", "0"],
        ["--memory", "much"],
        ["--directory", "no/such/directory"],
    ],
)
def test_what_cannot_be_run_is_refused(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        blocks.parse(arguments)
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err
