"""The file that the runs of a layer under way are appended to, shared by all workers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from extbfs.engine.disk import DiskMeter
from extbfs.engine.ledger import file_number
from store import names
from store.fs import FileSystem

LARGEST_FILE = 1 << 29


class LayerFiles:
    """Appends runs to numbered files of up to half a GiB; thread-safe.

    Bytes are durable only after sync(); only then may a catalogue record name them.
    """

    def __init__(
        self, fs: FileSystem, meter: DiskMeter, run: str, name: Callable[[int], str], first: int
    ) -> None:
        """name(i) is the name of file i, relative to `run`; files before `first` exist already."""
        self._fs = fs
        self._meter = meter
        self._run = run
        self._name = name
        self._next = first
        self._lock = threading.Lock()
        self._file = ""
        self._fd = -1
        self._end = 0
        self._dirty: dict[str, int] = {}
        self.behind = 0
        """Bytes appended since the last sync began."""
        self._full: list[int] = []
        self._created = False

    def continue_after(self, files: list[str]) -> None:
        """Leave alone the files that a search before this one has recorded."""
        numbers = [file_number(file) for file in files]
        self._next = max([self._next - 1, *numbers]) + 1

    def append(self, data: memoryview) -> tuple[str, int]:
        """Write a run; (file name, offset). Not durable yet."""
        size = len(data)
        self._meter.take(size)
        with self._lock:
            if self._fd < 0 or (self._end and self._end + size > LARGEST_FILE):
                self._open_next()
            file, fd, offset = self._file, self._fd, self._end
            self._end += size
        self._fs.pwrite(fd, data, offset)
        with self._lock:
            self._dirty[file] = fd
            self.behind += size
        return file, offset

    def _open_next(self) -> None:
        file = self._name(self._next)
        self._next += 1
        fd = self._fs.create(os.path.join(self._run, file))
        if self._fd >= 0:
            self._full.append(self._fd)
        self._file, self._fd = file, fd
        self._end = 0
        self._created = True

    def sync(self) -> None:
        """Make every append that has returned so far durable, and the names of the files."""
        with self._lock:
            dirty, self._dirty = list(self._dirty.values()), {}
            self.behind = 0
            created, self._created = self._created, False
        for fd in dirty:
            self._fs.datasync(fd)
        if created:
            self._fs.sync_dir(os.path.join(self._run, names.LAYERS))

    def close(self) -> None:
        """Give the descriptors back; without a sync() before, nothing is promised."""
        with self._lock:
            for fd in [*self._full, self._fd]:
                if fd >= 0:
                    self._fs.close(fd)
            self._full, self._fd = [], -1
