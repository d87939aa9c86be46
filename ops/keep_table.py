"""Keep the table of a whole search with the library: python -m ops.keep_table RUN.

Writes puzzles/blocks/library/tables/NAME.METRIC.json for a run of a library puzzle that was
exhausted, and prints what its entry in index.json should say. Run it once the run has verified.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import extbfs
from puzzles.blocks import index


def table_of(run: extbfs.Run) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """(NAME.METRIC, the table, the facts for the index) of an exhausted run of the library.

    Raises ValueError for a run that cannot serve.
    """
    puzzle, rows = run.puzzle, run.depths
    if puzzle.known_result() is None:
        raise ValueError(f"{puzzle.name} is not a puzzle of the library with its start and goal")
    if not run.status()["frontier_empty"]:
        raise ValueError(f"the search is not exhausted: it ends at depth {rows[-1]['depth']}")
    if puzzle.symmetric and rows[0]["states"] != 1:
        raise ValueError("its depths are distances from the start's images too: --no-symmetry")
    table: dict[str, Any] = {
        "found": f"extbfs {run.meta['extbfs']}, {'with' if puzzle.symmetric else 'no'} symmetry",
        "counts": [row["states"] for row in rows],
    }
    if puzzle.symmetric:
        table["canonical"] = [row["canonical"] for row in rows]
    facts: dict[str, Any] = {"eccentricity": rows[-1]["depth"]}
    goal = run.status()["goal"]
    if goal is not None:
        facts = {"optimum": goal["depth"], **facts, "goal_states": goal["states"]}
    return f"{puzzle.name}.{puzzle.metric}", table, {"states": sum(table["counts"]), **facts}


def text_of(table: dict[str, Any]) -> str:
    """JSON with a list a line."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in table.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(argv: list[str]) -> int:
    """Keep the table of the run named on the command line."""
    if len(argv) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    with extbfs.open_run(Path(argv[0])) as run:
        try:
            name, table, facts = table_of(run)
        except ValueError as error:
            print(f"keep_table: {error}", file=sys.stderr)
            return 1
    path = index.DIRECTORY / "tables" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text_of(table), encoding="utf-8")
    print(f"{path} written; index.json should say of it: {json.dumps(facts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
