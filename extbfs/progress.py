"""What a person sees while a search runs, on stderr: a live display, or plain lines in a log.

Both are observers: `on_event` takes what the search reports a few times a second, on its main
thread. `{"event": "progress", "status": ...}`, `{"event": "depth", **row}` and
`{"event": "message", "text": ...}`; unknown events are passed over. A terminal that has gone away
ends the display, never the search.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any, Self

from extbfs.durations import format_rate, format_seconds
from extbfs.report import position, printable, status_text
from extbfs.sizes import format_size

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

_PROGRESS_EVERY = 15.0  # seconds between plain lines inside a depth
_DEPTH_EVERY = 1.0  # seconds between plain lines of finished depths
_ROWS = 12  # of the depth table on the live display


class Plain:
    """One line now and then, for logs and pipes."""

    def __init__(
        self, out: IO[str] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._out = sys.stderr if out is None else out
        self._clock = clock
        self._last_progress = self._last_depth = clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def on_event(self, event: Mapping[str, Any]) -> None:
        """Print a line, unless one of the same kind was printed only just before."""
        now = self._clock()
        kind = event.get("event")
        if kind == "message":
            self._line(printable(event["text"]))
        elif kind == "depth" and now - self._last_depth >= _DEPTH_EVERY:
            self._last_depth = self._last_progress = now
            self._line(depth_line(event))
        elif kind == "progress" and now - self._last_progress >= _PROGRESS_EVERY:
            self._last_progress = now
            self._line(progress_line(event["status"]))

    def _line(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            print(text, file=self._out, flush=True)


class Display:
    """The status, redrawn in place on a terminal; it vanishes at the end."""

    def __init__(self, out: IO[str] | None = None) -> None:
        self._console = _console(sys.stderr if out is None else out)
        self._live: Live | None = None

    def __enter__(self) -> Self:
        from rich.live import Live

        self._live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._shielded(self._live.start)
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._shielded(self._live.stop)
        self._live = None

    def on_event(self, event: Mapping[str, Any]) -> None:
        """Redraw for progress; print a message above the display."""
        live, kind = self._live, event.get("event")
        if live is None:
            return
        if kind == "message":
            text = printable(event["text"])
            self._shielded(lambda: self._console.print(text, markup=False))
        elif kind == "progress":
            picture = self._picture(event["status"])
            self._shielded(lambda: live.update(picture, refresh=True))

    def _shielded(self, draw: Callable[[], None]) -> None:
        """Draw; once that fails, the terminal has gone and nothing is drawn any more."""
        try:
            draw()
        except (OSError, ValueError):
            self._live = None

    def _picture(self, status: Mapping[str, Any]) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        rows = max(1, min(_ROWS, self._console.height - 14))
        parts: list[Any] = [Text(status_text(status, last=rows))]
        if status.get("stage"):
            percent = float(status.get("stage_percent") or 0)
            parts.append(ProgressBar(total=100, completed=percent, width=60))
        return Group(*parts)


def _console(out: IO[str]) -> Console:
    from rich.console import Console

    class Quiet(Console):
        """Rich would exit the process when the other end of a pipe has gone."""

        def on_broken_pipe(self) -> None:
            self.quiet = True

    return Quiet(file=out, highlight=False)


Observer = Plain | Display


def observer() -> Observer:
    """The display for a terminal, plain lines for anything else."""
    return Display() if sys.stderr.isatty() else Plain()


def depth_line(row: Mapping[str, Any]) -> str:
    """A finished depth on one line."""
    return (
        f"depth {row['depth']}: {row['states']} states, {row['cumulative']} so far, "
        f"{format_seconds(row['seconds'])}, {format_size(row['bytes'])}"
    )


def progress_line(status: Mapping[str, Any]) -> str:
    """Where the search stands, on one line."""
    parts = [position(status)]
    if status.get("rate_now") is not None:
        parts.append(format_rate(status["rate_now"]))
    used = (status.get("disk") or {}).get("used")
    if used is not None:
        parts.append(f"{format_size(used)} on disk")
    if status.get("eta_depth_seconds") is not None:
        parts.append(f"about {format_seconds(status['eta_depth_seconds'])} left in this depth")
    return ", ".join(parts)
