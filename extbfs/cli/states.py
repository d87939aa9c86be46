"""`extbfs states`: the states of one depth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from extbfs.cli.options import Json, RunPath
from extbfs.cli.output import emit_items, note
from extbfs.errors import UsageError

if TYPE_CHECKING:
    from extbfs import Run


def command(
    run: RunPath,
    depth: Annotated[
        str, typer.Option(metavar="D|last", help="The depth; `last` for the farthest states.")
    ],
    limit: Annotated[
        int, typer.Option(min=0, help="List this many at most, in key order; 0 for all.")
    ] = 100,
    draw: Annotated[bool, typer.Option("--draw", help="Draw the states.")] = False,
    as_json: Json = False,
) -> int:
    """List the states of one depth, one a line, as `--start`, `--to` and `depth` read them."""
    if depth != "last" and not (depth.isascii() and depth.isdigit()):
        raise UsageError(f"--depth takes a number from 0 or `last`, not {depth!r}")
    import extbfs

    opened = extbfs.open_run(run)
    rows = opened.depths
    wanted = rows[-1]["depth"] if depth == "last" else int(depth)
    row = next((row for row in rows if row["depth"] == wanted), None)
    if row is None:
        raise UsageError(
            f"depth {wanted} is not finished: the run has the depths 0 to {rows[-1]['depth']}"
        )
    count = row["states"]
    listed = min(count, limit) if limit else count
    report = {"puzzle": opened.puzzle.name, "depth": wanted, "count": count, "listed": listed}
    items = islice(_items(opened, wanted, draw or as_json), listed)
    emit_items(report, "states", items, as_json, lambda item: _text(item, draw))
    if listed < count:
        note(f"{listed} of {count} states; --limit 0 lists all")
    return 0


def _items(run: Run, depth: int, draw: bool) -> Iterator[dict[str, Any]]:
    puzzle = run.puzzle
    for block in run.states(depth):
        for key in block.tolist():
            item = {"key": key, "state": str(puzzle.decode(key))}
            yield {**item, "drawing": puzzle.render(key)} if draw else item


def _text(item: Mapping[str, Any], draw: bool) -> str:
    return f"{item['state']}\n{item['drawing']}\n" if draw else str(item["state"])
