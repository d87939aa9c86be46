"""`extbfs start --dry-run`: what the search would take, by a short measurement."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extbfs.cli.output import emit, note
from extbfs.durations import format_rate, format_seconds
from extbfs.report import aligned, printable
from extbfs.sizes import format_size

if TYPE_CHECKING:
    from extbfs.api import Limits
    from extbfs.calibrate import Measured
    from puzzles.contract import Puzzle

COMPLETE = ("exhausted", "goal", "max-depth")


def dry_run(
    puzzle: Puzzle,
    run: Path,
    limits: Limits,
    *,
    keep: str,
    exhaust: bool,
    algebra: str,
    as_json: bool,
) -> int:
    """Measure for some seconds, print the forecast; 0 even if `start` would refuse it."""
    from extbfs.calibrate import measure
    from puzzles.check import quick_check

    quick_check(puzzle)
    measured = measure(
        puzzle, str(run), limits, keep=keep, exhaust=exhaust, algebra=algebra, tell=note
    )
    emit(_report(puzzle, run, limits, keep, exhaust, measured), as_json, _text)
    return 0


def _report(
    puzzle: Puzzle, run: Path, limits: Limits, keep: str, exhaust: bool, measured: Measured
) -> dict[str, Any]:
    from extbfs import forecast

    rows, rates = measured.rows, measured.rates
    counted = [row["states"] for row in rows]
    counts, source, growth = counted, "search", None
    if measured.reason not in COMPLETE:
        counts, source, growth = forecast.extend(
            counted, puzzle.known_counts(), puzzle.key_space, limits.max_depth
        )
    depths = forecast.predict(counts, rows, rates, measured.needs)
    total = forecast.total(depths)
    there = forecast.room(str(run), limits.disk_bytes())
    stops = next((row["depth"] for row in depths if row["peak_disk"] > there), None)
    waiting = max(row["states"] for row in depths) * rates.routed * rates.record_bytes
    starts = [int(key) for key in puzzle.starts()]
    return {
        "puzzle": puzzle.name,
        "metric": puzzle.metric,
        "about": puzzle.describe(),
        "spec": puzzle.spec,
        "key_bits": (puzzle.key_space - 1).bit_length(),
        "starts": [str(puzzle.decode(key)) for key in starts[:10]],
        "start_count": len(starts),
        "run": str(run),
        "algebra": measured.algebra,
        "keep": keep,
        "measured": {
            "depth": rows[-1]["depth"],
            "states": rows[-1]["cumulative"],
            "seconds": measured.seconds,
            "states_per_second": round(1 / max(1e-12, rates.seconds)),
            "bits_per_state": round(8 * rates.bytes, 2),
            "routed_bytes_per_state": round(rates.routed * rates.record_bytes, 3),
            "disk_bytes_per_second": round(rates.disk),
            "reason": measured.reason,
        },
        "counts": {
            "from": source,
            "growth": None if growth is None else round(growth, 4),
            "until_goal": puzzle.has_goal and not exhaust and measured.reason != "goal",
        },
        "depths": depths,
        "total": total,
        "memory": {
            "limit": measured.memory_limit,
            "threads": measured.threads,
            "expected": round(min(measured.memory_limit, measured.peak_memory + waiting)),
        },
        "disk": {"available": there, "fits": stops is None, "stops_at_depth": stops},
    }


def _text(report: Mapping[str, Any]) -> str:
    measured, total, disk = report["measured"], report["total"], report["disk"]
    memory = report["memory"]
    speed = (
        f"{measured['states']} states to depth {measured['depth']} in "
        f"{format_seconds(measured['seconds'])}: {format_rate(measured['states_per_second'])}, "
        f"{measured['bits_per_state']} bits a state; the disk takes "
        f"{format_size(measured['disk_bytes_per_second'])}/s"
    )
    room = format_size(disk["available"])
    expected = f"{format_size(memory['expected'])} of {format_size(memory['limit'])}"
    facts = [
        ("metric", printable(report["metric"])),
        ("key", f"{report['key_bits']} bits"),
        *(("start", printable(start)) for start in report["starts"]),
        ("run", f"{printable(report['run'])} can be created"),
        ("measured", speed),
        ("counts", _source(report)),
        ("states", f"{total['states']} in {total['depth'] + 1} depths"),
        ("time", format_seconds(total["seconds"])),
        ("disk", f"{format_size(total['peak_disk'])} at the most, and {room} may be used"),
        ("written", format_size(total["written"])),
        ("memory", f"{expected}, {memory['threads']} threads"),
    ]
    lines = [printable(report["about"]), *(f"{name:<11}{text}" for name, text in facts)]
    lines += ["", aligned([COLUMNS, *(_cells(row) for row in report["depths"])])]
    if not disk["fits"]:
        lines += ["", f"the disk would be full at depth {disk['stops_at_depth']}: {_more(report)}"]
    return "\n".join(lines)


COLUMNS = ("depth", "states", "cumulative", "time", "bytes", "spilled", "peak disk")


def _cells(row: Mapping[str, Any]) -> list[str]:
    estimated = "" if row["counted"] else "~"
    return [
        *(str(row[name]) for name in ("depth", "states", "cumulative")),
        estimated + format_seconds(row["seconds"]),
        *(estimated + format_size(row[name]) for name in ("bytes", "spilled", "peak_disk")),
    ]


def _source(report: Mapping[str, Any]) -> str:
    counts, depth = report["counts"], report["measured"]["depth"]
    last = report["total"]["depth"]
    end = "; the search ends earlier if it finds the goal" if counts["until_goal"] else ""
    if counts["from"] == "search":
        return "all found just now"
    if counts["from"] == "table":
        return f"published for this puzzle to its last depth{end}"
    return (
        f"found to depth {depth}; an estimate from there to depth {last}: every depth "
        f"{counts['growth']:.3g} times the one before, as lately, though growth mostly falls{end}"
    )


def _more(report: Mapping[str, Any]) -> str:
    advice = "give --max-depth or more disk"
    return advice if report["keep"] == "frontier" else f"{advice}, or --keep frontier"
