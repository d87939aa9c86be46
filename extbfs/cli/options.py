"""The arguments and options that several verbs share, with their help texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from extbfs.sizes import SizeError, parse_size


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except SizeError as error:
        raise typer.BadParameter(str(error)) from None


RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="The run directory.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Named = Annotated[
    str | None,
    typer.Option(
        "--puzzle",
        metavar="MODULE:ATTRIBUTE",
        help="Needed only for a puzzle of your own: allows that very object to be imported.",
    ),
]
Memory = Annotated[
    int | None,
    typer.Option(
        parser=_size,
        metavar="SIZE",
        help="What the whole process may use, as 512MiB or 1G; default: half of the machine's.",
    ),
]
Disk = Annotated[
    int | None,
    typer.Option(
        parser=_size,
        metavar="SIZE",
        help="The run directory's ceiling; default: the free space less 1 GiB.",
    ),
]
Threads = Annotated[
    int | None, typer.Option(min=1, help="Default: the cores this process may use.")
]
MaxDepth = Annotated[
    int | None, typer.Option(min=0, help="Stop when this depth is complete; a success.")
]
MaxSeconds = Annotated[
    float | None, typer.Option(help="Checkpoint and stop after this time; resumable, exit 3.")
]
