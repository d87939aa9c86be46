"""The board: what the search is doing, for status.json and for whoever watches this process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import extbfs
from extbfs.engine.budget import peak_bytes, resident_bytes
from extbfs.engine.disk import DiskMeter
from extbfs.status import SCHEMA, pack
from store import names
from store.fs import FileSystem

INTERVAL = 1.0
"""Seconds between two versions of status.json."""
EVENTS = 0.25
"""Seconds between two progress events for an observer."""

Observe = Callable[[dict[str, Any]], None]


class Board:
    """Keeps the status and publishes it: atomically, at most about once a second, and at the end.

    fixed: the fields that do not change while the process lives.
    """

    def __init__(
        self,
        fs: FileSystem,
        run: str,
        meter: DiskMeter,
        fixed: dict[str, Any],
        seconds_before: float,
        observe: Observe | None,
    ) -> None:
        self._fs = fs
        self._path = os.path.join(run, names.STATUS)
        self._run = run
        self._meter = meter
        self._fixed = fixed
        self._seconds_before = seconds_before
        self._observe = observe
        self._begun = time.monotonic()
        self._stage_begun = self._begun
        self._depth_begun = self._begun
        self._published = 0.0
        self._observed = 0.0
        self._checkpoint = time.time()
        self._expand_share = 0.4
        self._state = "running"
        self._reason: str | None = None
        self._stage: str | None = None
        self._depth = 0
        self._done = 0
        self._total = 1
        self.rows: list[dict[str, Any]] = []
        self.merged = 0
        self.goal: dict[str, Any] | None = None
        self.frontier_empty = False

    # what the search tells

    def stage(self, name: str, depth: int, done: int, total: int) -> None:
        """A stage of a depth begins, with so much of it done already."""
        now = time.monotonic()
        if name == "expand":
            self._depth_begun = now
        self._stage, self._depth = name, depth
        self._done, self._total = done, max(1, total)
        self._first = done
        self._stage_begun = now
        self.merged = 0

    def advance(self, amount: int) -> None:
        """So much more of the stage is done."""
        self._done += amount

    def checkpointed(self) -> None:
        """Work has become durable."""
        self._checkpoint = time.time()

    def depth_done(self, row: dict[str, Any], expand_share: float) -> None:
        """A depth is complete and durable."""
        self.rows.append(row)
        self._depth = row["depth"]
        self._stage = None
        self._expand_share = 0.5 * self._expand_share + 0.5 * expand_share
        self._tell({"event": "depth", **row})

    def message(self, text: str) -> None:
        """Something worth telling a person."""
        self._tell({"event": "message", "text": text})

    def end(self, state: str, reason: str | None, exit_code: int) -> None:
        """The process is about to leave: publish the last word."""
        self._state, self._reason = state, reason
        self._fixed["exit_code"] = exit_code
        self.publish(sync=True)

    # what others see

    def refresh(self) -> None:
        """Publish if it is time to."""
        now = time.monotonic()
        if now - self._published >= INTERVAL:
            self.publish()
        if self._observe is not None and now - self._observed >= EVENTS:
            self._observed = now
            self._tell({"event": "progress", "status": self.status()})

    def publish(self, *, sync: bool = False) -> None:
        """Replace status.json. A failure to do so is no reason to stop searching."""
        self._published = time.monotonic()
        try:
            self._fs.write_atomic(self._path, pack(self.status()), sync=sync)
        except Exception as error:
            self.message(f"status.json could not be written: {error}")

    def status(self) -> dict[str, Any]:
        """The status as plain data; the schema is that of extbfs.status."""
        now = time.monotonic()
        seconds = self._seconds_before + now - self._begun
        states = self.rows[-1]["cumulative"] if self.rows else 0
        fraction = min(1.0, self._done / self._total)
        running = self._state == "running"
        return {
            "schema": SCHEMA,
            "extbfs": extbfs.__version__,
            "run": self._run,
            **self._fixed,
            "state": self._state,
            "reason": self._reason,
            "pid": os.getpid() if running else None,
            "depth": self._depth,
            "stage": self._stage,
            "stage_percent": round(100 * fraction, 2) if self._stage else None,
            "depths": self.rows,
            "states": states,
            "rate_now": self._rate_now(now) if running else None,
            "rate_run": round(states / seconds) if seconds > 0 else None,
            "seconds": round(seconds, 3),
            "memory": {
                "limit": self._fixed.get("memory_limit"),
                "rss": resident_bytes(),
                "peak": peak_bytes(),
            },
            "disk": {
                "used": self._meter.used,
                "peak": self._meter.peak,
                "limit": self._meter.limit,
                "written": self._meter.written,
            },
            "last_checkpoint": self._checkpoint,
            "eta_depth_seconds": self._eta(now, fraction) if running else None,
            "frontier_empty": self.frontier_empty,
            "goal": self.goal,
        }

    def _rate_now(self, now: float) -> int | None:
        """New states a second: of this depth as far as can be told, else of the last one."""
        if self._stage == "merge" and self.merged and self._done:
            fraction = min(1.0, self._done / self._total)
            progress = self._expand_share + (1 - self._expand_share) * fraction
            return round(self.merged / fraction * progress / max(now - self._depth_begun, 1e-3))
        if self.rows and self.rows[-1]["seconds"] > 0:
            return int(self.rows[-1]["states"] / self.rows[-1]["seconds"])
        return None

    def _eta(self, now: float, fraction: float) -> float | None:
        """Seconds until the depth under way is complete, from how far it has come."""
        if self._stage is None:
            return None
        stage_share = (fraction * self._total - self._first) / self._total
        spent = now - self._stage_begun
        if stage_share <= 0.01 or spent <= 0:
            return None
        left = spent / stage_share * (1 - fraction)
        if self._stage == "expand":
            share = max(0.05, self._expand_share)
            left += spent / stage_share * (1 - share) / share
        return round(left, 1)

    def _tell(self, event: dict[str, Any]) -> None:
        if self._observe is not None:
            self._observe(event)
