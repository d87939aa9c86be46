"""One search by the engine in a process and a directory of its own, measured."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extbfs.engine.disk import directory_bytes
from ops.bench import child, depths, machine
from ops.bench.table import Counts, Table
from store import names

LAYER_BYTES_PER_STATE = 3
ARRIVALS_PER_STATE = 2.3
NARROW_FROM = 1 << 26
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Job:
    """What to search, and what the figures are about: depths first to last, which is where the
    search stops, or all that there are.

    options: more of them, for `extbfs start`.
    """

    puzzle: str
    key_space: int
    first: int
    last: int | None
    memory: int
    threads: int
    algebra: str | None = None
    options: tuple[str, ...] = ()


def measure(job: Job, directory: Path, counts: Table) -> dict[str, Any]:
    """Search in a new directory below `directory`, which is deleted again; its figures.

    Raises WrongCounts, ChildFailed, JournalFault.
    """
    home = Path(tempfile.mkdtemp(prefix="extbfs-bench-", dir=directory.resolve()))
    run = home / "run"
    command: list[str | Path] = [sys.executable, "-m", "extbfs", "start", job.puzzle, run]
    options = {
        "--max-depth": job.last,
        "--memory": job.memory,
        "--threads": job.threads,
        "--algebra": job.algebra,
    }
    for option, value in options.items():
        command += [] if value is None else [option, str(value)]
    try:
        os.sync()  # what was written before is not for this search to wait for
        ended = child.run([*command, *job.options], machine.ROOT)
        return report(job, run, ended, counts)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def report(job: Job, run: Path, ended: child.Ended, counts: Table) -> dict[str, Any]:
    """The figures of a finished run directory."""
    events = depths.read_journal(run / names.LOG)
    found = depths.costs(events, job.key_space)
    last = max(found) if job.last is None else job.last
    counts.compare([found[depth].states for depth in sorted(found)], "the engine")
    status = json.loads((run / names.STATUS).read_text(encoding="utf-8"))
    stored = directory_bytes(str(run))
    layers = sum(cost.layer_bytes for cost in found.values())
    begun = next(event["time"] for event in events if event["event"] == "start")
    span = depths.total(found, job.first, last)
    return {
        "memory_bytes": job.memory,
        "algebra": job.algebra or "auto",
        "threads": job.threads,
        "startup_seconds": round(begun - ended.started, 3),
        "seconds": round(ended.seconds, 3),
        "user_seconds": round(ended.user_seconds, 3),
        "system_seconds": round(ended.system_seconds, 3),
        "peak_resident_bytes": ended.peak_bytes,
        "directory_bytes": stored,
        "directory_peak_bytes": status["disk"]["peak"],
        "beside_layers_bytes": stored - layers,
        "range": depths.figures(span, job.threads, stored - layers),
        "depths": [
            {"depth": depth, **depths.figures(found[depth], job.threads)}
            for depth in range(job.first, last + 1)
        ],
    }


def ample_memory(counts: Counts, depth: int) -> tuple[int, int]:
    """(memory limit, bytes of the run directory) with which depth `depth` stays in RAM, guessed."""
    arrivals = int(counts.counts[depth] * ARRIVALS_PER_STATE)
    pools = arrivals * (4 if arrivals >= NARROW_FROM else 8)
    limit = (pools * 13 // 10 + 1024 * MIB) // MIB * MIB
    return limit, counts.cumulative[depth] * LAYER_BYTES_PER_STATE + 64 * MIB


def deepest_in_ram(counts: Counts, last: int, memory: int, disk: int) -> int | None:
    """The deepest depth up to `last` that fits `memory` bytes, the RAM disk's `disk` among them."""
    fitting = None
    for depth in range(min(last, len(counts.counts) - 1) + 1):
        limit, directory = ample_memory(counts, depth)
        if limit + directory <= memory and directory <= disk:
            fitting = depth
    return fitting
