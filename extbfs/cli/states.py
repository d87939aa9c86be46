"""`extbfs states`: the states of one depth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from extbfs.cli.options import Json, Named, RunPath
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
    puzzle: Named = None,
    as_json: Json = False,
) -> int:
    """List the states of one depth, one a line, as `--start`, `--to` and `depth` read them."""
    if depth != "last" and not (depth.isascii() and depth.isdigit()):
        raise UsageError(f"--depth takes a number from 0 or `last`, not {depth!r}")
    import extbfs

    with extbfs.open_run(run, puzzle=puzzle) as opened:
        row = _row(opened.depths, depth)
        states = row["states"]
        count = row.get("canonical", states)
        listed = min(count, limit) if limit else count
        report = {
            "puzzle": opened.puzzle.name,
            "depth": row["depth"],
            "count": states,
            **({"canonical": count} if "canonical" in row else {}),
            "listed": listed,
        }
        items = islice(_items(opened, row["depth"], draw or as_json), listed)
        emit_items(report, "states", items, as_json, lambda item: _text(item, draw))
    if listed < count:
        note(f"{listed} of {count} states; --limit 0 lists all")
    if count < states:
        note(f"with the mirror images of all {count}, the depth has {states} states")
    return 0


def _row(rows: Sequence[Mapping[str, Any]], depth: str) -> Mapping[str, Any]:
    """The row of the depth table that `--depth` means."""
    if not rows:
        raise UsageError("no depth is finished yet")
    wanted = len(rows) - 1 if depth == "last" else int(depth)
    if wanted >= len(rows):
        raise UsageError(
            f"depth {wanted} is not finished: the run has the depths 0 to {len(rows) - 1}"
        )
    return rows[wanted]


def _items(run: Run, depth: int, draw: bool) -> Iterator[dict[str, Any]]:
    puzzle = run.puzzle
    for block in run.states(depth):
        for key in block.tolist():
            item = {"key": key, "state": str(puzzle.decode(key))}
            yield {**item, "drawing": puzzle.render(key)} if draw else item


def _text(item: Mapping[str, Any], draw: bool) -> str:
    return f"{item['state']}\n{item['drawing']}\n" if draw else str(item["state"])
