"""The library of sliding blocks: files in the Hakoiri XML format and what is known of them.

`library/index.json` has an entry for every file beside it: its title, source, links, other names,
goal in words, size, pieces, and as far as known the reachable states and, per metric, the optimum,
the eccentricity of the start and the goal states at the optimum. They come from complete searches
without symmetry by programs that share nothing with this one, of the 15-puzzle from IDA*.
"solvable": false: no state that can be reached is a goal. Importing this is cheap.

`library/tables/NAME.METRIC.json`, where there is one, has the complete table of a search from the
start: "counts", the states per depth, and "canonical", those with mirror images counted once. A
search of the puzzle as it is here that ends otherwise is in error, and so says.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).with_name("library")
METRICS = ("steps", "moves")


@cache
def index() -> dict[str, dict[str, Any]]:
    """Everything known of the puzzles of the library, by name, in the order of the index."""
    text = (DIRECTORY / "index.json").read_text(encoding="utf-8")
    entries: dict[str, dict[str, Any]] = json.loads(text)
    return entries


def called(name: str) -> str | None:
    """The library's own name of the puzzle `name`, which may be one of its other names."""
    entries = index()
    if name in entries:
        return name
    return next((own for own, entry in entries.items() if name in entry.get("also", ())), None)


def read(name: str) -> bytes:
    """The definition file of a puzzle by the library's own name."""
    return (DIRECTORY / f"{name}.xml").read_bytes()


@cache
def table(name: str, metric: str) -> dict[str, list[int]] | None:
    """{"counts", "canonical"} of the whole search of a puzzle, or None where nobody has kept it."""
    path = DIRECTORY / "tables" / f"{name}.{metric}.json"
    if not path.is_file():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    return {k: found[k] for k in ("counts", "canonical") if k in found}


def summary(entry: dict[str, Any]) -> str:
    """Size, optimum and number of states in a line."""
    height, width = entry["size"]
    parts = [f"{height} x {width}, {entry['pieces']} pieces"]
    if entry.get("solvable") is False:
        parts.append("no solution")
    else:
        optima = [
            f"{entry[metric]['optimum']} {metric}"
            for metric in METRICS
            if "optimum" in entry.get(metric, {})
        ]
        parts.append(" or ".join(optima) if optima else "optimum unknown")
    if "states" in entry:
        parts.append(f"{entry['states']:,} states")
    return "; ".join(parts)
