"""`extbfs depth`: how far one state is from the start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from extbfs.cli.options import Json, Named, RunPath
from extbfs.cli.output import emit


def command(
    run: RunPath,
    state: Annotated[
        str, typer.Argument(metavar="STATE", help="As `extbfs states` prints it; quote it.")
    ],
    puzzle: Named = None,
    as_json: Json = False,
) -> int:
    """Print the depth of one state: the length of a shortest path to it."""
    import extbfs

    with extbfs.open_run(run, puzzle=puzzle) as opened:
        report = {
            "puzzle": opened.puzzle.name,
            "state": state,
            "depth": opened.depth_of(state),
            "searched_to": len(opened.depths) - 1,
            "complete": bool(opened.status().get("frontier_empty")),
        }
    emit(report, as_json, _text)
    return 0


def _text(report: Mapping[str, Any]) -> str:
    if report["depth"] is not None:
        return str(report["depth"])
    if report["complete"]:
        return "cannot be reached"
    return f"not reached up to depth {report['searched_to']}"
