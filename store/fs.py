"""The one seam for everything that changes a disk; tests put a faulty file system in its place.

What POSIX promises, and what it does not:

- Bytes written are durable only after `datasync` returned. Before that a power cut may keep any
  part of them, in any order, or leave zeros where they were to be.
- A name (created, renamed, removed) is durable only after `sync_dir` of its directory. Syncing the
  file itself does not do it.
- `replace` is atomic for other processes; after a power cut either name may be seen, and without
  a `datasync` before it the new name may point at an empty file.
- A failed sync says that data may be lost and does so once: the next one succeeds as if nothing had
  happened. So after a failed sync this object refuses every further commit.
- None of it holds if the disk lies about its write cache, or on most network file systems.
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource
from typing import TYPE_CHECKING, Protocol

import lmdb

from store.errors import (
    CatalogueFull,
    DiskFull,
    IntegrityError,
    IoFailure,
    NoPermission,
    StoreError,
)
from store.names import TEMPORARY

if TYPE_CHECKING:
    from typing_extensions import Buffer

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_NOT_DIRECT = frozenset({errno.EINVAL, errno.EOPNOTSUPP})
_NO_ROOM = 1 << 20  # with less than this left, a disk counts as full


StrPath = str | os.PathLike[str]


class Transaction(Protocol):
    """What `commit` needs of an LMDB write transaction."""

    def commit(self) -> None: ...


class FileSystem:
    """The durable operations. Thread-safe; one instance serves a process (`current`).

    Every OSError becomes DiskFull, NoPermission or IoFailure, naming the path.
    """

    def __init__(self) -> None:
        self._paths: dict[int, str] = {}
        self._lost: StoreError | None = None  # the first failure after which nothing is sure

    # Opening and closing

    def create(self, path: StrPath) -> int:
        """Create `path`, which must not exist, for reading and writing; its descriptor.

        The name is not durable before `sync_dir`.
        """
        return self._open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, "create")

    def open_rw(self, path: StrPath, *, create: bool = False) -> int:
        """Open `path` for reading and writing, making an empty file of it first if `create`."""
        return self._open(path, os.O_RDWR | (os.O_CREAT if create else 0), "write")

    def open_read(self, path: StrPath) -> int:
        """Open `path` for reading. A missing file is an IoFailure with `missing` true."""
        return self._open(path, os.O_RDONLY, "read")

    def open_direct(self, path: StrPath) -> int | None:
        """Open `path` for writing past the page cache; None where the system has no such thing.

        Such writes begin at whole pages (store.pages) of memory and of the file and are as long.
        They, too, are durable only after `datasync`.
        """
        flag = getattr(os, "O_DIRECT", 0)
        try:
            return self._open(path, os.O_RDWR | flag, "write") if flag else None
        except IoFailure as error:
            if error.errno in _NOT_DIRECT:
                return None
            raise

    def close(self, fd: int) -> None:
        """Close a descriptor. Makes nothing durable."""
        path = self._paths.pop(fd, "")
        try:
            os.close(fd)
        except OSError as error:
            raise self._write_failure(error, path, "close") from error

    def path_of(self, fd: int) -> str:
        """The path under which `fd` was opened here, for messages."""
        return self._paths.get(fd, f"descriptor {fd}")

    # Reading

    def pread(self, fd: int, count: int, offset: int) -> bytes:
        """Up to `count` bytes from `offset`; fewer only at the end of the file."""
        buffer = bytearray(count)
        got = self.preadinto(fd, buffer, offset)
        return bytes(memoryview(buffer)[:got])

    def preadinto(self, fd: int, buffer: Buffer, offset: int) -> int:
        """Fill `buffer` from `offset`; the bytes read, fewer only at the end of the file."""
        view = memoryview(buffer).cast("B")
        done = 0
        try:
            while done < len(view):
                got = os.preadv(fd, [view[done:]], offset + done)
                if not got:
                    break
                done += got
        except OSError as error:
            raise os_failure(error, self.path_of(fd), "read") from error
        return done

    def will_need(self, fd: int, offset: int, length: int) -> None:
        """Tell the system, where it listens, that these bytes will be read soon."""
        self._advise(fd, offset, length, "POSIX_FADV_WILLNEED")

    def let_go(self, fd: int, offset: int, length: int) -> None:
        """Tell the system, where it listens, that these bytes need not stay in its page cache."""
        if length:  # 0 would mean all the rest
            self._advise(fd, offset, length, "POSIX_FADV_DONTNEED")

    def _advise(self, fd: int, offset: int, length: int, advice: str) -> None:
        if hasattr(os, "posix_fadvise"):
            with contextlib.suppress(OSError):
                os.posix_fadvise(fd, offset, length, getattr(os, advice))

    def size(self, fd: int) -> int:
        """The length of the file in bytes."""
        try:
            return os.fstat(fd).st_size
        except OSError as error:
            raise os_failure(error, self.path_of(fd), "read") from error

    # Writing

    def pwrite(self, fd: int, data: Buffer, offset: int) -> None:
        """Write all of `data` at `offset`. Not durable before `datasync`."""
        view = memoryview(data).cast("B")
        done = 0
        try:
            while done < len(view):
                done += os.pwrite(fd, view[done:], offset + done)
        except OSError as error:
            raise self._write_failure(error, self.path_of(fd), "write") from error

    def pwrite_direct(self, fd: int, pages: Buffer, offset: int) -> bool:
        """As pwrite, through a descriptor of open_direct: whole pages to a whole page.

        False where the file system says only now that it cannot; then nothing is promised of them.
        """
        try:
            self.pwrite(fd, pages, offset)
        except IoFailure as error:
            if error.errno not in _NOT_DIRECT:
                raise
            return False
        return True

    def truncate(self, fd: int, length: int) -> None:
        """Set the length of the file in bytes. Not durable before `datasync`."""
        try:
            os.ftruncate(fd, length)
        except OSError as error:
            raise self._write_failure(error, self.path_of(fd), "truncate") from error

    def datasync(self, fd: int) -> None:
        """Make the bytes and the length of the file durable, but not its name."""
        try:
            os.fdatasync(fd)
        except OSError as error:
            raise self._sync_failure(error, self.path_of(fd)) from error

    # Names

    def mkdir(self, path: StrPath) -> None:
        """Create a directory; it is no error if there is one. Durable after `sync_dir` above it."""
        try:
            os.mkdir(path)
        except FileExistsError as error:
            if not os.path.isdir(path):
                raise os_failure(error, path, "create") from error
        except OSError as error:
            raise self._write_failure(error, path, "create") from error

    def replace(self, source: StrPath, target: StrPath) -> None:
        """Rename, over `target` if that exists. Durable after `sync_dir` of the directory."""
        try:
            os.replace(source, target)
        except OSError as error:
            raise self._write_failure(error, source, "rename") from error

    def unlink(self, path: StrPath) -> None:
        """Remove a name; it is no error if there is none. Durable after `sync_dir`."""
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._write_failure(error, path, "remove") from error

    def sync_dir(self, path: StrPath) -> None:
        """Make the names in a directory durable: creations, renames and removals."""
        fd = self._open(path, os.O_RDONLY | os.O_DIRECTORY, "sync")
        try:
            os.fsync(fd)
        except OSError as error:
            raise self._sync_failure(error, path) from error
        finally:
            self._paths.pop(fd, None)
            os.close(fd)

    # Whole steps

    def write_atomic(self, path: StrPath, data: Buffer, *, sync: bool) -> None:
        """Give `path` the content `data` so that readers see the old or the new one, never a mix.

        With `sync` it is durable when this returns. Without, a power cut may leave the old
        content, the new one or, on some file systems, an empty file. Where that fails, what was
        written is deleted again if that can be done.
        """
        temporary = os.fspath(path) + TEMPORARY
        self.unlink(temporary)
        fd = self.create(temporary)
        try:
            try:
                self.pwrite(fd, data, 0)
                if sync:
                    self.datasync(fd)
            finally:
                self.close(fd)
            self.replace(temporary, path)
        except StoreError:
            with contextlib.suppress(StoreError):
                self.unlink(temporary)
            raise
        if sync:
            self.sync_dir(os.path.dirname(path) or ".")

    def commit(self, txn: Transaction, path: StrPath) -> None:
        """Commit an LMDB transaction on the data file `path`: durable when this returns.

        Refused once any sync failed here, as DiskFull if the disk was full then and as IoFailure
        otherwise: what the transaction names may be lost.
        """
        if self._lost is not None:
            raise self._refusal(self._lost, os.fspath(path))
        try:
            txn.commit()
        except lmdb.Error as error:
            failure = lmdb_failure(error, path, "commit to")
            if not isinstance(failure, (DiskFull, CatalogueFull)):
                self._lost = failure
            raise failure from error

    def free_bytes(self, path: StrPath) -> int:
        """How many bytes the file system of `path` has left for this process."""
        try:
            state = os.statvfs(path)
        except OSError as error:
            raise os_failure(error, path, "ask for the free space of") from error
        return state.f_bavail * state.f_frsize

    # Failures

    def _open(self, path: StrPath, flags: int, operation: str) -> int:
        try:
            fd = os.open(path, flags | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise os_failure(error, path, operation) from error
        self._paths[fd] = os.fspath(path)
        return fd

    def _write_failure(self, error: OSError, path: StrPath, operation: str) -> StoreError:
        failure = os_failure(error, path, operation)
        if error.errno == errno.EIO and isinstance(failure, IoFailure):
            self._lost = failure
        return failure

    def _sync_failure(self, error: OSError, path: StrPath) -> StoreError:
        self._lost = os_failure(error, path, "sync")
        return self._lost

    def _refusal(self, first: StoreError, path: str) -> StoreError:
        failed = getattr(first, "path", path)
        why = f"as {failed} could not be written, nothing is trusted until the run is opened again"
        if isinstance(first, DiskFull):
            return DiskFull(path, "commit to", why)
        return IoFailure(path, "commit to", why, errno.EIO)


def os_failure(error: OSError, path: StrPath, operation: str) -> StoreError:
    """The StoreError for an OSError: a full disk, a missing permission or a failed operation."""
    path = os.fspath(path)
    code = error.errno or 0
    detail = error.strerror or str(error)
    if code in _FULL or (code == errno.EIO and disk_is_full(path)):
        return DiskFull(path, operation, detail)
    if code in _FORBIDDEN:
        return NoPermission(path, operation, detail)
    return IoFailure(path, operation, detail, code)


def lmdb_failure(error: lmdb.Error, path: StrPath, operation: str) -> StoreError:
    """The StoreError for an error of LMDB on its data file `path`.

    Engine 0.9 reports a short write, which is how a disk often fills up, as EIO: the free space
    tells the two apart.
    """
    path = os.fspath(path)
    code = int(getattr(error, "code", 0) or 0)
    detail = str(error)
    if isinstance(error, lmdb.MapFullError):
        return CatalogueFull(path)
    if isinstance(error, lmdb.DiskError) or code in _FULL:
        return DiskFull(path, operation, detail)
    if (code == errno.EIO or isinstance(error, lmdb.PanicError)) and disk_is_full(path):
        return DiskFull(path, operation, detail)
    if code in _FORBIDDEN or isinstance(error, lmdb.ReadonlyError):
        return NoPermission(path, operation, detail)
    damaged = (lmdb.CorruptedError, lmdb.PageNotFoundError, lmdb.InvalidError)
    if isinstance(error, damaged):
        return IntegrityError(path, "tree", detail)
    return IoFailure(path, operation, detail, code)


def disk_is_full(path: StrPath) -> bool:
    """Whether the file system of `path`, or the limit on file sizes, has no room for more."""
    directory = path if os.path.isdir(path) else os.path.dirname(path) or "."
    try:
        state = os.statvfs(directory)
        size = os.path.getsize(path) if os.path.isfile(path) else 0
    except OSError:
        return False
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit != resource.RLIM_INFINITY and size + _NO_ROOM > limit:
        return True
    return state.f_bavail * state.f_frsize < _NO_ROOM


_current = FileSystem()


def current() -> FileSystem:
    """The file system that all of the store writes through."""
    return _current


def install(file_system: FileSystem) -> FileSystem:
    """Put `file_system` in place of the current one, which is returned. For tests."""
    global _current
    _current, previous = file_system, _current
    return previous
