"""The public API: start a search, resume one, open a run to read it.

    outcome = extbfs.start("tiles:3x3", "run")
    run = extbfs.open_run("run")
    run.counts          # array([1, 2, 4, 8, 16, 20, ...], dtype=uint64)

The words are those of the command line.
"""

from __future__ import annotations

import math
import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from extbfs.errors import RunExists, UsageError
from extbfs.reader import Run, open_run
from extbfs.sizes import parse_size
from puzzles.contract import Puzzle

__all__ = ["Observer", "Outcome", "Run", "open_run", "resume", "start"]

KEEPS = ("all", "frontier")


class Observer(Protocol):
    """Is told what happens, from the searching thread, a few times a second at most."""

    def on_event(self, event: Mapping[str, Any]) -> None:
        """event["event"] is "progress" (with "status"), "depth" (a row) or "message" ("text")."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a search ended.

    reason: exhausted, goal, max-depth, signal, max-seconds, disk-limit or disk-full; exit_code:
    what the command line returns for it; depth: the last complete one; sentence: for a person.
    """

    reason: str
    exit_code: int
    depth: int
    states: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What a search may use; None takes the default. Sizes are bytes or text such as "1GiB"."""

    memory: int | str | None = None
    disk: int | str | None = None
    threads: int | None = None
    max_depth: int | None = None
    max_seconds: float | None = None
    checkpoint: float = 60.0

    def disk_bytes(self) -> int | None:
        """The run directory's ceiling in bytes."""
        return None if self.disk is None else parse_size(self.disk, "--disk")

    def check(self) -> None:
        """Raise UsageError for what cannot be meant."""
        if self.threads is not None and self.threads < 1:
            raise UsageError(f"--threads must be at least 1, not {self.threads}")
        if self.max_depth is not None and self.max_depth < 0:
            raise UsageError(f"--max-depth must be at least 0, not {self.max_depth}")
        if self.max_seconds is not None and not self.max_seconds > 0:
            raise UsageError(f"--max-seconds must be positive, not {self.max_seconds}")
        if not self.checkpoint > 0:
            raise UsageError(f"--checkpoint must be positive, not {self.checkpoint}")


def start(
    puzzle: str | Puzzle,
    run: str | os.PathLike[str],
    *,
    start: str | None = None,
    goal: str | None = None,
    metric: str | None = None,
    symmetry: bool = True,
    exhaust: bool = False,
    max_depth: int | None = None,
    max_seconds: float | None = None,
    keep: str = "all",
    checkpoint: float = 60.0,
    memory: int | str | None = None,
    disk: int | str | None = None,
    threads: int | None = None,
    force: bool = False,
    algebra: str = "auto",
    observer: Observer | None = None,
) -> Outcome:
    """Search `puzzle` breadth-first into the new run directory `run`; returns when it ends.

    puzzle: a library name, "tiles:4x4", a file, "module:attribute", or an object that keeps the
    puzzle contract. With a goal the search stops at the goal's depth unless `exhaust`. keep: "all"
    layers (paths and states can be asked for) or only the "frontier". algebra: "set", "fibre" or
    "auto", the faster one that the puzzle permits. force: delete a run that is there, and start
    even what, by the published counts of the puzzle, cannot fit the disk. Every depth that is
    reported is durable; whatever ends a search early, `resume` goes on.

    Raises PuzzleError, UsageError, LimitError, RunExists (nothing was written) and StoreErrors.
    """
    from extbfs.forecast import refuse_what_cannot_fit
    from extbfs.session import Session

    limits = Limits(memory, disk, threads, max_depth, max_seconds, checkpoint)
    limits.check()
    if keep not in KEEPS:
        raise UsageError(f"--keep is one of {', '.join(KEEPS)}, not {keep!r}")
    found = _resolve(puzzle, start, goal, metric, symmetry)
    path = os.fspath(run)
    check_directory(path, force)
    may_end_early = max_seconds is not None or (found.has_goal and not exhaust)
    if not force and not may_end_early:
        refuse_what_cannot_fit(
            found, path, keep=keep, disk=limits.disk_bytes(), max_depth=max_depth
        )
    _delete_run(path)
    with Session(path, limits, observer, create=True) as session:
        return _outcome(session.start(found, keep=keep, exhaust=exhaust, algebra=algebra), path)


def resume(
    run: str | os.PathLike[str],
    *,
    puzzle: str | Puzzle | None = None,
    max_depth: float | None = None,
    max_seconds: float | None = None,
    exhaust: bool | None = None,
    memory: int | str | None = None,
    disk: int | str | None = None,
    threads: int | None = None,
    checkpoint: float | None = None,
    observer: Observer | None = None,
) -> Outcome:
    """Go on with a run from its last checkpoint. Limits that are not given stay as they were.

    max_depth: math.inf lifts the limit. max_seconds counts from now and holds for this time only.
    puzzle: only for a puzzle that is a Python object, and then it must be named.

    Raises NotARun, Locked, UnknownVersion, IntegrityError, PuzzleChanged, LimitError.
    """
    from extbfs.session import Session

    depth = None if max_depth is None or max_depth == math.inf else int(max_depth)
    limits = Limits(memory, disk, threads, depth, max_seconds, checkpoint or 60.0)
    limits.check()
    given: dict[str, Any] = {"max_seconds": max_seconds}
    if max_depth is not None:
        given["max_depth"] = depth
    optional = {"exhaust": exhaust, "checkpoint": checkpoint, "threads": threads}
    given.update({name: value for name, value in optional.items() if value is not None})
    path = os.fspath(run)
    with Session(path, limits, observer, create=False) as session:
        ended = session.resume(puzzle, given)
        return _outcome(ended, path)


def _outcome(ended: tuple[Any, dict[str, Any]], run: str) -> Outcome:
    from extbfs.engine.search import sentence

    ending, status = ended
    depths = status["depths"]
    resume_line = f"extbfs resume {shlex.quote(run)}"
    return Outcome(
        ending.reason,
        ending.exit_code,
        depths[-1]["depth"] if depths else 0,
        status["states"],
        sentence(ending, status, resume_line),
    )


def _resolve(
    puzzle: str | Puzzle,
    start: str | None,
    goal: str | None,
    metric: str | None,
    symmetry: bool,
) -> Puzzle:
    if isinstance(puzzle, str):
        from puzzles.registry import resolve

        return resolve(puzzle, start=start, goal=goal, metric=metric, symmetry=symmetry)
    if start is not None or goal is not None or metric is not None:
        raise UsageError("start, goal and metric belong to the puzzle object that was given")
    from puzzles.adapter import adapt
    from puzzles.contract import BasePuzzle

    if isinstance(puzzle, BasePuzzle) and hasattr(puzzle, "spec"):
        return puzzle  # one of ours, whose spec rebuilds it
    return adapt(puzzle)


def check_directory(path: str, force: bool) -> None:
    """Raise RunExists or Locked unless a run may begin at `path`; force: in place of an old one."""
    from store import lock, names
    from store.errors import Locked

    if os.path.lexists(path) and not os.path.isdir(path):
        raise RunExists(f"{path} is a file; name a new directory for the run")
    if not os.path.isdir(path) or names.is_unstarted(path):
        return
    if not force:
        raise RunExists(f"{path} is not empty; name a new directory, or resume the run it holds")
    foreign = [name for name in names.files_of(path) if names.classify(name) is None]
    if foreign:
        raise RunExists(f"{path} holds {foreign[0]}, which no run has; it is not deleted")
    holder = lock.holder(path)
    if holder is not None:
        raise Locked(path, holder)


def _delete_run(path: str) -> None:
    """Delete everything in a checked directory, unless there is nothing to delete."""
    from store import names

    if not os.path.isdir(path) or names.is_unstarted(path):
        return
    for name in os.listdir(path):
        inside = os.path.join(path, name)
        if os.path.isdir(inside) and not os.path.islink(inside):
            shutil.rmtree(inside)
        else:
            os.unlink(inside)
