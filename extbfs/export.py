"""The counts per depth as a file for others: csv, json, OEIS b-file, markdown."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from extbfs import __version__
from extbfs.errors import SearchError
from extbfs.report import cells, columns, printable

SCHEMA = 1
_PARAMETERS = ("spec", "algebra", "exhaust", "keep", "max_depth", "threads", "goal", "formats")


class ExportError(SearchError):
    """An export that cannot be written where it was asked for."""

    def __init__(self, output: Path, detail: str) -> None:
        super().__init__(f"cannot write {output}: {detail}")


def export_data(status: Mapping[str, Any]) -> dict[str, Any]:
    """What an export holds: program version, puzzle, parameters, completeness and the rows."""
    names = columns(status["depths"])
    return {
        "schema": SCHEMA,
        "extbfs": __version__,
        "made_by": status["extbfs"],
        "run": status["run"],
        "puzzle": status["puzzle"],
        "metric": status.get("metric"),
        "parameters": {name: status[name] for name in _PARAMETERS if name in status},
        "state": status["state"],
        "reason": status.get("reason"),
        "complete": bool(status.get("frontier_empty")),
        "symmetry": status.get("symmetry"),
        "columns": names,
        "depths": [{name: row[name] for name in names} for row in status["depths"]],
    }


def _to_json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2) + "\n"


def _to_csv(data: Mapping[str, Any]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(data["columns"])
    writer.writerows(cells(row, data["columns"]) for row in data["depths"])
    return out.getvalue()


def _subject(data: Mapping[str, Any]) -> str:
    metric = data["metric"]
    return printable(data["puzzle"]) + (f", metric {printable(metric)}" if metric else "")


def _extent(data: Mapping[str, Any]) -> str:
    rows = data["depths"]
    if not rows:
        return "no depth is finished yet"
    last = rows[-1]["depth"]
    if data["complete"]:
        return f"depths 0 to {last}, complete: no state is farther"
    return f"depths 0 to {last}, not complete: there are states beyond"


def _to_bfile(data: Mapping[str, Any]) -> str:
    lines = [
        f"# {_subject(data)}",
        "# a(n) is the number of states whose shortest way from the start takes n moves",
        f"# {_extent(data)}",
        *([f"# {printable(data['symmetry'])}"] if data["symmetry"] else []),
        f"# counted by extbfs {printable(data['made_by'])}",
        *(f"{row['depth']} {row['states']}" for row in data["depths"]),
    ]
    return "\n".join(lines) + "\n"


def _to_markdown(data: Mapping[str, Any]) -> str:
    lines = [
        "| " + " | ".join(data["columns"]) + " |",
        "|" + "|".join(" ---: " for _ in data["columns"]) + "|",
        *("| " + " | ".join(cells(row, data["columns"])) + " |" for row in data["depths"]),
        "",
        f"{_subject(data)}; {_extent(data)}; counted by extbfs {printable(data['made_by'])}.",
    ]
    return "\n".join(lines) + "\n"


FORMATS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "csv": _to_csv,
    "json": _to_json,
    "bfile": _to_bfile,
    "markdown": _to_markdown,
}


def export_text(status: Mapping[str, Any], form: str) -> str:
    """The finished depths of `status` in one of FORMATS."""
    return FORMATS[form](export_data(status))


def write_export(text: str, output: Path, *, force: bool = False) -> None:
    """Write `text` to the file `output`, whole or not at all; durable on return.

    Raises ExportError when `output` exists and `force` is false, or when it cannot be written.
    """
    if output.exists() and not output.is_file():
        raise ExportError(output, "it is not a plain file")
    if output.exists() and not force:
        raise ExportError(output, "it exists already; name another file or give --force")
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=output.parent, prefix=f".{output.name}.", delete=False
        ) as file:
            try:
                os.fchmod(file.fileno(), 0o666 & ~_umask())
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                os.replace(file.name, output)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise ExportError(output, str(error.strerror or error)) from error


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
