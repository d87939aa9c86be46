"""Where a layer's bytes come from: files of one directory, with few handles open at once."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import Protocol

from typing_extensions import Buffer

from store.errors import IntegrityError, IoFailure
from store.fs import FileSystem

MAX_HANDLES = 64


class Source(Protocol):
    """Reads parts of named files. Thread-safe."""

    def pread(self, file: str, offset: int, length: int, buffer: Buffer) -> None:
        """Fill the first `length` bytes of `buffer` from `offset` of `file`.

        Raises IntegrityError when there is no such file or it ends before that.
        """


class FileSource:
    """The files of `directory`, opened when they are first read; at most `handles` stay open."""

    def __init__(
        self, directory: str | os.PathLike[str], fs: FileSystem, handles: int = MAX_HANDLES
    ) -> None:
        self._directory = os.fspath(directory)
        self._fs = fs
        self._handles = handles
        self._lock = threading.Lock()
        self._open: OrderedDict[str, list[int]] = OrderedDict()  # file: [descriptor, readers]

    def pread(self, file: str, offset: int, length: int, buffer: Buffer) -> None:
        """Fill the first `length` bytes of `buffer` from `offset` of `file`."""
        handle = self._take(file)
        try:
            got = self._fs.preadinto(handle[0], memoryview(buffer).cast("B")[:length], offset)
        finally:
            self._give_back(handle)
        if got != length:
            raise IntegrityError(
                os.path.join(self._directory, file),
                "?",
                f"the file ends {length - got} bytes before byte {offset + length}",
            )

    def _take(self, file: str) -> list[int]:
        with self._lock:
            handle = self._open.get(file)
            if handle is None:
                handle = [self._open_file(file), 0]
                self._open[file] = handle
            self._open.move_to_end(file)
            handle[1] += 1
            self._shrink(self._handles)
            return handle

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

    def _give_back(self, handle: list[int]) -> None:
        with self._lock:
            handle[1] -= 1
            self._shrink(self._handles)

    def _shrink(self, handles: int) -> None:
        """Close what is idle, the longest unused first, until at most `handles` are open."""
        excess = len(self._open) - handles
        if excess > 0:
            idle = [file for file, handle in self._open.items() if handle[1] == 0]
            for file in idle[:excess]:
                self._fs.close(self._open.pop(file)[0])

    def forget(self, file: str) -> None:
        """Close `file`, which is about to be deleted; no reader may be inside it."""
        with self._lock:
            handle = self._open.pop(file, None)
            if handle is not None:
                self._fs.close(handle[0])

    def close(self) -> None:
        """Close every file that nobody is reading."""
        with self._lock:
            self._shrink(0)
