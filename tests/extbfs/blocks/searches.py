"""Searches of library puzzles, and what others have found out about them.

`tests/data/blocks_known.json` holds what searches of all states by other programs have counted,
without symmetry, by library name: the optima; some levels of the Hakoiri article's own logs; and
the complete tables of Klotski.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import extbfs
from extbfs.api import Outcome
from puzzles.blocks import index

KNOWN = json.loads((Path(__file__).parents[2] / "data" / "blocks_known.json").read_text())
OPTIMA: dict[str, dict[str, dict[str, int]]] = KNOWN["optima"]
METRICS = ("steps", "moves")
SMALL = 100_000
"""Puzzles of fewer states are searched in the default tests."""

SOLVED = sorted(name for name in index.index() if name not in ("hakoiri-hard", "15-puzzle-article"))
SMALL_ONES = [name for name in SOLVED if index.index()[name]["states"] < SMALL]
LARGE_ONES = [name for name in SOLVED if name not in SMALL_ONES]
# Those whose walls, shapes and goal are symmetric; of the second list the start is not.
SYMMETRIC_STARTS = ("hakoiri-basic", "klotski", "shogi")
SYMMETRIC_GOALS = ("century", "chicago-swap", "huarong-dao", "super-century")
SYMMETRIC = (*SYMMETRIC_STARTS, *SYMMETRIC_GOALS)


@dataclass(frozen=True)
class Searched:
    """A finished search: its directory, how it ended, and the rows of its table."""

    run: Path
    outcome: Outcome
    status: dict[str, Any]

    @property
    def states(self) -> list[int]:
        return [row["states"] for row in self.status["depths"]]

    @property
    def canonical(self) -> list[int]:
        return [row["canonical"] for row in self.status["depths"]]

    @property
    def optimum(self) -> int:
        goal = self.status["goal"]
        return -1 if goal is None else int(goal["depth"])


class Searches:
    """Makes searches below a directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._numbers = count()
        self._made: dict[tuple[str, str, bool], Searched] = {}

    def exhausted(self, name: str, metric: str, *, symmetry: bool = True) -> Searched:
        """The whole search of a library puzzle, made when first asked for."""
        key = (name, metric, symmetry)
        if key not in self._made:
            for old in [old for old in self._made if old[0] in LARGE_ONES]:
                shutil.rmtree(self._made.pop(old).run)  # memory holds only so many
            self._made[key] = self.search(name, metric=metric, symmetry=symmetry, exhaust=True)
        return self._made[key]

    def search(self, puzzle: Any, **options: Any) -> Searched:
        """A search of its own."""
        run = self._directory / str(next(self._numbers))
        outcome = extbfs.start(puzzle, run, threads=2, **options)
        with extbfs.open_run(run) as opened:
            return Searched(run, outcome, opened.status())
