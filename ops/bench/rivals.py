"""The same search by plain means, each in a process of its own: numpy, and a hash set in C++."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ops.bench import child, machine
from ops.bench.table import Board, Counts, Table

SOURCE = Path(__file__).with_name("hash_set.cpp")
MOST_CELLS = 16
MOST_STATES = 100_000_000
FLAGS = ("-O3", "-march=native", "-std=c++17")


def why_not(board: Board, counts: Counts) -> str | None:
    """The reason why the rivals cannot search a board, if there is one."""
    if board.cells > MOST_CELLS:
        return f"their states have 64 bits, too few for {board}"
    if not counts.counts:
        return f"the states of {board} are not known, nor the memory they would take"
    return None


def depth_for(counts: Table, last: int, most_states: int = MOST_STATES) -> int:
    """How deep the rivals go: with at most `most_states` states, and no deeper than the table."""
    return min(last, counts.deepest_within(most_states) or 0)


def numpy_search(board: Board, depth: int, counts: Counts) -> dict[str, Any]:
    """The figures of the numpy search, one core."""
    module = [sys.executable, "-m", "ops.bench.numpy_search"]
    sizes = [str(board.rows), str(board.columns), str(depth)]
    return report(child.run([*module, *sizes], machine.ROOT), counts, "numpy")


def hash_set(board: Board, depth: int, counts: Counts) -> dict[str, Any]:
    """The figures of the C++ search, one core; "skipped" tells why there are none."""
    slots = slots_for(counts.cumulative[depth])
    sizes = [board.rows, board.columns, depth, slots]
    try:
        ended = run_compiled(SOURCE, [str(size) for size in sizes], 8 << slots)
    except Skipped as reason:
        return {"skipped": str(reason)}
    return report(ended, counts, "the hash set in C++")


class Skipped(Exception):
    """Why a rival was not run."""


def run_compiled(source: Path, arguments: Sequence[str], table_bytes: int) -> child.Ended:
    """Compile a C++ program and run it; table_bytes: what it will take. Raises Skipped."""
    compiler = find_compiler()
    if compiler is None:
        raise Skipped("no C++ compiler was found")
    if table_bytes > machine.available_memory() // 2:
        raise Skipped(f"a table of {table_bytes} bytes is too large for this machine")
    with tempfile.TemporaryDirectory(prefix="extbfs-bench-") as home:
        program = Path(home) / source.stem
        try:
            child.run([compiler, *FLAGS, "-o", program, source], Path(home))
        except child.ChildFailed as error:
            raise Skipped(f"the C++ compiler failed: {error}") from None
        return child.run([program, *arguments], Path(home))


def slots_for(states: int) -> int:
    """log2 of the slots of a table that so many states fill to two thirds at most."""
    return max(10, (states * 3 // 2).bit_length())


def find_compiler() -> str | None:
    """A C++ compiler: $CXX, or the first that is found by its usual names."""
    named = [os.environ.get("CXX", ""), "c++", "g++", "clang++"]
    return next((path for name in named if name and (path := shutil.which(name))), None)


def report(ended: child.Ended, counts: Table, what: str) -> dict[str, Any]:
    """The figures of a rival, which prints [depth, states, seconds] of each depth.

    Raises WrongCounts.
    """
    rows = json.loads(ended.output)
    counts.compare([states for _, states, _ in rows], what)
    states = sum(states for _, states, _ in rows)
    seconds = sum(seconds for _, _, seconds in rows)
    return {
        "depth": rows[-1][0],
        "states": states,
        "seconds": round(seconds, 3),
        "states_per_second": round(states / seconds) if seconds > 0 else None,
        "last_depth_states_per_second": round(rows[-1][1] / rows[-1][2]) if rows[-1][2] else None,
        "cpu_seconds": round(ended.user_seconds + ended.system_seconds, 3),
        "peak_resident_bytes": ended.peak_bytes,
    }
