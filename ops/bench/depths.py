"""What a run's journal tells about its depths: time, stages, bytes, in figures per new state."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ops.bench.figures import random_subset_bits

STAGES = (
    "read",
    "expand",
    "route",
    "gather",
    "sort",
    "subtract",
    "encode",
    "write",
    "spill",
)
"""The stages of every report, in order; stages that an engine adds come behind them."""
MOVED = ("read", "written", "device_read", "device_written")
SAME_COMMIT = 0.0015
"""Seconds between two journal lines up to which they are taken to follow one commit."""


class JournalFault(Exception):
    """A journal that does not tell what is asked of it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """One depth, or several together; `random_bits` is for all its states together.

    seconds: wall clock from one durable depth to the next; cpu_seconds: processor time of all
    threads; stages: wall-clock seconds of all workers.
    """

    states: int
    records: int
    arrivals: int
    seconds: float
    cpu_seconds: float
    expand_seconds: float
    merge_seconds: float
    layer_bytes: int
    spilled: int
    random_bits: float
    stages: Mapping[str, float] = field(default_factory=dict)
    moved: Mapping[str, int] | None = None

    def __add__(self, other: Cost) -> Cost:
        moved = None
        if self.moved is not None and other.moved is not None:
            moved = {name: self.moved[name] + other.moved[name] for name in MOVED}
        stages = {
            name: self.stages.get(name, 0.0) + other.stages.get(name, 0.0)
            for name in dict.fromkeys([*self.stages, *other.stages])
        }
        return Cost(
            self.states + other.states,
            self.records + other.records,
            self.arrivals + other.arrivals,
            self.seconds + other.seconds,
            self.cpu_seconds + other.cpu_seconds,
            self.expand_seconds + other.expand_seconds,
            self.merge_seconds + other.merge_seconds,
            self.layer_bytes + other.layer_bytes,
            self.spilled + other.spilled,
            self.random_bits + other.random_bits,
            stages,
            moved,
        )


def read_journal(path: Path) -> list[dict[str, Any]]:
    """The events of a log.jsonl, in order; a last line cut short is left out."""
    events = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            break
    return events


def costs(events: Iterable[Mapping[str, Any]], key_space: int) -> dict[int, Cost]:
    """The cost of every depth that one uninterrupted run has reported, by depth.

    Depths that share a commit share the time up to it in proportion to their own seconds.
    """
    found: dict[int, Cost] = {}
    before: float | None = None
    group: list[Mapping[str, Any]] = []

    def close() -> None:
        nonlocal before, group
        if not group:
            return
        if before is None:
            raise JournalFault("the journal has depths before the start of the search")
        wall = max(0.0, group[-1]["time"] - before)
        total = sum(row["seconds"] for row in group)
        for row in group:
            share = row["seconds"] / total if total > 0 else 1 / len(group)
            found[row["depth"]] = _cost(row, wall * share, key_space)
        before, group = group[-1]["time"], []

    for event in events:
        if event["event"] == "start":
            before = event["time"]
        elif event["event"] == "resume":
            raise JournalFault("the run was interrupted; its depths cannot be timed")
        elif event["event"] == "depth":
            if group and event["time"] - group[-1]["time"] > SAME_COMMIT:
                close()
            group.append(event)
    close()
    return found


def _cost(row: Mapping[str, Any], seconds: float, key_space: int) -> Cost:
    states = row["states"]
    moved = {name: row[name] for name in MOVED} if all(name in row for name in MOVED) else None
    return Cost(
        states,
        row.get("keys", states),
        row.get("arrivals", 0),
        seconds,
        row.get("cpu_seconds", 0.0),
        row.get("expand_seconds", 0.0),
        row.get("merge_seconds", 0.0),
        row["bytes"],
        row["spilled"],
        random_subset_bits(key_space, states) * states,
        row.get("stages", {}),
        moved,
    )


def total(found: Mapping[int, Cost], first: int, last: int) -> Cost:
    """The depths first to last together. Raises JournalFault when one of them is missing."""
    missing = [depth for depth in range(first, last + 1) if depth not in found]
    if missing:
        raise JournalFault(f"the journal lacks depth {missing[0]}")
    parts = [found[depth] for depth in range(first, last + 1)]
    return list(itertools.accumulate(parts))[-1]


def figures(cost: Cost, threads: int, overhead_bytes: int = 0) -> dict[str, Any]:
    """A cost in figures per new state; nanoseconds are those of one core.

    overhead_bytes: what the run directory holds beside its layers, counted to the stored bits.
    "other" nanoseconds are those in which a core was in no stage: waiting, planning, committing;
    closing_seconds are those outside of both expanding and merging.
    """
    states = max(1, cost.states)
    spent = 1e9 * cost.seconds * threads / states
    names: Sequence[str] = [*STAGES, *(name for name in cost.stages if name not in STAGES)]
    by_stage = {name: round(1e9 * cost.stages.get(name, 0.0) / states, 3) for name in names}
    by_stage["other"] = round(spent - sum(by_stage.values()), 3)
    closing = cost.seconds - cost.expand_seconds - cost.merge_seconds
    moved = None
    if cost.moved is not None:
        moved = {name: round(cost.moved[name] / states, 3) for name in MOVED}
    return {
        "states": cost.states,
        "seconds": round(cost.seconds, 3),
        "states_per_second": round(states / cost.seconds) if cost.seconds > 0 else None,
        "ns_per_state_and_core": round(spent, 3),
        "ns_by_stage": by_stage,
        "cpu_ns_per_state": round(1e9 * cost.cpu_seconds / states, 3),
        "expand_seconds": round(cost.expand_seconds, 3),
        "merge_seconds": round(cost.merge_seconds, 3),
        "closing_seconds": round(closing, 3),
        "records_per_state": round(cost.records / states, 3),
        "arrivals_per_state": round(cost.arrivals / states, 3),
        "bytes_per_state": moved,
        "bits_per_state": round(8 * (cost.layer_bytes + overhead_bytes) / states, 3),
        "random_subset_bits": round(cost.random_bits / states, 3),
        "spilled_bytes": cost.spilled,
    }
