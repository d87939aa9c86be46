"""`extbfs resume`: go on with a run from its last checkpoint."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from extbfs.cli import errors, search
from extbfs.cli.options import Disk, Json, MaxDepth, MaxSeconds, Memory, Named, RunPath, Threads
from extbfs.errors import UsageError


def command(
    run: RunPath,
    puzzle: Named = None,
    max_depth: MaxDepth = None,
    no_max_depth: Annotated[
        bool, typer.Option("--no-max-depth", help="Lift the --max-depth the run was given.")
    ] = False,
    max_seconds: MaxSeconds = None,
    exhaust: Annotated[
        bool | None, typer.Option("--exhaust/--no-exhaust", help="Go on beyond the goal, or not.")
    ] = None,
    checkpoint: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="The longest time between two checkpoints."),
    ] = None,
    memory: Memory = None,
    disk: Disk = None,
    threads: Threads = None,
    as_json: Json = False,
) -> int:
    """Go on with a run from its last checkpoint and print its depth table.

    Limits that are not given stay as they were; --max-seconds holds for this time only.
    """
    search.check_seconds("--checkpoint", checkpoint)
    search.check_seconds("--max-seconds", max_seconds)
    if no_max_depth and max_depth is not None:
        raise UsageError("--max-depth and --no-max-depth cannot both be given")
    import extbfs

    errors.writing(run)
    with search.watching() as observer:
        outcome = extbfs.resume(
            run,
            puzzle=puzzle,
            max_depth=math.inf if no_max_depth else max_depth,
            max_seconds=max_seconds,
            exhaust=exhaust,
            memory=memory,
            disk=disk,
            threads=threads,
            checkpoint=checkpoint,
            observer=observer,
        )
    return search.report(run, outcome, as_json)
