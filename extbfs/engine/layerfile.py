"""The file that the runs of a layer under way are appended to, shared by all workers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from extbfs.engine.background import Task
from extbfs.engine.context import Engine
from extbfs.engine.ledger import file_number
from store import names
from store.block import Bytes
from store.pages import PAGE, whole

LARGEST_FILE = 1 << 29


@dataclass(slots=True)
class _File:
    """An open file: its name, its descriptor, and one that writes past the page cache."""

    name: str
    fd: int
    direct: int | None = None


class LayerFiles:
    """Appends runs to numbered files of up to half a GiB; thread-safe.

    Bytes are durable only after sync(); only then may a catalogue record name them.

    While the run directory holds less than the memory limit, what is written stays in the page
    cache to be read again. From then on runs that are handed over go past it: the cache could not
    keep them all, and every page that it takes for them costs more than the disk does.
    """

    def __init__(self, engine: Engine, name: Callable[[int], str]) -> None:
        """name(i) is the name of file i, relative to the run directory."""
        self._fs = engine.fs
        self._meter = engine.meter
        self._writer = engine.writer
        self._run = engine.run
        self._cached = engine.memory.page_cache
        self._directs = True
        self._name = name
        self._next = 0
        self._lock = threading.Lock()
        self._files: list[_File] = []
        self._end = LARGEST_FILE
        self._dirty: dict[str, int] = {}
        self._writes: list[Task] = []
        self.behind = 0
        """Bytes appended since the last sync began."""
        self._created = False

    def continue_after(self, files: list[str]) -> None:
        """Leave alone the files that a search before this one has recorded."""
        numbers = [file_number(file) for file in files]
        self._next = max([self._next - 1, *numbers]) + 1

    def append(self, data: memoryview) -> tuple[str, int]:
        """Write a run; (file name, offset). Not durable yet."""
        with self._lock:
            file, offset = self._place(len(data), 1)
        self._fs.pwrite(file.fd, data, offset)
        with self._lock:
            self._dirty[file.name] = file.fd
            self.behind += len(data)
        return file.name, offset

    def hand_over(self, pages: Bytes, size: int) -> tuple[str, int, Task]:
        """Let another thread write a run; (file name, offset, what tells that it is done).

        pages: uint8[whole(size)] at the address of a page: the run, then zeros. They stay as they
        are until it is done; an error is raised by its result() and by sync().
        """
        with self._lock:
            past = self._directs and self._meter.used > self._cached
            file, offset = self._place(whole(size), PAGE) if past else self._place(size, 1)
            if past and file.direct is None:
                file.direct = self._fs.open_direct(os.path.join(self._run, file.name))
                self._directs = file.direct is not None
            direct = file.direct if past else None
            done = self._writer.begin(partial(self._write, file.fd, direct, pages, size, offset))
            self._writes.append(done)
            self._dirty[file.name] = file.fd
            self.behind += size
        return file.name, offset, done

    def _write(self, fd: int, direct: int | None, pages: Bytes, size: int, offset: int) -> None:
        if direct is not None:
            if self._fs.pwrite_direct(direct, pages.data, offset):
                return
            self._directs = False
        self._fs.pwrite(fd, pages.data[:size], offset)

    def _place(self, size: int, unit: int) -> tuple[_File, int]:
        """Where so many bytes go, from a multiple of `unit` on: (file, offset)."""
        offset = -(-self._end // unit) * unit
        if offset + size > LARGEST_FILE and self._end:
            offset = 0
            self._open_next()
        self._meter.take(offset + size - self._end)
        self._end = offset + size
        return self._files[-1], offset

    def _open_next(self) -> None:
        name = self._name(self._next)
        self._next += 1
        self._files.append(_File(name, self._fs.create(os.path.join(self._run, name))))
        self._end = 0
        self._created = True

    def sync(self) -> None:
        """Make all runs durable that were appended or handed over so far, and the files' names."""
        with self._lock:
            dirty, self._dirty = list(self._dirty.values()), {}
            writes, self._writes = self._writes, []
            self.behind = 0
            created, self._created = self._created, False
        for write in writes:
            write.wait()  # all of them, before any can fail: close() does not know them
        for write in writes:
            write.result()
        for fd in dirty:
            self._fs.datasync(fd)
        if created:
            self._fs.sync_dir(os.path.join(self._run, names.LAYERS))

    def close(self) -> None:
        """Give the descriptors back; without a sync() before, nothing is promised."""
        for write in self._writes:
            write.wait()
        with self._lock:
            for file in self._files:
                for fd in (file.fd, file.direct):
                    if fd is not None:
                        self._fs.close(fd)
            self._files = []
