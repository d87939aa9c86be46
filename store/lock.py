"""One writer a run: an flock on RUN/LOCK, held for the writer's life and gone with it.

The kernel drops the lock when its holder ends, however it ends, so a killed holder leaves nothing
to clear. The text in the file only says who it is; whether someone is, only the flock says.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType

from store import fs, names
from store.errors import Locked, NoPermission

_ATTEMPTS = 200  # of 5 ms; a reader that asks who holds the lock has it for microseconds
_PAUSE_S = 0.005
_MAX_TEXT = 4096


@dataclass(frozen=True)
class Holder:
    """Who holds a run directory, as written in its LOCK file; pid 0 if the text is unreadable."""

    pid: int
    host: str
    since: str

    def __str__(self) -> str:
        if not self.pid:
            return "another process"
        return f"process {self.pid} on {self.host} since {self.since}"


class WriterLock:
    """The right to write one run directory, held until `release` or the end of the process."""

    def __init__(self, run: str, fd: int) -> None:
        self.run = run
        self._fd = fd

    @classmethod
    def acquire(cls, run: str | os.PathLike[str]) -> WriterLock:
        """Take the lock of `run`, an existing directory, at once or not at all.

        Raises Locked naming the holder, NoPermission where the directory cannot be written.
        """
        run = os.fspath(run)
        path = os.path.join(run, names.LOCK)
        for _ in range(_ATTEMPTS):
            fd = fs.current().open_rw(path, create=True)
            try:
                if _try(fd, fcntl.LOCK_EX) and _is_at(fd, path):
                    _write_holder(fd)
                    return cls(run, fd)
                taken = not _try(fd, fcntl.LOCK_SH)
            except BaseException:
                fs.current().close(fd)
                raise
            text = _read_holder(fd)
            fs.current().close(fd)
            if taken:
                raise Locked(run, text)
            time.sleep(_PAUSE_S)  # only readers were there, for an instant
        raise Locked(run, Holder(0, "", ""))

    def release(self) -> None:
        """Let go; the file stays, and says who held it last. Does nothing the second time."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            fs.current().close(fd)

    def __enter__(self) -> WriterLock:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.release()


def holder(run: str | os.PathLike[str]) -> Holder | None:
    """Who writes `run` now, or None if nobody does. Needs no write permission.

    True at the moment of the call only. Without permission to read LOCK: NoPermission.
    """
    path = os.path.join(run, names.LOCK)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        raise NoPermission(path, "read", str(error.strerror)) from error
    try:
        return None if _try(fd, fcntl.LOCK_SH) else _read_holder(fd)
    finally:
        os.close(fd)


def _try(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(fd: int, path: str) -> bool:
    """Whether `path` still names the file of `fd`: someone may have deleted it meanwhile."""
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))
    except FileNotFoundError:
        return False


def _write_holder(fd: int) -> None:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    text = {"pid": os.getpid(), "host": socket.gethostname(), "since": since}
    data = json.dumps(text).encode() + b"\n"
    fs.current().pwrite(fd, data, 0)
    fs.current().truncate(fd, len(data))


def _read_holder(fd: int) -> Holder:
    try:
        text = json.loads(os.pread(fd, _MAX_TEXT, 0).split(b"\n")[0])
        return Holder(int(text["pid"]), str(text["host"]), str(text["since"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return Holder(0, "", "")
