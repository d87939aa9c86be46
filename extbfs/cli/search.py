"""What `start` and `resume` have in common: checks, the display, and the report at the end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extbfs.cli.output import emit, note
from extbfs.errors import UsageError
from extbfs.progress import Observer, observer
from extbfs.report import continuation, depth_table, printable
from extbfs.status import read_status

if TYPE_CHECKING:
    from extbfs import Outcome


def check_seconds(option: str, seconds: float | None) -> None:
    """A usage error unless `seconds` is a positive finite number or not given."""
    if seconds is not None and not (seconds > 0 and math.isfinite(seconds)):
        raise UsageError(f"{option} takes a positive number of seconds, not {seconds}")


def watching() -> Observer:
    """The observer for this terminal or log; a context manager."""
    return observer()


def report(run: Path, outcome: Outcome, as_json: bool) -> int:
    """Print how a search ended, table and outcome; returns its exit code."""
    status = read_status(run)
    ended = {
        "reason": outcome.reason,
        "depth": outcome.depth,
        "exit_code": outcome.exit_code,
        "sentence": outcome.sentence,
    }
    emit({"outcome": ended, **status}, as_json, lambda data: depth_table(data["depths"]))
    note(printable(outcome.sentence))
    if outcome.reason in ("goal", "max-depth") and not status.get("frontier_empty"):
        note(continuation(status))
    return int(outcome.exit_code)


def dry_run(
    puzzle: str,
    run: Path,
    start: str | None,
    goal: str | None,
    metric: str | None,
    symmetry: bool,
    force: bool,
    as_json: bool,
) -> int:
    """Build the puzzle, try its promises and look at the run directory; 0 if all is well."""
    from puzzles.check import quick_check
    from puzzles.registry import resolve
    from store import names

    found = resolve(puzzle, start=start, goal=goal, metric=metric, symmetry=symmetry)
    quick_check(found)
    free = not run.exists() or (run.is_dir() and (force or names.is_unstarted(str(run))))
    if not free:
        raise UsageError(f"{run} is not empty; name a new directory or give --force")
    starts = [int(key) for key in found.starts()]
    emit(
        {
            "puzzle": found.name,
            "metric": found.metric,
            "about": found.describe(),
            "spec": found.spec,
            "key_bits": (found.key_space - 1).bit_length(),
            "starts": [str(found.decode(key)) for key in starts[:10]],
            "start_count": len(starts),
            "run": str(run),
        },
        as_json,
        _plan_text,
    )
    return 0


def _plan_text(plan: Mapping[str, Any]) -> str:
    lines = [
        printable(plan["about"]),
        f"metric      {printable(plan['metric'])}",
        f"key         {plan['key_bits']} bits",
        *(f"start       {printable(start)}" for start in plan["starts"]),
        f"run         {printable(plan['run'])} can be created",
    ]
    return "\n".join(lines)
