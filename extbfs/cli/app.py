"""The command `extbfs` and its verbs."""

from __future__ import annotations

from typing import Annotated

import typer

from extbfs.cli import (
    check,
    depth,
    export,
    path,
    puzzles,
    resume,
    start,
    states,
    status,
    verify,
)

app = typer.Typer(
    name="extbfs",
    help="Breadth-first search on disk: exact counts per depth and shortest paths, far past RAM.",
    epilog=(
        "Exit codes: 0 done, 1 error, 2 wrong usage, 3 stopped at --disk or --max-seconds, "
        "10 no such run, 11 run in use, 12 unknown format version, 20 disk full, 21 damaged data, "
        "22 not the run's puzzle, 128+N stopped by signal N."
    ),
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for verb in (start, resume, status, export, path, states, depth, verify, puzzles, check):
    app.command(name=verb.__name__.rpartition(".")[2])(verb.command)


def _version(wanted: bool) -> None:
    if wanted:
        from extbfs import __version__

        print(f"extbfs {__version__}")
        raise typer.Exit


@app.callback()
def extbfs(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass
