"""The disk meter: bytes the run directory holds, and the ceiling it must stay under."""

from __future__ import annotations

import os
import threading

from extbfs.sizes import format_size
from store.errors import DiskLimit


def directory_bytes(directory: str) -> int:
    """Bytes allocated or announced by the files below a directory, whichever is less (sparse)."""
    total = 0
    for root, _, files in os.walk(directory):
        for name in files:
            try:
                stat = os.lstat(os.path.join(root, name))
            except OSError:
                continue
            total += min(stat.st_size, stat.st_blocks * 512)
    return total


class DiskMeter:
    """Counts bytes written and deleted; thread-safe."""

    def __init__(self, directory: str, limit: int) -> None:
        self.directory = directory
        self.limit = limit
        self.used = directory_bytes(directory)
        self.peak = self.used
        self.written = 0
        self._lock = threading.Lock()

    def take(self, size: int) -> None:
        """Announce a write; raise DiskLimit if the run would grow past its ceiling."""
        with self._lock:
            if self.used + size > self.limit:
                raise DiskLimit(
                    f"{self.directory} holds {format_size(self.used)} and needs "
                    f"{format_size(size)} more, past its limit of {format_size(self.limit)}"
                )
            self.used += size
            self.peak = max(self.peak, self.used)
            self.written += size

    def give_back(self, size: int) -> None:
        """Account for deleted bytes."""
        with self._lock:
            self.used -= size

    def recount(self) -> None:
        """Measure again what the directory holds."""
        used = directory_bytes(self.directory)
        with self._lock:
            self.used = used
            self.peak = max(self.peak, used)
