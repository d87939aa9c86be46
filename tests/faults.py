"""A file system that fails on purpose: before its N-th durable operation, in a chosen way.

Everything the store changes on disk goes through one object (`store.fs`), so an instance of
`FaultyFileSystem` in its place can kill the process, refuse an operation, or cut the power: then
what was not synced is lost, torn or kept at random, as POSIX allows. Files of LMDB, which writes
them itself, count as synced by each commit.
"""

from __future__ import annotations

import enum
import errno
import itertools
import os
import random
import shutil
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

import lmdb

from store.fs import FileSystem, StrPath, Transaction

if TYPE_CHECKING:
    from typing_extensions import Buffer

SECTORS = (512, 4096)
NEVER = 1 << 62
FREEING = frozenset({"unlink", "replace", "sync_dir"})  # these work on a full disk


class PowerCut(BaseException):
    """The power went off before this operation, or earlier; nothing handles it."""


class Fault(enum.Enum):
    """What happens at the chosen operation."""

    KILL = "kill"  # this process gets SIGKILL
    POWER_CUT = "power cut"  # PowerCut now and from every operation after it
    ONCE = "once"  # the operation fails, the next ones work
    FROM_THEN_ON = "from then on"  # this and all later ones fail; on a full disk see `FREEING`


@dataclass
class _NameChange:
    """A change of one directory that its sync has not yet made durable."""

    directory: str
    undo: Callable[[], None]
    kept: str | None = None  # a second name for the file that lost its own


@dataclass
class _Write:
    """A change of a file's bytes: what was in [offset, offset + len(old)) before, and its size."""

    offset: int
    length: int
    old: bytes
    size: int


@dataclass
class _Content:
    """The changes of one file since it was last synced; `link` is a second name for it."""

    link: str
    writes: list[_Write] = field(default_factory=list)


class FaultyFileSystem(FileSystem):
    """The real file system, but for one fault before the operation number `at` (the first is 1).

    `root` is the run directory; second names of its unsynced files are kept in `root`.stash beside
    it. `remember` turns on what `lose_unsynced` needs. `at_power_cut` is called once, in the place
    of raising PowerCut, with the file system still.
    """

    def __init__(
        self,
        root: StrPath,
        *,
        at: int = NEVER,
        fault: Fault = Fault.KILL,
        code: int = errno.EIO,
        remember: bool = False,
        at_power_cut: Callable[[FaultyFileSystem], NoReturn] | None = None,
    ) -> None:
        super().__init__()
        self.root = os.path.abspath(root)
        self.at = at
        self.fault = fault
        self.code = code
        self.count = 0
        self.operations: list[str] = []
        self.failed: list[str] = []
        self._remember = remember or fault is Fault.POWER_CUT
        self._at_power_cut = at_power_cut
        self._freed = False
        self._stash = self.root + ".stash"
        self._stashed = 0
        self._changes: list[_NameChange] = []
        self._contents: dict[tuple[int, int], _Content] = {}
        self._guard = threading.RLock()
        if self._remember:
            shutil.rmtree(self._stash, ignore_errors=True)
            os.makedirs(self._stash)

    # The operations

    def create(self, path: StrPath) -> int:
        with self._guard:
            if error := self._step("create", path):
                raise self._write_failure(error, os.fspath(path), "create")
            fd = super().create(path)
            self._named(path, lambda: _remove(os.fspath(path)))
            return fd

    def open_rw(self, path: StrPath, *, create: bool = False) -> int:
        with self._guard:
            if create and not os.path.exists(path):
                return self.create(path)
            return super().open_rw(path)

    def open_direct(self, path: StrPath) -> int | None:
        return super().open_rw(path)  # what is remembered is read through the same descriptor

    def pwrite(self, fd: int, data: Buffer, offset: int) -> None:
        with self._guard:
            if error := self._step("pwrite", self.path_of(fd)):
                raise self._write_failure(error, self.path_of(fd), "write")
            self._written(fd, offset, memoryview(data).nbytes)
            super().pwrite(fd, data, offset)

    def truncate(self, fd: int, length: int) -> None:
        with self._guard:
            if error := self._step("truncate", self.path_of(fd)):
                raise self._write_failure(error, self.path_of(fd), "truncate")
            size = os.fstat(fd).st_size
            self._written(fd, length, max(0, size - length))
            super().truncate(fd, length)

    def datasync(self, fd: int) -> None:
        with self._guard:
            if error := self._step("datasync", self.path_of(fd)):
                raise self._sync_failure(error, self.path_of(fd))
            super().datasync(fd)
            content = self._contents.pop(_identity(os.fstat(fd)), None)
            if content is not None:
                _remove(content.link)

    def mkdir(self, path: StrPath) -> None:
        with self._guard:
            if os.path.isdir(path):
                return
            if error := self._step("mkdir", path):
                raise self._write_failure(error, os.fspath(path), "create")
            super().mkdir(path)
            self._named(path, lambda: shutil.rmtree(path, ignore_errors=True))

    def replace(self, source: StrPath, target: StrPath) -> None:
        with self._guard:
            if error := self._step("replace", target):
                raise self._write_failure(error, os.fspath(source), "rename")
            kept = self._keep(target)
            super().replace(source, target)
            self._named(target, lambda: _rename_back(source, target, kept), kept)

    def unlink(self, path: StrPath) -> None:
        with self._guard:
            if not os.path.lexists(path):
                return
            if error := self._step("unlink", path):
                raise self._write_failure(error, os.fspath(path), "remove")
            kept = self._keep(path)
            super().unlink(path)
            self._freed = True
            self._named(path, lambda: _link(kept, os.fspath(path)), kept)

    def sync_dir(self, path: StrPath) -> None:
        with self._guard:
            if error := self._step("sync_dir", path):
                raise self._sync_failure(error, os.fspath(path))
            super().sync_dir(path)
            self._forget_changes(os.path.abspath(path))

    def commit(self, txn: Transaction, path: StrPath) -> None:
        with self._guard:
            if error := self._step("commit", path):
                txn = _FailingCommit(txn, error.errno or 0)
            super().commit(txn, path)

    # The fault

    def _step(self, operation: str, path: StrPath) -> OSError | None:
        """Count an operation; the error with which it fails, None if it is to be done."""
        where = os.path.relpath(os.path.abspath(path), self.root)
        self.count += 1
        self.operations.append(f"{operation} {where}")
        if self.count < self.at:
            return None
        if self.fault is Fault.KILL:
            if self.count == self.at:
                os.kill(os.getpid(), signal.SIGKILL)
            return None
        if self.fault is Fault.POWER_CUT:
            if self._at_power_cut is not None:
                self._at_power_cut(self)
            raise PowerCut(f"before operation {self.at}: {self.operations[self.at - 1]}")
        if self.fault is Fault.ONCE and self.count > self.at:
            return None
        if self.code == errno.ENOSPC and self._works_when_full(operation):
            return None
        self.failed.append(self.operations[-1])
        return OSError(self.code, os.strerror(self.code))

    def _works_when_full(self, operation: str) -> bool:
        return operation in FREEING or (
            self.fault is Fault.FROM_THEN_ON and self._freed and operation == "commit"
        )

    # What is not yet durable

    def lose_unsynced(self, rng: random.Random | None = None) -> None:
        """Turn the directory tree into one that a power cut may leave now.

        Without `rng` everything that was not synced is undone. With it, each directory keeps a
        random number of its first changes, and each write to a file is kept, dropped or torn at a
        sector boundary. Call it once, when nothing else uses the files; afterwards nothing is
        remembered any more.
        """
        kept: dict[str, int] = {}
        for change in self._changes:
            kept[change.directory] = kept.get(change.directory, 0) + 1
        for directory, changes in kept.items():
            kept[directory] = rng.randint(0, changes) if rng else 0
        undone = []
        for change in self._changes:
            kept[change.directory] -= 1
            if kept[change.directory] < 0:
                undone.append(change)
        for change in reversed(undone):
            change.undo()
        for content in self._contents.values():
            _lose_writes(content, rng)
        self.forget()

    def forget(self) -> None:
        """Remember nothing any more, and remove the second names beside the run."""
        self._changes, self._contents, self._remember = [], {}, False
        shutil.rmtree(self._stash, ignore_errors=True)

    @property
    def unsynced(self) -> int:
        """How many changes of names and files a power cut might undo now."""
        return len(self._changes) + sum(len(c.writes) for c in self._contents.values())

    def _named(self, path: StrPath, undo: Callable[[], None], kept: str | None = None) -> None:
        if self._remember:
            directory = os.path.dirname(os.path.abspath(path))
            self._changes.append(_NameChange(directory, undo, kept))

    def _forget_changes(self, directory: str) -> None:
        """The changes of a directory are durable; so are the ends of the files they removed."""
        durable = [change for change in self._changes if change.directory == directory]
        self._changes = [change for change in self._changes if change.directory != directory]
        for change in durable:
            if change.kept is not None:
                _remove(change.kept)
        for identity, content in list(self._contents.items()):
            if os.stat(content.link).st_nlink == 1:
                _remove(content.link)
                del self._contents[identity]

    def _written(self, fd: int, offset: int, length: int) -> None:
        """Remember what stands in [offset, offset + length) of a file that is about to change."""
        if not self._remember:
            return
        state = os.fstat(fd)
        if state.st_nlink == 0:
            return  # it has no name any more, so nobody will find what it holds
        content = self._contents.get(_identity(state))
        if content is None:
            content = _Content(self._second_name(os.readlink(f"/proc/self/fd/{fd}")))
            self._contents[_identity(state)] = content
        old = os.pread(fd, length, offset)
        content.writes.append(_Write(offset, length, old, state.st_size))

    def _keep(self, path: StrPath) -> str | None:
        """A second name for the file at `path`, which is about to lose this one."""
        if not self._remember or os.path.isdir(path) or not os.path.lexists(path):
            return None
        return self._second_name(os.fspath(path))

    def _second_name(self, path: str) -> str:
        self._stashed += 1
        link = os.path.join(self._stash, str(self._stashed))
        os.link(path, link, follow_symlinks=False)
        return link


class _FailingCommit:
    """A transaction whose commit fails as LMDB's does, leaving nothing behind."""

    def __init__(self, txn: Transaction, code: int) -> None:
        self._txn = txn
        self._code = code

    def commit(self) -> None:
        self._txn.abort()  # type: ignore[attr-defined]
        error = lmdb.Error("mdb_txn_commit: " + os.strerror(self._code))
        vars(error)["code"] = self._code
        raise error


def _lose_writes(content: _Content, rng: random.Random | None) -> None:
    fd = os.open(content.link, os.O_RDWR)
    try:
        now, durable = os.fstat(fd).st_size, content.writes[0].size
        for write in reversed(content.writes):
            for start, end in _lost_parts(write, rng):
                old = write.old[start - write.offset : end - write.offset]
                os.pwrite(fd, old.ljust(end - start, b"\0"), start)
        if rng is None:
            os.ftruncate(fd, durable)
        else:
            os.ftruncate(fd, rng.choice((durable, now, rng.randint(*sorted((durable, now))))))
    finally:
        os.close(fd)


def _lost_parts(write: _Write, rng: random.Random | None) -> list[tuple[int, int]]:
    """The byte ranges of a write that do not reach the disk."""
    begin, end = write.offset, write.offset + write.length
    fate = rng.choice(("dropped", "kept", "torn")) if rng else "dropped"
    if rng is None or fate == "dropped":
        return [(begin, end)]
    if fate == "kept":
        return []
    sector = rng.choice(SECTORS)
    edges = [begin, *range((begin // sector + 1) * sector, end, sector), end]
    parts = list(itertools.pairwise(edges))
    if rng.random() < 0.5:  # torn once: the first part got there
        return parts[rng.randrange(len(parts)) :]
    return [part for part in parts if rng.random() < 0.5]


def _identity(state: os.stat_result) -> tuple[int, int]:
    return state.st_dev, state.st_ino


def _remove(path: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)


def _link(kept: str | None, path: str) -> None:
    if kept is not None and not os.path.lexists(path):
        os.link(kept, path)


def _rename_back(source: StrPath, target: StrPath, kept: str | None) -> None:
    if os.path.lexists(target):
        os.replace(target, source)
    _link(kept, os.fspath(target))
