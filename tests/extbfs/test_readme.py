"""What the README shows is run as it stands there."""

from __future__ import annotations

import json
import re
from math import comb
from pathlib import Path

import pytest

import extbfs.errors
from extbfs.cli import main

README = (Path(__file__).parents[2] / "README.md").read_text()


def code(first_line: str) -> str:
    """The Python block that begins with `first_line`."""
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (block,) = (block for block in blocks if block.startswith(first_line))
    return str(block)


def test_there_are_two_commands_to_set_up():
    commands = re.findall(r"^    python3 -m venv .*", README, re.MULTILINE)
    assert len(commands) == 2
    assert "extbfs start tiles:3x3" in commands[0]
    assert "pytest" in commands[1]


def test_the_users_own_puzzle(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("lights.py").write_text(code("# lights.py"))
    assert main(["check", "lights:LIGHTS", "--states", "2000"]) == 0
    capsys.readouterr()
    assert main(["start", "lights:LIGHTS", "run", "--max-depth", "5", "--json"]) == 0
    counts = [row["states"] for row in json.loads(capsys.readouterr().out)["depths"]]
    # Pressing 12 buttons is the least that changes nothing, so up to 5 all choices differ.
    assert counts == [comb(25, depth) for depth in range(6)]


def test_from_python(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(code("import extbfs"), "README.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert "181440 states" in lines[0]
    assert lines[1] == "[ 1  2  4  8 16 20]"
    assert lines[-2:] == ["31", "1"]


def test_the_drawn_puzzle(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"    \$ cat corner.txt\n((?:    .*\n|\n)*)", README)
    drawing, start, path = re.split(r"\$ extbfs ", re.sub("^    ", "", block, flags=re.MULTILINE))
    Path("corner.txt").write_text(drawing)
    assert main(start.split()) == 0
    capsys.readouterr()
    command, _, printed = path.partition("\n")
    assert main(command.split()) == 0
    assert capsys.readouterr().out == printed.rstrip("\n") + "\n"


@pytest.mark.parametrize("verb", ["start", "resume", "status", "export", "states", "path", "depth"])
def test_every_verb_is_mentioned(verb):
    assert f"extbfs {verb} " in README


def test_the_exit_codes_are_those_of_the_errors():
    from store import errors as store_errors

    table = dict(re.findall(r"^\| (\d+) \| (.*) \|$", README, re.MULTILINE))
    kinds = [
        kind
        for module in (store_errors, extbfs.errors)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    ]
    assert {str(kind.exit_code) for kind in kinds if hasattr(kind, "exit_code")} <= set(table)
