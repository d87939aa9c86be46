"""States per depth of whole boards, as published; for forecasts only, never for an answer.

A board's counts depend only on where the blank starts, since the tiles can be renamed, and are the
same for a board and its mirror images and transpose. The tables are those of a blank in a corner.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

TABLES = Path(__file__).with_name("counts.json")


@cache
def known_counts(rows: int, columns: int, metric: str) -> tuple[int, ...] | None:
    """States at depth 0, 1, ... to the last, from a blank in a corner; None where nobody knows."""
    for table in json.loads(TABLES.read_text(encoding="utf-8")):
        if {rows, columns} == {table["rows"], table["columns"]} and metric == table["metric"]:
            return tuple(table["counts"])
    return None
