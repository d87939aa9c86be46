"""The commands that only report stay light: no numba, no matter what they print."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from store.catalogue import Catalogue
from tests.extbfs.samples import running, write_run

_PROGRAM = """
import sys
from extbfs.cli import main
code = main(sys.argv[1:])
heavy = {name.partition(".")[0] for name in sys.modules} & {"numba", "llvmlite", "scipy"}
print("HEAVY", code, *sorted(heavy), file=sys.stderr)
"""


def heavy(*argv: str) -> str:
    """The exit code of a command and the heavy modules it has imported."""
    process = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *argv], capture_output=True, text=True, check=True
    )
    return process.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "argv",
    [
        ["--help"],
        ["--version"],
        ["start", "--help"],
        ["puzzles"],
        ["puzzles", "--json"],
        ["status", "RUN"],
        ["status", "RUN", "--json"],
        ["export", "RUN"],
        ["export", "RUN", "--format", "bfile"],
        ["export", "RUN", "--json"],
    ],
)
def test_no_numba(argv, tmp_path):
    run = write_run(tmp_path / "RUN")
    assert heavy(*(str(run) if word == "RUN" else word for word in argv)) == "HEAVY 0"


def test_no_numba_for_a_killed_run(tmp_path):
    run = write_run(tmp_path / "RUN", running())
    record = json.dumps({"puzzle": {}, "parameters": {}}).encode()
    Catalogue.create(run, {}, {"run/spec": record}).close()
    assert heavy("status", str(run)) == "HEAVY 0"


def test_importing_the_package_is_light():
    program = "import sys, extbfs, store, puzzles; print('numba' in sys.modules)"
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert process.stdout == "False\n"
