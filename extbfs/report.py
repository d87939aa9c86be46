"""Text for people from a status: the table of depths and the lines around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from extbfs.durations import format_rate, format_seconds
from extbfs.sizes import format_size

COLUMNS = ("depth", "states", "cumulative", "seconds", "bytes")

# Why a search ended, in words, by Outcome.reason.
REASONS = {
    "exhausted": "every reachable state was found",
    "goal": "the goal was reached",
    "max-depth": "--max-depth was reached",
    "max-seconds": "--max-seconds have passed",
    "disk-limit": "the run directory has grown to --disk",
    "disk-full": "the disk is full; the checkpoint is intact",
    "signal": "it was told to stop",
}

# What brings such a run on, after `extbfs resume RUN`; REASON -> (options, what they do).
_CONTINUE = {
    "max-depth": (" --max-depth N", "goes deeper"),
    "goal": (" --exhaust", "goes on beyond it"),
    "disk-limit": (" --disk SIZE", "goes on with more"),
}


def printable(text: object) -> str:
    """`text` on one line that cannot steer the terminal: control characters become `?`."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


def columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of a depth table: COLUMNS, and `canonical` where symmetric states count once."""
    names = list(COLUMNS)
    if rows and "canonical" in rows[0]:
        names.insert(names.index("states") + 1, "canonical")
    return names


def cells(row: Mapping[str, Any], names: Sequence[str] = COLUMNS) -> list[str]:
    """One row of the depth table as text, in the order of `names`; seconds to the millisecond."""
    return [f"{row[c]:.3f}" if c == "seconds" else str(row[c]) for c in names]


def depth_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows under their headings, right-aligned; one line a depth, the last one without end."""
    names = columns(rows)
    return aligned([names, *(cells(row, names) for row in rows)])


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Lines of cells in right-aligned columns; the last line without end."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )


def position(status: Mapping[str, Any]) -> str:
    """Where the search stands inside a depth: `depth 27, merge 43.2 %`."""
    text = f"depth {status['depth']}"
    if status.get("stage"):
        text += f", {printable(status['stage'])} {status.get('stage_percent') or 0:.1f} %"
    return text


def state_sentence(status: Mapping[str, Any]) -> str:
    """What the run is doing, or why it is not, and what brings it on."""
    state = status["state"]
    if state == "running":
        left = status.get("eta_depth_seconds")
        ahead = "" if left is None else f", about {format_seconds(left)} left in this depth"
        pid = "" if status.get("pid") is None else f" (pid {status['pid']})"
        return f"running{pid}: {position(status)}{ahead}"
    reason = status.get("reason")
    why = REASONS.get(str(reason), printable(reason) if reason else "")
    if reason == "exhausted" and status.get("has_goal"):
        goal = status.get("goal")
        why += ", and none is the goal" if goal is None else f", the goal at depth {goal['depth']}"
    if state == "killed":
        why = f"no process works on it any more; it had come to {position(status)}"
    text = f"{state}: {why}" if why else str(state)
    if not status.get("frontier_empty"):
        text += f"; {continuation(status)}"
    return text


def continuation(status: Mapping[str, Any]) -> str:
    """The command that goes on with a run that has more to find, in one clause."""
    key = str(status.get("reason")) if status["state"] != "killed" else ""
    options, what = _CONTINUE.get(key, ("", "goes on"))
    return f"`{printable(status['resume'])}{options}` {what}"


def _memory(memory: Mapping[str, Any]) -> str:
    parts = []
    if memory.get("rss") is not None:
        parts.append(f"{format_size(memory['rss'])} now")
    if memory.get("peak") is not None:
        parts.append(f"{format_size(memory['peak'])} at most")
    if memory.get("limit") is not None:
        parts.append(f"limit {format_size(memory['limit'])}")
    return ", ".join(parts)


def _disk(disk: Mapping[str, Any]) -> str:
    parts = []
    if disk.get("used") is not None:
        parts.append(f"{format_size(disk['used'])} used")
    if disk.get("limit") is not None:
        parts.append(f"limit {format_size(disk['limit'])}")
    if disk.get("free") is not None:
        parts.append(f"{format_size(disk['free'])} free")
    return ", ".join(parts)


def facts(status: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The named lines of a status, only those it has something to say about."""
    metric = status.get("metric")
    puzzle = printable(status["puzzle"]) + (f", metric {printable(metric)}" if metric else "")
    running = status["state"] == "running"
    rates = []
    if running and status.get("rate_now") is not None:
        rates.append(f"{format_rate(status['rate_now'])} now")
    if status.get("rate_run") is not None:
        rates.append(f"{format_rate(status['rate_run'])} over the run")
    checkpoint = status.get("last_checkpoint_seconds_ago")
    lines = [
        ("run", printable(status["run"])),
        ("puzzle", puzzle),
        ("symmetry", printable(status.get("symmetry") or "")),
        ("algebra", printable(status.get("algebra") or "")),
        ("state", state_sentence(status)),
        ("states", str(status["states"])),
        ("rate", ", ".join(rates)),
        ("memory", _memory(status.get("memory") or {})),
        ("disk", _disk(status.get("disk") or {})),
        ("time", format_seconds(status["seconds"])),
        ("checkpoint", "" if checkpoint is None else f"{format_seconds(checkpoint)} ago"),
        ("threads", str(status.get("threads") or "")),
    ]
    return [(name, text) for name, text in lines if text]


def status_text(status: Mapping[str, Any], last: int | None = None) -> str:
    """The whole status for people: the facts, then the table (its `last` rows if given)."""
    lines = [f"{name:<11}{text}" for name, text in facts(status)]
    rows = status["depths"]
    if last is not None and len(rows) > last:
        rows = rows[-last:]
    if rows:
        lines += ["", depth_table(rows)]
    return "\n".join(lines)
