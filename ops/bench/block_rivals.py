"""Sliding blocks by other means: a hash set in C++, and any solver that the user has."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ops.bench import child, machine, rivals
from ops.bench.figures import ratio
from ops.bench.table import Table
from puzzles.blocks import index
from puzzles.blocks.model import Cell, Model
from store import names

SOURCE = Path(__file__).with_name("blocks_hash_set.cpp")
SLOT_BYTES = 16
MOST_CELLS = 32
MOST_KINDS = 15
PLACEHOLDER = "{xml}"


def hash_set(model: Model, depth: int, counts: Table) -> dict[str, Any]:
    """The figures of the C++ search in steps, one core; "skipped" tells why there are none."""
    if model.height * model.width > MOST_CELLS or len(model.kinds) > MOST_KINDS:
        return {"skipped": f"{model.name} does not fit its states of 128 bits"}
    slots = rivals.slots_for(counts.cumulative[depth])
    with tempfile.TemporaryDirectory(prefix="extbfs-bench-") as home:
        file = Path(home) / "puzzle"
        file.write_text(numbers(model), encoding="ascii")
        arguments = [str(file), str(depth), str(slots)]
        try:
            ended = rivals.run_compiled(SOURCE, arguments, SLOT_BYTES << slots)
        except rivals.Skipped as reason:
            return {"skipped": str(reason)}
    return rivals.report(ended, counts, "the hash set in C++")


def numbers(model: Model) -> str:
    """A puzzle as the C++ program reads it."""

    def cells(of: tuple[Cell, ...]) -> list[int]:
        return [len(of), *(y * model.width + x for y, x in of)]

    lines = [[model.height, model.width], cells(tuple(sorted(model.walls))), [len(model.kinds)]]
    for kind, start in zip(model.kinds, model.start, strict=True):
        lines += [[len(kind.cells), *(n for cell in kind.cells for n in cell)], cells(start)]
    return "\n".join(" ".join(map(str, line)) for line in lines) + "\n"


@dataclass(frozen=True, slots=True)
class Race:
    """A solver's command with {xml} for the file, and how `extbfs start` is to search."""

    command: str
    metric: str
    memory: int
    threads: int


def race(how: Race, puzzle: str, directory: Path) -> dict[str, Any]:
    """Wall time of a program and of `extbfs start` on the same puzzle, each to the optimum.

    puzzle: the library's own name. "failed" tells how the program ended, if badly. Raises
    ChildFailed where extbfs does.
    """
    with tempfile.TemporaryDirectory(prefix="extbfs-bench-", dir=directory) as place:
        home = Path(place)
        file = home / f"{puzzle}.xml"
        file.write_bytes(index.read(puzzle))
        run = home / "run"
        options = {"--metric": how.metric, "--memory": how.memory, "--threads": how.threads}
        words = [str(word) for option in options.items() for word in option]
        start = [sys.executable, "-m", "extbfs", "start", puzzle, str(run), *words]
        ours = child.run(start, machine.ROOT)
        goal = json.loads((run / names.STATUS).read_text(encoding="utf-8"))["goal"]
        optimum = None if goal is None else goal["depth"]
        found: dict[str, Any] = {
            "puzzle": puzzle,
            "metric": how.metric,
            "optimum": optimum,
            "extbfs_seconds": round(ours.seconds, 3),
            "extbfs_cpu_seconds": round(ours.user_seconds + ours.system_seconds, 3),
            "extbfs_peak_resident_bytes": ours.peak_bytes,
        }
        try:
            theirs = child.run(command_for(how.command, file), Path.cwd())
        except (child.ChildFailed, OSError) as error:
            return {**found, "failed": str(error)}
    return {
        **found,
        "program_seconds": round(theirs.seconds, 3),
        "program_cpu_seconds": round(theirs.user_seconds + theirs.system_seconds, 3),
        "program_peak_resident_bytes": theirs.peak_bytes,
        "program_names_optimum": None if optimum is None else says(theirs.output, optimum),
        "program_to_extbfs": ratio(theirs.seconds, ours.seconds),
    }


def command_for(command: str, file: Path) -> list[str]:
    """The words of a command with the file in place of {xml}."""
    return [word.replace(PLACEHOLDER, str(file)) for word in shlex.split(command)]


def says(output: str, number: int) -> bool:
    """Whether a number stands anywhere in what a program printed."""
    return re.search(rf"(?<![\d.]){number}(?![\d.]*\d)", output) is not None
