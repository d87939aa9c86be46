"""`extbfs start`: begin a search in a new run directory."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from extbfs.cli import errors, search
from extbfs.cli.options import Disk, Json, MaxDepth, MaxSeconds, Memory, RunPath, Threads


class Keep(StrEnum):
    """Which layers stay on disk."""

    all = "all"
    frontier = "frontier"


class Algebra(StrEnum):
    """How layers are kept: as keys, or as keys with masks of the states over each."""

    auto = "auto"
    set = "set"
    fibre = "fibre"


def command(
    puzzle: Annotated[
        str,
        typer.Argument(
            metavar="PUZZLE",
            help="A library name, family:parameters as tiles:4x4, a file, or module:attribute.",
        ),
    ],
    run: RunPath,
    start: Annotated[
        str | None, typer.Option(metavar="STATE", help="Begin here, not at the puzzle's own start.")
    ] = None,
    goal: Annotated[
        str | None, typer.Option(metavar="STATE", help="Stop where this state is found.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="What counts as one move; `puzzles NAME` lists the choices.")
    ] = None,
    symmetry: Annotated[
        bool, typer.Option("--symmetry/--no-symmetry", help="Count mirror images as one state.")
    ] = True,
    exhaust: Annotated[bool, typer.Option("--exhaust", help="Do not stop at the goal.")] = False,
    max_depth: MaxDepth = None,
    max_seconds: MaxSeconds = None,
    keep: Annotated[
        Keep, typer.Option(help="Keep all layers, for paths and states, or only the frontier.")
    ] = Keep.all,
    algebra: Annotated[
        Algebra,
        typer.Option(
            help="How layers are kept: `fibre` is several times faster, for puzzles that permit it"
            " (sliding tiles, one at a time); `set` is for all; `auto` takes the faster one."
        ),
    ] = Algebra.auto,
    checkpoint: Annotated[
        float, typer.Option(metavar="SECONDS", help="The longest time between two checkpoints.")
    ] = 60.0,
    memory: Memory = None,
    disk: Disk = None,
    threads: Threads = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Search a few seconds beside RUN, then say per depth what the whole will take:"
            " states, time, disk, memory. Nothing is kept.",
        ),
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Delete the run that RUN holds and start anew; and start even what, by the"
            " published counts of the puzzle, cannot fit the disk.",
        ),
    ] = False,
    as_json: Json = False,
) -> int:
    """Begin a breadth-first search in a new run directory and print its depth table.

    Ctrl-C or TERM checkpoints and leaves; `extbfs resume RUN` goes on.
    """
    search.check_seconds("--checkpoint", checkpoint)
    search.check_seconds("--max-seconds", max_seconds)
    if dry_run:
        from extbfs.api import Limits, check_directory
        from extbfs.cli.dry_run import dry_run as measure_and_tell
        from puzzles.registry import resolve

        limits = Limits(memory, disk, threads, max_depth, max_seconds, checkpoint)
        limits.check()
        found = resolve(puzzle, start=start, goal=goal, metric=metric, symmetry=symmetry)
        check_directory(str(run), force)
        return measure_and_tell(
            found,
            run,
            limits,
            keep=keep.value,
            exhaust=exhaust,
            algebra=algebra.value,
            as_json=as_json,
        )
    import extbfs

    errors.writing(run)
    with search.watching() as observer:
        outcome = extbfs.start(
            puzzle,
            Path(run),
            start=start,
            goal=goal,
            metric=metric,
            symmetry=symmetry,
            exhaust=exhaust,
            max_depth=max_depth,
            max_seconds=max_seconds,
            keep=keep.value,
            algebra=algebra.value,
            checkpoint=checkpoint,
            memory=memory,
            disk=disk,
            threads=threads,
            force=force,
            observer=observer,
        )
    return search.report(run, outcome, as_json)
