"""`extbfs puzzles`: what can be searched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from extbfs.cli.options import Json
from extbfs.cli.output import emit
from extbfs.report import printable


def command(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Draw this one: anything `start` takes as PUZZLE."),
    ] = None,
    as_json: Json = False,
) -> int:
    """List the library and the families of puzzles, or draw one puzzle with its goal."""
    if name is None:
        emit(_everything(), as_json, _everything_text)
    else:
        emit(_one(name), as_json, _one_text)
    return 0


def _everything() -> dict[str, Any]:
    from puzzles import registry

    return {
        "library": [vars(entry) for entry in registry.library()],
        "families": [vars(info) for info in registry.families()],
    }


def _everything_text(report: Mapping[str, Any]) -> str:
    entries = [
        (entry["name"], "; ".join(filter(None, (entry["summary"], entry["source"]))))
        for entry in report["library"]
    ]
    families = [(info["usage"], info["summary"]) for info in report["families"]]
    width = max(len(name) for name, _ in entries + families)
    return "\n".join(
        f"{printable(name):<{width}}  {printable(summary)}" for name, summary in entries + families
    )


def _one(name: str) -> dict[str, Any]:
    from puzzles import registry

    entry = registry.find(name)
    puzzle = registry.resolve(name)
    starts = [int(key) for key in puzzle.plain_starts()]
    draw_goal = getattr(puzzle, "render_goal", None)
    return {
        "puzzle": puzzle.name,
        "about": puzzle.describe(),
        "metric": puzzle.metric,
        "metrics": list(puzzle.metrics),
        "spec": puzzle.spec,
        "key_bits": (puzzle.key_space - 1).bit_length(),
        "start_count": len(starts),
        "start": puzzle.render(starts[0]),
        "symmetry": [image.name for image in getattr(puzzle, "symmetries", ())[1:]],
        "has_goal": puzzle.has_goal,
        "goal": draw_goal() if draw_goal is not None else None,
        "known": dict(entry.known) if entry is not None else {},
    }


def _one_text(report: Mapping[str, Any]) -> str:
    others = report["start_count"] - 1
    lines = [
        printable(report["about"]),
        *_known_text(report["known"]),
        f"metrics: {', '.join(report['metrics'])} (in force: {report['metric']})",
        *([f"symmetry: {', or '.join(report['symmetry'])}"] if report["symmetry"] else []),
        "start:" if not others else f"start, one of {others + 1}:",
        report["start"],
    ]
    if report["goal"] is not None:
        lines += ["goal:", report["goal"]]
    else:
        lines.append("goal: as the puzzle defines it" if report["has_goal"] else "goal: none")
    return "\n".join(lines)


def _known_text(known: Mapping[str, Any]) -> list[str]:
    """Title, source and what is known of a puzzle of the library."""
    if not known:
        return []
    lines = [f"{known['title']}: {known['goal']}", f"source: {known['source']}"]
    lines += [f"        {link}" for link in known.get("links", ())]
    if known.get("solvable") is False:
        lines.append("known: there is no solution")
    for metric in ("steps", "moves"):
        found = known.get(metric, {})
        facts = []
        if "optimum" in found:
            facts.append(f"optimum {found['optimum']}")
        if "eccentricity" in found:
            facts.append(f"the farthest states at {found['eccentricity']}")
        if facts:
            lines.append(f"known: in {metric}, {', '.join(facts)}")
    if "states" in known:
        lines.append(f"known: {known['states']:,} states can be reached")
    return [printable(line) for line in lines]
