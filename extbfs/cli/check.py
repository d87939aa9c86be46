"""`extbfs check`: does a puzzle keep its promises?"""

from __future__ import annotations

from typing import Annotated

import typer

from extbfs.cli.options import Json


def command(
    puzzle: Annotated[str, typer.Argument(metavar="PUZZLE", help="As `start` takes it.")],
    as_json: Json = False,
) -> int:
    """Try what a puzzle promises on its first states: keys, undoing, two colours, determinism."""
    from puzzles.registry import resolve

    resolve(puzzle)
    raise NotImplementedError
