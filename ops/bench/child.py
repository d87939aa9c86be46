"""A program run on its own, with what the operating system says it took.

Linux counts the resident memory of the process that starts a child to the child's peak, so whoever
calls this has to stay small: nothing here or above it imports numpy.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in which ru_maxrss counts."""


class ChildFailed(Exception):
    """A program that ended badly, with the end of what it said."""


@dataclass(frozen=True, slots=True)
class Ended:
    """started: wall-clock time in seconds; peak_bytes: its largest resident memory."""

    started: float
    seconds: float
    peak_bytes: int
    user_seconds: float
    system_seconds: float
    output: str


def run(command: Sequence[str | Path], cwd: Path) -> Ended:
    """Run a program to its end. Raises ChildFailed when its exit code is not 0."""
    words = [str(word) for word in command]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.time()
        begun = time.perf_counter()
        process = subprocess.Popen(words, cwd=cwd, stdout=out, stderr=err)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        seconds = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode != 0:
            told = err.read().decode(errors="replace").strip()[-2000:]
            raise ChildFailed(f"{' '.join(words)} ended with {process.returncode}: {told}")
        return Ended(
            started,
            seconds,
            usage.ru_maxrss * UNIT,
            usage.ru_utime,
            usage.ru_stime,
            out.read().decode(),
        )


def own_peak() -> int:
    """The peak resident memory of this process in bytes: the least that a child's can be."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT
