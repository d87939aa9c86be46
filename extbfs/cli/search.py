"""What `start` and `resume` have in common: checks, the display, and the report at the end."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

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
    if status.get("symmetry"):
        note(f"symmetry: {printable(status['symmetry'])}")
    if outcome.exit_code == 0 and status.get("goal") and status.get("keep") == "all":
        note(f"`extbfs path {printable(shlex.quote(str(run)))}` shows a shortest solution")
    if outcome.reason in ("goal", "max-depth") and not status.get("frontier_empty"):
        note(continuation(status))
    return int(outcome.exit_code)
