"""`extbfs export`: the counts per depth for other programs."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from extbfs.cli.options import Json, RunPath
from extbfs.cli.output import note
from extbfs.errors import UsageError
from extbfs.export import export_text, write_export
from extbfs.status import read_status


class Format(StrEnum):
    """How the table is written."""

    csv = "csv"
    json = "json"
    bfile = "bfile"
    markdown = "markdown"


def command(
    run: RunPath,
    form: Annotated[
        Format | None,
        typer.Option("--format", "-f", help="csv (default), json, an OEIS b-file, or markdown."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write this file, not stdout."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
    as_json: Json = False,
) -> int:
    """Print the finished depths of a run: depth, states, cumulative, seconds, bytes."""
    if as_json and form not in (None, Format.json):
        raise UsageError(f"--json and --format {form.value} contradict each other")
    chosen = Format.json if as_json else form or Format.csv
    text = export_text(read_status(run), chosen.value)
    if output is None:
        sys.stdout.write(text)
    else:
        write_export(text, output, force=force)
        note(f"written: {output}")
    return 0
