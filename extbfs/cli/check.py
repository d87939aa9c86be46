"""`extbfs check`: does a puzzle keep its promises?"""

from __future__ import annotations

from typing import Annotated

import typer

from extbfs.cli.options import Json
from extbfs.cli.output import emit

_BROKEN = 1


def command(
    puzzle: Annotated[str, typer.Argument(metavar="PUZZLE", help="As `start` takes it.")],
    start: Annotated[
        str | None, typer.Option(metavar="STATE", help="Begin here, not at the puzzle's own start.")
    ] = None,
    goal: Annotated[str | None, typer.Option(metavar="STATE", help="As `start` takes it.")] = None,
    metric: Annotated[
        str | None, typer.Option(help="What counts as one move; `puzzles NAME` lists the choices.")
    ] = None,
    symmetry: Annotated[
        bool, typer.Option("--symmetry/--no-symmetry", help="Count mirror images as one state.")
    ] = True,
    states: Annotated[int, typer.Option(min=1, help="Look at this many states.")] = 20_000,
    as_json: Json = False,
) -> int:
    """Try what a puzzle promises on its first states: keys, undoing, two colours, determinism.

    Exit 1 if a promise is seen broken; that none is does not prove them all.
    """
    from puzzles import check
    from puzzles.registry import resolve

    found = resolve(puzzle, start=start, goal=goal, metric=metric, symmetry=symmetry)
    report = check.check(found, states)
    emit(report.to_dict(), as_json, lambda _: report.to_text())
    return 0 if report.ok else _BROKEN
