"""A run directory as a reader sees it, made from the known counts of the 8-puzzle."""

from __future__ import annotations

import time
from itertools import accumulate
from pathlib import Path
from typing import Any

from extbfs import status

# Published: the 8-puzzle from a corner, single-tile moves; 9!/2 states in all.
COUNTS = [
    *(1, 2, 4, 8, 16, 20, 39, 62, 116, 152, 286, 396, 748, 1024, 1893, 2512, 4485, 5638, 9529),
    *(10878, 16993, 17110, 23952, 20224, 24047, 15578, 14560, 6274, 3910, 760, 221, 2),
]


def rows(depths: int = len(COUNTS)) -> list[dict[str, Any]]:
    """The first `depths` rows of the depth table."""
    counts = COUNTS[:depths]
    return [
        {
            "depth": depth,
            "states": states,
            "cumulative": total,
            "seconds": 0.001 * (depth + 1),
            "bytes": 24 + 2 * states,
        }
        for depth, (states, total) in enumerate(zip(counts, accumulate(counts), strict=True))
    ]


def sample_status(count: int = len(COUNTS), /, **changes: Any) -> dict[str, Any]:
    """The status of a finished search of the 8-puzzle, or of one that finished `count` depths."""
    table = rows(count)
    base = {
        "schema": 1,
        "extbfs": "0.1.0",
        "run": "/elsewhere/RUN",
        "puzzle": "tiles:3x3",
        "metric": "single",
        "state": "finished",
        "reason": "exhausted",
        "pid": None,
        "depth": count - 1,
        "stage": None,
        "stage_percent": 0.0,
        "depths": table,
        "states": table[-1]["cumulative"],
        "rate_now": None,
        "rate_run": 123456.0,
        "seconds": 1.5,
        "memory": {"limit": 1 << 30, "rss": 200 << 20, "peak": 300 << 20},
        "disk": {"used": 400000, "limit": 50 << 30, "free": 60 << 30},
        "last_checkpoint": time.time() - 12,
        "eta_depth_seconds": None,
        "threads": 2,
        "keep": "all",
        "max_depth": None,
        "frontier_empty": True,
        "goal": None,
        "resume": "extbfs resume /elsewhere/RUN",
    }
    return {**base, **changes}


def running(count: int = 21, /, **changes: Any) -> dict[str, Any]:
    """The status of a search under way, building the depth after its last row."""
    under_way = {
        "state": "running",
        "reason": None,
        "pid": 4242,
        "depth": count,
        "stage": "merge",
        "stage_percent": 43.21,
        "rate_now": 23.4e6,
        "eta_depth_seconds": 200.0,
        "frontier_empty": False,
    }
    return sample_status(count, **{**under_way, **changes})


def write_run(directory: Path, content: dict[str, Any] | None = None) -> Path:
    """A directory with nothing but a status.json and an unheld LOCK; returns it."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "status.json").write_bytes(status.pack(content or sample_status()))
    (directory / "LOCK").write_bytes(b"")
    return directory
