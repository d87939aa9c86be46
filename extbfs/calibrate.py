"""Measuring what a search costs here: a few seconds of it, and of writing, beside the run's place.

What is written for that goes into a directory of its own on the same file system, and is deleted
however it ends; only a process killed outright leaves it, and the next one deletes it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from extbfs import kernels
from extbfs.algebra.choice import choose, make
from extbfs.api import Limits
from extbfs.engine.budget import MIB
from extbfs.engine.disk import directory_bytes
from extbfs.errors import SearchError
from extbfs.forecast import Needs, Rates, existing_parent, room
from extbfs.session import Session
from puzzles.contract import Puzzle
from store import fs, names

SECONDS = 4.0
"""How long to search."""
WRITE_SECONDS = 1.0
LARGEST_WRITE = 256 * MIB
CHUNK = 4 * MIB
PREFIX = ".extbfs-dry-run-"
NARROW_KEYS = 1 << 45
"""Key spaces from which the children of large layers no longer fit four bytes."""


class Interrupted(SearchError):
    """A signal ended the dry run."""

    def __init__(self, number: int) -> None:
        super().__init__("interrupted; nothing was left behind")
        self.number = number

    @property
    def exit_code(self) -> int:  # type: ignore[override]
        return 128 + self.number


@dataclass(frozen=True, slots=True)
class Measured:
    """A short search: how it ended, its depth table, and what follows from it."""

    reason: str
    rows: list[dict[str, Any]]
    rates: Rates
    needs: Needs
    algebra: str
    memory_limit: int
    threads: int
    peak_memory: int
    seconds: float


def measure(
    puzzle: Puzzle,
    run: str,
    limits: Limits,
    *,
    keep: str,
    exhaust: bool,
    algebra: str,
    tell: Callable[[str], None],
) -> Measured:
    """Search for a few seconds with these limits, then write for one second.

    Raises what `start` would raise for limits that cannot work, and Interrupted.
    """
    chosen = make(choose(puzzle, algebra), puzzle)
    kernels.warm(chosen, tell)
    seconds = SECONDS if limits.max_seconds is None else min(SECONDS, limits.max_seconds)
    with _signals_raise(), _directory(run) as directory:
        tell(f"searching for {seconds:.0f} seconds at most, to measure ...")
        place = os.path.join(directory, "run")
        with Session(place, replace(limits, max_seconds=seconds), None, create=True) as session:
            ending, status = session.start(puzzle, keep=keep, exhaust=exhaust, algebra=chosen.name)
        if ending.reason == "signal":
            raise Interrupted(ending.exit_code - 128)
        bare = directory_bytes(place) - sum(
            directory_bytes(os.path.join(place, name)) for name in (names.LAYERS, names.SPILL)
        )
        disk = _disk_rate(directory, room(run, None))
    rows = status["depths"]
    memory = session.memory
    assert memory is not None
    history = chosen.history(2)
    return Measured(
        ending.reason,
        rows,
        _rates(rows, memory.pool * memory.threads, puzzle.key_space, bare, disk),
        Needs(keep, None if history is None else tuple(2 - depth for depth in history)),
        chosen.name,
        memory.limit,
        memory.threads,
        status["memory"]["peak"],
        status["seconds"],
    )


def _rates(
    rows: Sequence[Mapping[str, Any]], pool: int, key_space: int, base: int, disk: float
) -> Rates:
    """What a state costs, by the last depths, which hold the most."""
    largest = max(row["states"] for row in rows)
    last = [row for row in rows if row["states"] * 4 >= largest][-3:]
    states = sum(row["states"] for row in last)
    small = [row["seconds"] for row in rows if row["states"] * 100 <= largest]
    return Rates(
        seconds=sum(row["seconds"] for row in last) / states,
        bytes=last[-1]["bytes"] / last[-1]["states"],
        routed=sum(row.get("routed", row["arrivals"]) for row in last) / states,
        record_bytes=4 if key_space <= NARROW_KEYS else 8,
        pool=pool,
        overhead=statistics.median(small) if small else 0.0,
        base=base,
        disk=disk,
    )


def _disk_rate(directory: str, there: int) -> float:
    """Bytes a second that a new file takes when it is written in order and made durable."""
    disk = fs.current()
    data = memoryview(np.random.default_rng(1).bytes(CHUNK))
    path = os.path.join(directory, "written")
    most = max(CHUNK, min(LARGEST_WRITE, there // 10))
    fd = disk.create(path)
    try:
        begun, written = time.perf_counter(), 0
        while written < most and time.perf_counter() - begun < WRITE_SECONDS:
            disk.pwrite(fd, data, written)
            written += CHUNK
        disk.datasync(fd)
        return written / max(1e-6, time.perf_counter() - begun)
    finally:
        disk.close(fd)
        disk.unlink(path)


# The directory


@contextlib.contextmanager
def _directory(run: str) -> Iterator[str]:
    """A new directory on the file system where the run would lie, gone at the end."""
    place = existing_parent(run)
    if place == Path(run).absolute() and os.stat(place).st_dev == os.stat(place.parent).st_dev:
        place = place.parent
    _sweep(place)
    path = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=place)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _sweep(place: Path) -> None:
    """Delete what dry runs have left that were killed."""
    for name in os.listdir(place):
        pid = name.removeprefix(PREFIX).partition("-")[0]
        if name.startswith(PREFIX) and pid.isdigit() and not _alive(int(pid)):
            shutil.rmtree(place / name, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


@contextlib.contextmanager
def _signals_raise() -> Iterator[None]:
    """Let Ctrl-C, TERM and HUP unwind the stack, so that what was written is deleted."""

    def caught(number: int, frame: FrameType | None) -> None:
        raise Interrupted(number)

    old: dict[int, Any] = {}
    with contextlib.suppress(ValueError):  # only the main thread may
        for number in (int(signal.SIGINT), int(signal.SIGTERM), int(signal.SIGHUP)):
            if signal.getsignal(number) is not signal.SIG_IGN:
                old[number] = signal.signal(number, caught)
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
