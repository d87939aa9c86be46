"""`extbfs path`: a shortest path through the layers of a run."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any

import typer

from extbfs.cli.options import Json, Named, RunPath
from extbfs.cli.output import emit


def command(
    run: RunPath,
    to: Annotated[
        str | None,
        typer.Option(metavar="STATE", help="Where the path ends; default: the goal of the run."),
    ] = None,
    draw: Annotated[
        bool, typer.Option("--draw/--no-draw", help="Draw the state after every move.")
    ] = True,
    puzzle: Named = None,
    as_json: Json = False,
) -> int:
    """Print a shortest path from the start, move by move, to the goal or to any state found."""
    import extbfs

    with extbfs.open_run(run, puzzle=puzzle) as opened:
        found = opened.puzzle
        keys = [int(key) for key in opened.path(to=to)]
    states = [
        {"key": key, "state": str(found.decode(key)), "drawing": found.render(key)} for key in keys
    ]
    moves = [found.move(a, b) for a, b in pairwise(keys)]
    report = {"puzzle": found.name, "length": len(moves), "moves": moves, "states": states}
    emit(report, as_json, lambda data: _text(data, draw))
    return 0


def _text(report: Mapping[str, Any], draw: bool) -> str:
    """The start, the numbered moves and, if asked for, the state after each."""
    states = report["states"]
    lines = [f"start: {states[0]['state']}"]
    if draw:
        lines += [states[0]["drawing"], ""]
    for number, move in enumerate(report["moves"], start=1):
        lines.append(f"{number}. {move}")
        if draw:
            lines += [states[number]["drawing"], ""]
    lines.append(f"{report['length']} move" + ("" if report["length"] == 1 else "s"))
    return "\n".join(lines)
