"""Where a layer's bytes come from: files of one directory, with few handles open at once."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from typing_extensions import Buffer

from store.errors import IntegrityError, IoFailure
from store.fs import FileSystem

MAX_HANDLES = 64
AHEAD = 1 << 22
"""Bytes that the system is asked to read before anybody wants them."""
BEHIND = 4 * AHEAD
"""Bytes by which one reader of a file may be behind another."""
SHORT = 1 << 16
"""Bytes of a read that says nothing of those to come."""


class Source(Protocol):
    """Reads parts of named files. Thread-safe."""

    def pread(self, file: str, offset: int, length: int, buffer: Buffer) -> None:
        """Fill the first `length` bytes of `buffer` from `offset` of `file`.

        Raises IntegrityError when there is no such file or it ends before that.
        """


@dataclass(slots=True)
class _Handle:
    """An open file, who is reading it, and up to where it was asked for in advance."""

    fd: int
    readers: int = 0
    asked: int = 0

    def next_part(self, offset: int, length: int) -> int | None:
        """From where on AHEAD bytes are to be asked for when these are read; None for not now.

        Several readers go through a file together, each a little way before or behind the others.
        """
        end = offset + length
        if not self.asked - BEHIND <= offset <= self.asked:
            self.asked = end
            return None
        begin = max(self.asked, end)
        if begin - end >= AHEAD // 2:
            return None
        self.asked = begin + AHEAD
        return begin


class FileSource:
    """The files of `directory`, opened when they are first read; at most `handles` stay open."""

    def __init__(
        self, directory: str | os.PathLike[str], fs: FileSystem, handles: int = MAX_HANDLES
    ) -> None:
        self._directory = os.fspath(directory)
        self._fs = fs
        self._handles = handles
        self._lock = threading.Lock()
        self._open: OrderedDict[str, _Handle] = OrderedDict()
        self._passing: frozenset[str] = frozenset()

    def pread(self, file: str, offset: int, length: int, buffer: Buffer) -> None:
        """Fill the first `length` bytes of `buffer` from `offset` of `file`."""
        handle, ahead = self._take(file, offset, length)
        try:
            if ahead is not None:
                self._fs.will_need(handle.fd, ahead, AHEAD)
                if file in self._passing:
                    # twice each, since nothing goes of what is only half inside
                    begin = max(0, ahead - BEHIND - 2 * AHEAD)
                    self._fs.let_go(handle.fd, begin, max(0, ahead - BEHIND - begin))
            got = self._fs.preadinto(handle.fd, memoryview(buffer).cast("B")[:length], offset)
        finally:
            self._give_back(handle)
        if got != length:
            raise IntegrityError(
                os.path.join(self._directory, file),
                "?",
                f"the file ends {length - got} bytes before byte {offset + length}",
            )

    def keep_out(self, files: Iterable[str]) -> None:
        """Let what is read in sequence of these files leave the system's page cache again."""
        with self._lock:
            self._passing |= frozenset(files)

    def _take(self, file: str, offset: int, length: int) -> tuple[_Handle, int | None]:
        with self._lock:
            handle = self._open.get(file)
            if handle is None:
                handle = _Handle(self._open_file(file))
                self._open[file] = handle
            self._open.move_to_end(file)
            handle.readers += 1
            self._shrink(self._handles)
            return handle, handle.next_part(offset, length) if length > SHORT else None

    def _open_file(self, file: str) -> int:
        path = os.path.join(self._directory, file)
        if any(part in ("", ".", "..") for part in file.split("/")):
            raise IntegrityError(path, "?", "this is not the name of a file of the run")
        try:
            return self._fs.open_read(path)
        except IoFailure as error:
            if error.missing:
                raise IntegrityError(path, "?", "the file is missing") from error
            raise

    def _give_back(self, handle: _Handle) -> None:
        with self._lock:
            handle.readers -= 1
            self._shrink(self._handles)

    def _shrink(self, handles: int) -> None:
        """Close what is idle, the longest unused first, until at most `handles` are open."""
        excess = len(self._open) - handles
        if excess > 0:
            idle = [file for file, handle in self._open.items() if handle.readers == 0]
            for file in idle[:excess]:
                self._fs.close(self._open.pop(file).fd)

    def forget(self, file: str) -> None:
        """Close `file`, which is about to be deleted; no reader may be inside it."""
        with self._lock:
            self._passing -= {file}
            handle = self._open.pop(file, None)
            if handle is not None:
                self._fs.close(handle.fd)

    def close(self) -> None:
        """Close every file that nobody is reading."""
        with self._lock:
            self._shrink(0)
