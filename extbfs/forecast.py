"""What a search will take, in time and disk: counts of states times what a state costs.

Counts come from what is known of the puzzle, or from the growth of the depths counted so far. A
forecast is never trusted: it is printed, and it may refuse a start that cannot fit the disk.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

from extbfs.engine.budget import DISK_MARGIN
from extbfs.errors import LimitError
from extbfs.sizes import format_size
from puzzles.contract import Puzzle

LOW_BITS = 2
"""No layer is stored in fewer bits a state: where layers are densest we have measured 4.6."""
GROWTH_DEPTHS = 4
"""Growth is the mean of so many steps: an even number, since even and odd depths may differ."""
MOST_DEPTHS = 1000
"""Estimates end here: what grows no more for so long is no forecast."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What a new state costs, in seconds and bytes, as measured by a short search.

    routed: children sent to buckets a state, of record_bytes each; pool: bytes of them that the
    memory holds before they are spilled; overhead: seconds of a depth that holds next to nothing;
    base: bytes of a run without layers; disk: bytes a second that the disk makes durable.
    """

    seconds: float
    bytes: float
    routed: float
    record_bytes: int
    pool: int
    overhead: float
    base: int
    disk: float


@dataclass(frozen=True, slots=True)
class Needs:
    """Which layers are on disk while layer d is built, beside d - 1 and d.

    keep: "all" or "frontier"; history: the distances to the earlier layers that the algebra reads,
    None for all of them, which it then keeps a second time, compacted.
    """

    keep: str
    history: tuple[int, ...] | None

    def stored(self, sizes: Sequence[float], depth: int) -> float:
        """Bytes of layers on disk when layer `depth` is complete and nothing deleted yet."""
        if self.history is None:
            compacted = sum(sizes[: depth + 1])
            return compacted + (compacted if self.keep == "all" else sizes[depth])
        if self.keep == "all":
            return sum(sizes[: depth + 1])
        held = {depth, depth - 1, *(depth - distance for distance in self.history)}
        return sum(sizes[d] for d in held if d >= 0)


def extend(
    counts: Sequence[int],
    known: Sequence[int] | None,
    key_space: int,
    max_depth: int | None,
) -> tuple[list[int], str, float | None]:
    """The counts of all depths, where those beyond `counts` are from, and the growth assumed.

    From "table", where `known` begins as `counts` do, else from "growth": geometric with the mean
    ratio of the last depths, up to max_depth or until the key space is used up.
    """
    last = MOST_DEPTHS if max_depth is None else max_depth
    if known is not None and list(known[: len(counts)]) == list(counts):
        return list(known[: last + 1]), "table", None
    steps = min(GROWTH_DEPTHS, len(counts) - 1)
    growth = (counts[-1] / counts[-1 - steps]) ** (1 / steps) if steps > 0 else 1.0
    found = [int(count) for count in counts]
    left = key_space - sum(found)
    expected = float(found[-1])
    while left > 0 and len(found) <= last:
        expected *= growth
        if expected < 1:
            break
        found.append(min(left, round(expected)))
        left -= found[-1]
    return found, "growth", growth


def predict(
    counts: Sequence[int], measured: Sequence[Mapping[str, Any]], rates: Rates, needs: Needs
) -> list[dict[str, Any]]:
    """A row for every depth: states, cumulative, seconds, bytes, spilled, written, peak_disk.

    measured: the rows of the depth table that a short search has made; they stay as they are.
    """
    rows: list[dict[str, Any]] = []
    sizes: list[float] = []
    for depth, (states, total) in enumerate(zip(counts, accumulate(counts), strict=True)):
        if depth < len(measured):
            row = measured[depth]
            size, seconds, spilled = row["bytes"], row["seconds"], row["spilled"]
        else:
            size = round(states * rates.bytes)
            routed = round(states * rates.routed * rates.record_bytes)
            spilled = routed if routed > rates.pool else 0
            computing = max(rates.overhead, states * rates.seconds)
            seconds = max(computing, (size + spilled) / rates.disk)
        sizes.append(size)
        compacted = _compacted(sizes) if needs.history is None else 0
        rows.append(
            {
                "depth": depth,
                "states": int(states),
                "cumulative": int(total),
                "seconds": round(float(seconds), 6),
                "bytes": int(size),
                "spilled": int(spilled),
                "written": int(size + spilled + compacted),
                "peak_disk": int(needs.stored(sizes, depth) + spilled + rates.base),
                "counted": depth < len(measured),
            }
        )
    return rows


def _compacted(sizes: Sequence[float]) -> float:
    """Bytes written to keep the visited keys in a few levels: every key about log2(n) times."""
    return sizes[-1] * max(1, len(sizes).bit_length() - 1)


def total(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The same figures for the whole search; peak_disk is the largest."""
    return {
        "depth": rows[-1]["depth"],
        "states": rows[-1]["cumulative"],
        "seconds": round(sum(row["seconds"] for row in rows), 3),
        "bytes": sum(row["bytes"] for row in rows),
        "spilled": sum(row["spilled"] for row in rows),
        "written": sum(row["written"] for row in rows),
        "peak_disk": max(row["peak_disk"] for row in rows),
    }


# The disk


def existing_parent(path: str) -> Path:
    """The nearest directory at or above `path` that exists."""
    parent = Path(path).absolute()
    while not parent.is_dir():
        parent = parent.parent
    return parent


def room(run: str, disk: int | None) -> int:
    """Bytes that a new run may take: --disk if that is free, or all that is free but 1 GiB."""
    free = shutil.disk_usage(existing_parent(run)).free
    return max(0, free - DISK_MARGIN) if disk is None else min(disk, free)


def least_disk(counts: Sequence[int], keep: str) -> int:
    """Bytes below which no search of these counts stays, whatever its algebra and its codecs.

    LOW_BITS a state, for all layers, or for the two largest neighbours with keep "frontier".
    """
    states = sum(counts)
    if keep == "frontier":
        states = max(a + b for a, b in zip([0, *counts], [*counts, 0], strict=True))
    return states * LOW_BITS // 8


def refuse_what_cannot_fit(
    puzzle: Puzzle, run: str, *, keep: str, disk: int | None, max_depth: int | None
) -> None:
    """Raise LimitError if, by known counts and the fewest bits a state, the disk is too small.

    Says nothing where no counts are known. Not for a search that a goal or the clock may end.
    """
    known = puzzle.known_counts()
    if known is None:
        return
    counts = list(known if max_depth is None else islice(known, max_depth + 1))
    least, there = least_disk(counts, keep), room(run, disk)
    if least <= there:
        return
    what = "free there" if disk is None or disk > there else "what --disk allows"
    advice = ["--max-depth", "more disk", "--force to start all the same"]
    if keep == "all" and least_disk(counts, "frontier") <= there:
        advice.insert(2, "--keep frontier")
    raise LimitError(
        f"{puzzle.name} to depth {len(counts) - 1} has {sum(counts)} states and needs at least "
        f"{format_size(least)} in {os.fspath(run)}, and {format_size(there)} is {what}: give "
        f"{', '.join(advice[:-1])} or {advice[-1]}"
    )
