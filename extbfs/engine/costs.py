"""What a depth cost this process: seconds by stage, processor time, and the bytes it moved."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from extbfs.engine.worker import Worker

COUNTERS = {
    "rchar": "read",
    "wchar": "written",
    "read_bytes": "device_read",
    "write_bytes": "device_written",
}
"""Linux's counters of a process: bytes of its system calls, and those that reached a device."""


class Costs:
    """Differences between moments at which the crew is at rest."""

    def __init__(self, workers: Sequence[Worker]) -> None:
        self._workers = workers
        self._stages: dict[str, int] = {}
        self._moved: dict[str, int] = {}
        self._processor = 0
        self.lap()

    def lap(self) -> dict[str, Any]:
        """Since the last lap: "stages", "cpu_seconds", and bytes by COUNTERS.

        Stages are seconds by the clock, summed over the workers; processor seconds are those of all
        threads. Where the system does not count bytes their names are missing.
        """
        stages: dict[str, int] = {}
        for worker in self._workers:
            for stage, nanoseconds in worker.clock.nanoseconds.items():
                stages[stage] = stages.get(stage, 0) + nanoseconds
        moved = _moved()
        processor = time.process_time_ns()
        spent = {
            stage: round((total - self._stages.get(stage, 0)) / 1e9, 6)
            for stage, total in stages.items()
        }
        bytes_moved = {name: total - self._moved.get(name, 0) for name, total in moved.items()}
        cpu_seconds = round((processor - self._processor) / 1e9, 6)
        self._stages, self._moved, self._processor = stages, moved, processor
        return {"stages": spent, "cpu_seconds": cpu_seconds, **bytes_moved}


def _moved() -> dict[str, int]:
    """The bytes this process has read and written so far."""
    try:
        with open("/proc/self/io", encoding="ascii") as file:
            fields = dict(line.split(": ") for line in file.read().splitlines())
        return {name: int(fields[field]) for field, name in COUNTERS.items()}
    except (OSError, KeyError, ValueError):
        return {}
