"""`extbfs verify`: is everything in a run what it was when it was written?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from extbfs.cli import search
from extbfs.cli.options import Json, Named, RunPath
from extbfs.cli.output import emit
from extbfs.report import printable
from store.errors import IntegrityError


def command(
    run: RunPath,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only the catalogue, the indexes and the file sizes.")
    ] = False,
    puzzle: Named = None,
    as_json: Json = False,
) -> int:
    """Check every checksum, order, count, fingerprint and conservation law of a run."""
    import extbfs

    with extbfs.open_run(run, puzzle=puzzle) as opened, search.watching() as observer:
        report = opened.verify(quick=quick, observer=observer)
    emit(report, as_json, _text)
    return 0 if report["ok"] else IntegrityError.exit_code


def _text(report: Mapping[str, Any]) -> str:
    """The problems, if any, one a line; files that no run has; then what was checked."""
    lines = [
        f"{printable(problem['file'])}, block {problem['block']}: {printable(problem['detail'])}"
        for problem in report["problems"]
    ]
    lines += [f"{printable(name)}: not part of the run" for name in report.get("foreign_files", ())]
    checked = ", ".join(f"{count} {what}" for what, count in report["checked"].items())
    verdict = "all is well" if report["ok"] else f"{len(report['problems'])} damaged"
    return "\n".join([*lines, f"{verdict}: checked {checked}"])
