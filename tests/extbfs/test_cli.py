"""The command line against a pretended search: what it passes on, prints and returns.

The search itself has its own tests; here `extbfs.start`, `resume` and `open_run` are stand-ins.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extbfs
from extbfs.cli import main
from puzzles.contract import BasePuzzle
from puzzles.errors import PuzzleError
from store import errors as store_errors
from store.lock import WriterLock
from tests.extbfs.samples import COUNTS, running, sample_status, write_run

VERBS = (
    *("start", "resume", "status", "export", "path"),
    *("states", "depth", "verify", "puzzles", "check"),
)


class OneWay(BasePuzzle):
    """A ring of ten states that claims that one can turn back."""

    name = "one-way"
    key_space = 10
    max_successors = 1
    undirected = True

    def starts(self):
        return np.zeros(1, dtype=np.uint64)

    def successors(self, keys, out):
        out[: len(keys)] = (keys + np.uint64(1)) % np.uint64(10)
        return len(keys)


ONE_WAY = OneWay()


@dataclass
class Outcome:
    exit_code: int = 0
    reason: str = "exhausted"
    depth: int = 31
    sentence: str = "all 181440 states were found in 31 depths."


class Line(BasePuzzle):
    """The states 0 to 9 in a row, one step to either side."""

    name = "line"
    key_space = 10
    max_successors = 2


class FakeRun:
    """An opened run of `Line` from 0: depth d holds the one state d."""

    puzzle = Line()
    searched: dict[str, int] | None = None
    problems: tuple[dict[str, Any], ...] = ()

    def __init__(self):
        self.depths = [
            {"depth": d, "states": 1, "cumulative": d + 1, "seconds": 0.0, "bytes": 9}
            for d in range(10)
        ]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def status(self):
        return {"frontier_empty": True}

    def states(self, depth):
        yield np.array([depth], dtype=np.uint64)

    def depth_of(self, state):
        key = self.puzzle.encode(state)
        return None if key == 9 else key

    def key_of(self, state):
        return self.puzzle.encode(state)

    def solutions(self):
        return {"length": 3, "solutions": 2, "goal_states": 1}

    def no_solution(self):
        return self.searched

    def path(self, to=None):
        return [np.uint64(key) for key in range(self.puzzle.encode(to or "3") + 1)]

    def verify(self, quick, observer):
        observer.on_event({"event": "message", "text": f"quick is {quick}"})
        return {
            "ok": not self.problems,
            "checked": {"runs": np.int64(10)},
            "problems": list(self.problems),
        }


@pytest.fixture
def opened(monkeypatch):
    run = FakeRun()
    monkeypatch.setitem(vars(extbfs), "open_run", lambda path, puzzle=None: run)
    return run


@pytest.fixture
def searched(monkeypatch, tmp_path):
    """A pretended search: records its arguments, leaves the status of the 8-puzzle."""

    class Search:
        arguments: dict[str, Any]
        outcome: Outcome = Outcome()
        status: dict[str, Any] = sample_status()
        error: BaseException | None = None

        def start(self, puzzle, run, **options):
            return self.resume(run, puzzle=puzzle, **options)

        def resume(self, run, **options):
            self.arguments = {"run": run, **options}
            write_run(Path(run), self.status)
            if self.error is not None:
                raise self.error
            return self.outcome

    search = Search()
    monkeypatch.setitem(vars(extbfs), "start", search.start)
    monkeypatch.setitem(vars(extbfs), "resume", search.resume)
    return search


def sentence(capsys) -> str:
    """The one line on stderr; nothing is on stdout."""
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    line: str
    (line,) = err.splitlines()
    assert line.startswith("extbfs: ")
    return line


class TestHelp:
    def test_every_verb_is_listed(self, capsys):
        assert main(["--help"]) == 0
        out = capsys.readouterr().out
        assert all(f" {verb} " in out for verb in VERBS)
        assert "128+N" in out

    @pytest.mark.parametrize("verb", VERBS)
    def test_every_verb_explains_itself_and_speaks_json(self, verb, capsys, monkeypatch):
        monkeypatch.setenv("COLUMNS", "160")
        assert main([verb, "--help"]) == 0
        assert "--json" in capsys.readouterr().out

    def test_no_verb_prints_the_help_and_is_a_wrong_usage(self, capsys):
        assert main([]) == 2
        assert "Usage" in capsys.readouterr().out

    def test_version(self, capsys):
        assert main(["--version"]) == 0
        assert capsys.readouterr().out == f"extbfs {extbfs.__version__}\n"


class TestUsage:
    @pytest.mark.parametrize(
        ("argv", "words"),
        [
            (["stat"], "No such command 'stat'"),
            (["--wrong"], "--wrong"),
            (["start"], "PUZZLE"),
            (["start", "tiles:3x3"], "RUN"),
            (["start", "tiles:3x3", "R", "--memory", "5X"], "write bytes or a unit"),
            (["start", "tiles:3x3", "R", "--disk", "0"], "at least one byte"),
            (["start", "tiles:3x3", "R", "--threads", "0"], "--threads"),
            (["start", "tiles:3x3", "R", "--threads", "two"], "--threads"),
            (["start", "tiles:3x3", "R", "--max-depth", "-1"], "--max-depth"),
            (["start", "tiles:3x3", "R", "--max-seconds", "nan"], "--max-seconds takes"),
            (["start", "tiles:3x3", "R", "--max-seconds", "0"], "--max-seconds takes"),
            (["start", "tiles:3x3", "R", "--checkpoint", "-1"], "--checkpoint takes"),
            (["start", "tiles:3x3", "R", "--keep", "none"], "frontier"),
            (["resume"], "RUN"),
            (["status"], "RUN"),
            (["status", "R", "--interval", "0"], "--interval"),
            (["export", "R", "--format", "xml"], "bfile"),
            (["export", "R", "--format", "csv", "--json"], "contradict"),
            (["states", "R"], "--depth"),
            (["states", "R", "--depth", "-1"], "a number from 0 or `last`"),
            (["states", "R", "--depth", "x"], "a number from 0 or `last`"),
            (["states", "R", "--depth", "٣"], "a number from 0 or `last`"),
            (["states", "R", "--depth", "1", "--limit", "-1"], "--limit"),
            (["depth", "R"], "STATE"),
            (["status", "R", "extra"], "extra"),
        ],
    )
    def test_one_sentence_and_exit_2(self, argv, words, capsys):
        assert main(argv) == 2
        assert words in sentence(capsys)

    @pytest.mark.parametrize("verb", ["status", "export"])
    def test_not_a_run_is_exit_10(self, verb, tmp_path, capsys):
        assert main([verb, str(tmp_path / "RUN")]) == 10
        assert "there is no such directory" in sentence(capsys)


class TestErrors:
    @pytest.mark.parametrize(
        ("error", "code", "words"),
        [
            (store_errors.NotARun("R", "it is empty"), 10, "R is not a run directory: it is empty"),
            (store_errors.Locked("R", "process 7"), 11, "R is being written by process 7"),
            (store_errors.UnknownVersion("R", 9, 1), 12, "format version 9"),
            (store_errors.DiskFull("R/x", "write", "no space"), 20, "cannot write R/x"),
            (store_errors.IntegrityError("R/x", 3, "bad checksum"), 21, "R/x, block 3"),
            (store_errors.DiskLimit("R would need 9 bytes"), 3, "raise --disk"),
            (store_errors.NoPermission("R", "write", "denied"), 1, "May not write R"),
            (PuzzleError("tiles:9x9 needs 400 bits"), 2, "needs 400 bits"),
            (KeyboardInterrupt(), 130, "interrupted"),
            (MemoryError(), 1, "out of memory"),
            (PermissionError(13, "Permission denied", "R"), 1, "R: Permission denied"),
            (ZeroDivisionError("oh"), 1, "internal error: ZeroDivisionError: oh"),
            (ValueError("two\nlines"), 1, "internal error: ValueError: two lines"),
        ],
    )
    def test_one_sentence_and_the_right_code(self, error, code, words, searched, tmp_path, capsys):
        searched.error = error
        assert main(["start", "tiles:3x3", str(tmp_path / "R")]) == code
        assert words in sentence(capsys)

    def test_an_internal_error_is_kept_in_the_log(self, searched, tmp_path, capsys):
        searched.error = ZeroDivisionError("oh")
        run = tmp_path / "R"
        assert main(["start", "tiles:3x3", str(run)]) == 1
        assert f"details are in {run}/log.jsonl" in sentence(capsys)
        entry = json.loads((run / "log.jsonl").read_text().splitlines()[-1])
        assert "ZeroDivisionError: oh" in entry["traceback"]

    def test_a_reader_writes_no_log(self, tmp_path, monkeypatch, capsys):
        run = write_run(tmp_path / "R")

        def broken(path, puzzle=None):
            raise ZeroDivisionError

        monkeypatch.setitem(vars(extbfs), "open_run", broken)
        assert main(["depth", str(run), "1"]) == 1
        assert "EXTBFS_DEBUG=1 shows the details" in sentence(capsys)
        assert not (run / "log.jsonl").exists()

    def test_debug_shows_the_traceback(self, searched, tmp_path, monkeypatch, capsys):
        monkeypatch.setenv("EXTBFS_DEBUG", "1")
        searched.error = ZeroDivisionError("oh")
        assert main(["start", "tiles:3x3", str(tmp_path / "R")]) == 1
        assert "Traceback" in capsys.readouterr().err


class TestSearch:
    def test_start_passes_everything_on(self, searched, tmp_path):
        argv = (
            "--start 1 --goal 2 --metric multi --no-symmetry --exhaust --max-depth 7"
            " --max-seconds 9 --keep frontier --checkpoint 5 --memory 1GiB --disk 2G"
            " --threads 3 --force --algebra set"
        ).split()
        assert main(["start", "tiles:3x3", str(tmp_path / "R"), *argv]) == 0
        del searched.arguments["observer"]
        assert searched.arguments == {
            "puzzle": "tiles:3x3",
            "run": tmp_path / "R",
            "start": "1",
            "goal": "2",
            "metric": "multi",
            "symmetry": False,
            "exhaust": True,
            "max_depth": 7,
            "max_seconds": 9.0,
            "keep": "frontier",
            "algebra": "set",
            "checkpoint": 5.0,
            "memory": 2**30,
            "disk": 2 * 2**30,
            "threads": 3,
            "force": True,
        }

    def test_resume_leaves_alone_what_is_not_given(self, searched, tmp_path):
        assert main(["resume", str(tmp_path / "R")]) == 0
        given = {k: v for k, v in searched.arguments.items() if v is not None}
        assert set(given) == {"run", "observer"}

    def test_resume_takes_new_limits(self, searched, tmp_path):
        argv = "--max-depth 7 --memory 2G --disk 1T --threads 1 --no-exhaust --puzzle m:a".split()
        assert main(["resume", str(tmp_path / "R"), *argv]) == 0
        given = {k: v for k, v in searched.arguments.items() if v is not None}
        del given["run"], given["observer"]
        assert given == {
            "max_depth": 7,
            "memory": 2 << 30,
            "disk": 1 << 40,
            "threads": 1,
            "exhaust": False,
            "puzzle": "m:a",
        }

    def test_the_table_is_printed(self, searched, tmp_path, capsys):
        assert main(["start", "tiles:3x3", str(tmp_path / "R")]) == 0
        out, err = capsys.readouterr()
        assert [int(line.split()[1]) for line in out.splitlines()[1:]] == COUNTS
        assert "all 181440 states" in err

    def test_json_says_the_same(self, searched, tmp_path, capsys):
        assert main(["start", "tiles:3x3", str(tmp_path / "R"), "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert [row["states"] for row in data["depths"]] == COUNTS
        assert data["outcome"]["reason"] == "exhausted"
        assert (data["schema"], data["extbfs"]) == (1, extbfs.__version__)

    def test_a_stopped_search_says_how_to_go_on(self, searched, tmp_path, capsys):
        searched.outcome = Outcome(143, "signal", 20, "stopped; go on with: extbfs resume R")
        searched.status = running(state="stopped", reason="signal")
        assert main(["start", "tiles:3x3", str(tmp_path / "R")]) == 143
        assert capsys.readouterr().err == "stopped; go on with: extbfs resume R\n"

    @pytest.mark.parametrize(
        ("reason", "option"), [("max-depth", "--max-depth N"), ("goal", "--exhaust")]
    )
    def test_a_success_that_is_not_all_says_what_brings_more(
        self, reason, option, searched, tmp_path, capsys
    ):
        searched.outcome = Outcome(0, reason, 20, "done")
        searched.status = running(state="finished", reason=reason)
        assert main(["start", "tiles:3x3", str(tmp_path / "R")]) == 0
        assert f"`extbfs resume {tmp_path}/R {option}`" in capsys.readouterr().err

    def test_dry_run_writes_nothing(self, searched, tmp_path, capsys):
        run = tmp_path / "R"
        assert main(["start", "tiles:3x3", str(run), "--dry-run", "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert data["key_bits"] == 18  # 9!/2 = 181440 states
        assert not run.exists()
        assert not hasattr(searched, "arguments")

    def test_dry_run_refuses_what_start_would(self, tmp_path, capsys):
        (tmp_path / "x").touch()
        assert main(["start", "tiles:3x3", str(tmp_path), "--dry-run"]) == 2
        assert "is not empty" in sentence(capsys)


class TestStatus:
    def test_text_and_json_agree(self, tmp_path, capsys):
        run = write_run(tmp_path / "R", running())
        assert main(["status", str(run)]) == 0
        text = capsys.readouterr().out
        assert main(["status", str(run), "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert data["state"] == "killed"
        assert "state      killed" in text
        table = text.split("\n\n")[1].splitlines()[1:]
        assert [int(line.split()[1]) for line in table] == [r["states"] for r in data["depths"]]

    def test_watch_ends_with_the_run(self, tmp_path, capsys, monkeypatch):
        run = write_run(tmp_path / "R", running())
        lock = WriterLock.acquire(run)
        slept = []

        def sleep(seconds):
            slept.append(seconds)
            if len(slept) == 3:
                write_run(run)
                lock.release()

        monkeypatch.setattr("time.sleep", sleep)
        assert main(["status", str(run), "--watch", "--json", "--interval", "7"]) == 0
        states = [json.loads(line)["state"] for line in capsys.readouterr().out.splitlines()]
        assert states == ["running"] * 3 + ["finished"]
        assert slept == [7.0] * 3


class TestExport:
    def test_csv_is_the_default(self, tmp_path, capsys):
        assert main(["export", str(write_run(tmp_path / "R"))]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [int(line.split(",")[1]) for line in lines[1:]] == COUNTS

    def test_json_option_is_json_format(self, tmp_path, capsys):
        run = str(write_run(tmp_path / "R"))
        assert main(["export", run, "--json"]) == 0
        first = capsys.readouterr().out
        assert main(["export", run, "--format", "json"]) == 0
        assert capsys.readouterr().out == first

    def test_to_a_file_once(self, tmp_path, capsys):
        run, file = str(write_run(tmp_path / "R")), tmp_path / "b.txt"
        assert main(["export", run, "--format", "bfile", "--output", str(file)]) == 0
        out, err = capsys.readouterr()
        assert out == ""
        assert str(file) in err
        assert file.read_text().endswith("\n31 2\n")
        assert main(["export", run, "--output", str(file)]) == 1
        assert "exists already" in sentence(capsys)
        assert main(["export", run, "--output", str(file), "--force"]) == 0


@pytest.mark.usefixtures("opened")
class TestReaders:
    def test_path(self, capsys):
        assert main(["path", "R"]) == 0
        assert capsys.readouterr().out.splitlines()[-1] == "3 moves"
        assert main(["path", "R", "--to", "2", "--boards", "none"]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "start: 0",
            "1. 0 -> 1",
            "2. 1 -> 2",
            "2 moves",
        ]

    @pytest.mark.parametrize(
        ("boards", "drawn"), [("ends", "0 2"), ("all", "0 1 2"), ("2", "0 2"), ("3", "0 2")]
    )
    def test_boards_of_a_path(self, boards, drawn, capsys):
        assert main(["path", "R", "--to", "2", "--boards", boards]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert " ".join(line for line in lines if line.isdigit()) == drawn

    def test_solutions_are_counted(self, capsys):
        assert main(["path", "R", "--all-optimal", "count"]) == 0
        last = capsys.readouterr().out.splitlines()[-1]
        assert last == "2 shortest solutions, to 1 goal state"

    @pytest.mark.parametrize("argv", [["--boards", "0"], ["--boards", "x"], ["--all-optimal", "y"]])
    def test_path_refuses_what_it_cannot_mean(self, argv, capsys):
        assert main(["path", "R", *argv]) == 2
        assert argv[0] in capsys.readouterr().err

    def test_path_as_json(self, capsys):
        assert main(["path", "R", "--to", "2", "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert data["length"] == 2
        assert [state["key"] for state in data["states"]] == [0, 1, 2]
        assert data["moves"] == ["0 -> 1", "1 -> 2"]
        assert data["details"] == [{"move": "0 -> 1"}, {"move": "1 -> 2"}]

    def test_no_solution_is_an_answer(self, opened, capsys):
        opened.searched = {"states": 10, "depth": 9}
        assert main(["path", "R"]) == 0
        assert capsys.readouterr().out == (
            "there is no solution: all 10 states that can be reached were searched, to depth 9,"
            " and none is the goal\n"
        )
        assert main(["path", "R", "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert (data["length"], data["searched"]) == (None, {"states": 10, "depth": 9})
        assert main(["path", "R", "--to", "2"]) == 0
        assert capsys.readouterr().out.endswith("2 moves\n")

    @pytest.mark.parametrize(("depth", "state"), [("0", "0"), ("4", "4"), ("last", "9")])
    def test_states(self, depth, state, capsys):
        assert main(["states", "R", "--depth", depth]) == 0
        assert capsys.readouterr().out == f"{state}\n"

    def test_states_as_json(self, capsys):
        assert main(["states", "R", "--depth", "last", "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert (data["depth"], data["count"], data["listed"]) == (9, 1, 1)
        assert data["states"] == [{"key": 9, "state": "9", "drawing": "9"}]

    def test_states_are_limited_unless_told(self, opened, capsys):
        opened.states = lambda depth: iter([np.arange(70, dtype=np.uint64)] * 2)
        opened.depths = [{"depth": 0, "states": 140, "cumulative": 140}]
        assert main(["states", "R", "--depth", "0"]) == 0
        out, err = capsys.readouterr()
        assert len(out.splitlines()) == 100
        assert "100 of 140" in err
        assert main(["states", "R", "--depth", "0", "--limit", "0", "--json"]) == 0
        assert len(json.loads(capsys.readouterr().out)["states"]) == 140

    def test_states_of_a_depth_not_reached(self, capsys):
        assert main(["states", "R", "--depth", "10"]) == 2
        assert "the run has the depths 0 to 9" in sentence(capsys)

    def test_depth(self, capsys):
        assert main(["depth", "R", "4"]) == 0
        assert capsys.readouterr().out == "4\n"
        assert main(["depth", "R", "9"]) == 0
        assert capsys.readouterr().out == "cannot be reached\n"
        assert main(["depth", "R", "9", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["depth"] is None

    def test_depth_of_no_state(self, capsys):
        assert main(["depth", "R", "x"]) == 2
        assert "'x' is not one" in sentence(capsys)

    def test_verify(self, opened, capsys):
        assert main(["verify", "R", "--quick"]) == 0
        out, err = capsys.readouterr()
        assert out == "all is well: checked 10 runs\n"
        assert err == "quick is True\n"
        opened.problems = ({"file": "R/layers/x", "block": 3, "detail": "bad checksum"},)
        assert main(["verify", "R"]) == 21
        out = capsys.readouterr().out
        assert out == "R/layers/x, block 3: bad checksum\n1 damaged: checked 10 runs\n"
        assert main(["verify", "R", "--json"]) == 21
        data = json.loads(capsys.readouterr().out)
        assert data["problems"][0]["file"] == "R/layers/x"
        assert data["checked"] == {"runs": 10}


class TestPuzzles:
    def test_the_list(self, capsys):
        assert main(["puzzles"]) == 0
        out = capsys.readouterr().out
        assert "15-puzzle" in out
        assert "tiles:ROWSxCOLUMNS" in out

    def test_the_list_as_json(self, capsys):
        assert main(["puzzles", "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert "tiles" in [family["name"] for family in data["families"]]

    def test_one(self, capsys):
        assert main(["puzzles", "8-puzzle"]) == 0
        assert "7 8" in capsys.readouterr().out

    def test_none(self, capsys):
        assert main(["puzzles", "9-puzzle"]) == 2
        assert "9-puzzle" in sentence(capsys)


class TestCheck:
    def test_a_good_puzzle(self, capsys):
        assert main(["check", "tiles:2x2", "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert (data["ok"], data["complete"], data["states"]) == (True, True, 12)  # 4!/2

    def test_a_broken_promise(self, capsys):
        assert main(["check", f"{__name__}:ONE_WAY"]) == 1
        assert "BROKEN undirected" in capsys.readouterr().out


class TestPipes:
    """What only a process of its own can show."""

    def run(self, *argv: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "extbfs", *argv], stderr=subprocess.PIPE, text=True, **options
        )

    def test_a_reader_that_leaves_early(self, tmp_path):
        run = write_run(tmp_path / "R")
        reader, writer = os.pipe()
        os.close(reader)
        process = self.run("export", str(run), stdout=writer)
        os.close(writer)
        assert process.communicate()[1] == ""
        assert process.returncode == 128 + signal.SIGPIPE

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
    def test_an_output_that_is_full(self, tmp_path):
        run = write_run(tmp_path / "R")
        with open("/dev/full", "w") as full:
            process = self.run("export", str(run), stdout=full)
            err = process.communicate()[1]
        assert err == "extbfs: No space left on device\n"
        assert process.returncode == 1

    def test_a_watch_that_is_interrupted(self, tmp_path):
        run = write_run(tmp_path / "R", running())
        with WriterLock.acquire(run):
            process = self.run("status", str(run), "--watch", "--json", stdout=subprocess.PIPE)
            assert process.stdout is not None
            assert process.stdout.readline()
            process.send_signal(signal.SIGINT)
            assert process.communicate()[1] == "extbfs: interrupted\n"
        assert process.returncode == 130
