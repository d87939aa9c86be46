"""`extbfs path`: a shortest path through the layers of a run."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any

import typer

from extbfs.cli.options import Json, Named, RunPath
from extbfs.cli.output import emit, note
from extbfs.errors import UsageError


def command(
    run: RunPath,
    to: Annotated[
        str | None,
        typer.Option(metavar="STATE", help="Where the path ends; default: the goal of the run."),
    ] = None,
    boards: Annotated[
        str,
        typer.Option(
            metavar="ends|all|none|N",
            help="Draw the first and last state, all, none, or every N-th.",
        ),
    ] = "ends",
    all_optimal: Annotated[
        str | None,
        typer.Option(metavar="count", help="Say how many shortest solutions and goals there are."),
    ] = None,
    puzzle: Named = None,
    as_json: Json = False,
) -> int:
    """Print a shortest path from the start, move by move, to the goal or to any state found."""
    every = _every(boards)
    if all_optimal not in (None, "count"):
        raise UsageError(f"--all-optimal takes `count`, not {all_optimal!r}")
    import extbfs

    with extbfs.open_run(run, puzzle=puzzle) as opened:
        found = opened.puzzle
        keys = [int(key) for key in opened.path(to=to)]
        image = to is not None and keys[-1] != opened.key_of(to)
        solutions = opened.solutions() if all_optimal else None
    states = [
        {"key": key, "state": str(found.decode(key)), "drawing": found.render(key)} for key in keys
    ]
    moves = [found.move(a, b) for a, b in pairwise(keys)]
    report = {
        "puzzle": found.name,
        "length": len(moves),
        "moves": moves,
        "states": states,
        "image": image,
        "all_optimal": solutions,
    }
    if image:
        note("the path ends at a mirror image of the state that was asked for")
    emit(report, as_json, lambda data: _text(data, every))
    return 0


def _every(boards: str) -> int | None:
    """Draw after every so many moves; 0 for never, None for the first and last state only."""
    named = {"ends": None, "all": 1, "none": 0}
    if boards in named:
        return named[boards]
    if boards.isascii() and boards.isdigit() and int(boards) > 0:
        return int(boards)
    raise UsageError(f"--boards takes ends, all, none or a number from 1, not {boards!r}")


def _text(report: Mapping[str, Any], every: int | None) -> str:
    """The start, the numbered moves and, where asked for, the state after each."""
    states = report["states"]
    lines = [f"start: {states[0]['state']}"]
    last = len(states) - 1
    width = len(str(last))
    for number, state in enumerate(states):
        if number:
            lines.append(f"{number:>{width}}. {report['moves'][number - 1]}")
        at_end = number in (0, last)
        if every != 0 and (at_end or (every is not None and number % every == 0)):
            lines += [state["drawing"], ""]
    lines.append(f"{report['length']} move" + ("" if report["length"] == 1 else "s"))
    found = report["all_optimal"]
    if found is not None:
        lines.append(
            f"{found['solutions']} shortest solutions, to {found['goal_states']} goal states"
        )
    return "\n".join(lines)
