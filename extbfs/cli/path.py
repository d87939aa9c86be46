"""`extbfs path`: a shortest path through the layers of a run."""

from __future__ import annotations

from collections.abc import Mapping
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
        nothing = opened.no_solution() if to is None else None
        if nothing is not None:
            answer = {"puzzle": found.name, "length": None, "searched": nothing}
            emit(answer, as_json, lambda _: _no_solution(nothing))
            return 0
        keys = [int(key) for key in opened.path(to=to)]
        image = to is not None and keys[-1] != opened.key_of(to)
        solutions = opened.solutions() if all_optimal else None
    told = found.narrate(keys)
    drawings = [found.render(keys[0]), *(step["drawing"] for step in told)]
    states = [
        {"key": key, "state": str(found.decode(key)), "drawing": drawing}
        for key, drawing in zip(keys, drawings, strict=True)
    ]
    report = {
        "puzzle": found.name,
        "metric": found.metric if len(found.metrics) > 1 else None,
        "length": len(told),
        "moves": [step["move"] for step in told],
        "details": [{k: v for k, v in step.items() if k != "drawing"} for step in told],
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
    lines.append(_count(report["length"], "move") + _metric(report["metric"]))
    found = report["all_optimal"]
    if found is not None:
        solutions = _count(found["solutions"], "shortest solution")
        lines.append(f"{solutions}, to {_count(found['goal_states'], 'goal state')}")
    return "\n".join(lines)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _metric(metric: str | None) -> str:
    return "" if metric is None or metric == "moves" else f", metric {metric}"


def _no_solution(searched: Mapping[str, int]) -> str:
    return (
        f"there is no solution: all {searched['states']} states that can be reached were searched,"
        f" to depth {searched['depth']}, and none is the goal"
    )
