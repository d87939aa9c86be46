"""The catalogue: the small LMDB environment in a run directory that says what is true.

Keys are ASCII strings, values bytes. Changes are staged, seen at once by this object, and become
durable together at `commit`, which is the one moment at which anything becomes true.
`store/CATALOGUE.md` describes every byte.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any

import lmdb

from store import fs, lmdb_file, lock, names
from store.errors import DiskFull, IntegrityError, Locked, NotARun, StoreError, UnknownVersion
from store.sealed import PRIVATE, Changes, SealedEnvironment

FORMAT = 1
MAP_SIZE = 1 << 30  # bytes of address space, not of disk or memory
RESERVE_SIZE = 1 << 20
_MAX_KEY = 255
_META = "!meta"


class Catalogue:
    """One run's catalogue, open in this process. Thread-safe; never used across a fork.

    A writer must hold the run's `WriterLock`; a reader needs nothing.
    """

    def __init__(self, run: str, env: SealedEnvironment, meta: dict[str, Any], readonly: bool):
        """For `create` and `open` only."""
        self.run = run
        self.meta = meta
        self.readonly = readonly
        self.reserve_spent = False
        self._env = env
        self._pid = os.getpid()
        self._open = True
        self._staged: Changes = {}
        self._in_commit: Changes = {}
        self._lock = threading.Lock()  # of the two dictionaries
        self._commit_lock = threading.Lock()  # one transaction after the other

    # Life

    @classmethod
    def create(
        cls,
        run: str | os.PathLike[str],
        meta: Mapping[str, Any],
        puts: Mapping[str, bytes] | None = None,
        *,
        map_size: int = MAP_SIZE,
    ) -> Catalogue:
        """Make the catalogue of the existing directory `run`, with `puts` in its first commit.

        `meta` is plain JSON data. It appears whole or not at all: after a crash there is no
        catalogue (`names.is_unstarted`) or one with all of `puts`. Durable when this returns, but
        for the name of `run` itself.
        """
        run = os.fspath(run)
        final = os.path.join(run, names.CATALOGUE)
        if os.path.lexists(final):
            raise StoreError(f"{run} already holds a run")
        first: Changes = {_valid(key): value for key, value in (puts or {}).items()}
        disk = fs.current()
        building = names.temporary(final)
        path = os.path.join(building, names.LMDB_DATA)
        disk.mkdir(building)
        disk.unlink(path)
        disk.unlink(os.path.join(building, names.LMDB_LOCK))
        env = SealedEnvironment(building, path, readonly=False, lock=True, size=map_size)
        try:
            made_by = {"format": FORMAT, "engine": env.engine, "lmdb": lmdb.__version__}
            first[_META] = as_json({**meta, **made_by})
            env.write(first)
        finally:
            env.close()
        disk.sync_dir(building)
        disk.replace(building, final)
        disk.sync_dir(run)
        return cls.open(run, map_size=map_size)

    @classmethod
    def open(
        cls, run: str | os.PathLike[str], *, readonly: bool = False, map_size: int = MAP_SIZE
    ) -> Catalogue:
        """Open the catalogue of `run`, after checking its structure and every value in it.

        Read-only, it needs no write permission: LMDB's own lock is used where it may be written;
        where not, and a writer is alive, this raises Locked (status.json can still be read). Nor
        does it then notice a writer that starts later: such a reader should not stay open for long.
        Raises NotARun, UnknownVersion, IntegrityError, NoPermission.
        """
        run = os.fspath(run)
        path = os.path.join(run, names.CATALOGUE_DATA)
        lmdb_file.check_version(path)
        locking = True
        if readonly:
            locking = os.access(os.path.join(run, names.CATALOGUE_LOCK), os.W_OK)
            writer = lock.holder(run)
            if writer is None:
                _check_quiet_file(path)
            elif not locking:
                raise Locked(run, writer)
        else:
            lmdb_file.check_structure(path)
        env = SealedEnvironment(
            os.path.dirname(path), path, readonly=readonly, lock=locking, size=map_size
        )
        try:
            meta = _read_meta(run, env)
            env.check()
            if locking:
                env.clear_dead_readers()
            catalogue = cls(run, env, meta, readonly)
            if not readonly:
                catalogue.make_reserve()
        except BaseException:
            env.close()
            raise
        return catalogue

    def close(self) -> None:
        """Close. What was staged and not committed is gone. Does nothing the second time."""
        if self._open:
            self._open = False
            self._env.close()

    def __enter__(self) -> Catalogue:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    # Reading

    def get(self, key: str) -> bytes | None:
        """The value of `key`, staged or durable, or None."""
        env = self._ready()
        with self._lock:
            for changes in (self._staged, self._in_commit):
                if key in changes:
                    return changes[key]
        return env.get(_valid(key))

    def scan(self, prefix: str = "") -> Iterator[tuple[str, bytes]]:
        """All (key, value) whose key starts with `prefix`, in the order of keys.

        No transaction is open between two steps: of what is changed meanwhile, further on, this
        may or may not see each change.
        """
        after, more = "", True
        while more:
            # What is staged is copied first: an entry that moves to the disk between the two steps
            # is seen in both, never in neither.
            with self._lock:
                changes = {**self._in_commit, **self._staged}
            stored, more = self._ready().batch(prefix, after)
            last = next(reversed(stored), "")
            found: Changes = {**stored}
            for key, value in changes.items():
                if key.startswith(prefix) and key > after and (key <= last or not more):
                    found[key] = value
            for key in sorted(found):
                value = found[key]
                if value is not None:
                    yield key, value
            after = last

    def get_json(self, key: str) -> Any:
        """The value of `key` decoded from JSON, or None if there is no such key."""
        value = self.get(key)
        return None if value is None else _from_json(self._env.path, key, value)

    def scan_json(self, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """As `scan`, with every value decoded from JSON."""
        for key, value in self.scan(prefix):
            yield key, _from_json(self._env.path, key, value)

    # Writing

    def stage(self, puts: Mapping[str, bytes], deletes: Iterable[str] = ()) -> None:
        """Set and delete keys, for this object at once, for the disk at the next `commit`."""
        self._ready(writing=True)
        changes: Changes = {_valid(key): None for key in deletes}
        for key, value in puts.items():
            changes[_valid(key)] = bytes(value)
        with self._lock:
            self._staged.update(changes)

    def stage_json(self, key: str, value: Any) -> None:
        """Stage `value`, plain data, as JSON."""
        self.stage({key: as_json(value)})

    def commit(self) -> None:
        """Make all that is staged durable, in one transaction; do nothing if nothing is.

        On a full disk the reserve is freed and the commit tried once more (`reserve_spent`). If
        it fails (DiskFull, IoFailure, CatalogueFull), nothing of it is durable and all of it stays
        staged.
        """
        env = self._ready(writing=True)
        with self._commit_lock:
            with self._lock:
                if not self._staged:
                    return
                self._in_commit, self._staged = self._staged, {}
            try:
                try:
                    env.write(self._in_commit)
                except DiskFull:
                    self._free_reserve()
                    env.write(self._in_commit)
            except BaseException:
                with self._lock:
                    self._staged = {**self._in_commit, **self._staged}
                raise
            finally:
                with self._lock:
                    self._in_commit = {}
            env.clear_dead_readers()

    def make_reserve(self) -> None:
        """Put the reserve file back if it is gone and there is room for it."""
        disk, path = fs.current(), os.path.join(self.run, names.RESERVE)
        if os.path.isfile(path) and os.path.getsize(path) == RESERVE_SIZE:
            return
        try:
            if disk.free_bytes(self.run) > 8 * RESERVE_SIZE:
                # Random, since a file system that compresses would keep no room for zeros.
                disk.write_atomic(path, os.urandom(RESERVE_SIZE), sync=False)
                self.reserve_spent = False
        except DiskFull:
            disk.unlink(names.temporary(path))

    # Checking

    def check(self) -> int:
        """Check every durable value and the seal over all; the number of entries.

        `open` has done it once, `verify` does it again. Raises IntegrityError.
        """
        return self._ready().check()

    # Inside

    def _ready(self, *, writing: bool = False) -> SealedEnvironment:
        if not self._open:
            raise StoreError(f"the catalogue of {self.run} was closed")
        if os.getpid() != self._pid:
            raise StoreError(f"the catalogue of {self.run} was opened before a fork")
        if writing and self.readonly:
            raise StoreError(f"the catalogue of {self.run} was opened for reading only")
        return self._env

    def _free_reserve(self) -> None:
        self.reserve_spent = True
        fs.current().unlink(os.path.join(self.run, names.RESERVE))


def as_json(value: Any) -> bytes:
    """Plain data as JSON bytes, on one line, the same for equal data."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _from_json(path: str, key: str, value: bytes) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise IntegrityError(path, key, "the value is not JSON") from error


def _read_meta(run: str, env: SealedEnvironment) -> dict[str, Any]:
    value = env.get(_META)
    if value is None:
        if env.is_sealed():
            raise IntegrityError(env.path, _META, "the entry is missing")
        raise NotARun(run, "its catalogue was not written by this program")
    meta = _from_json(env.path, _META, value)
    if not isinstance(meta, dict):
        raise IntegrityError(env.path, _META, "the value is not a table")
    if meta.get("format") != FORMAT:
        raise UnknownVersion(env.path, meta.get("format"), FORMAT)
    return meta


def _check_quiet_file(path: str) -> None:
    """Check the structure, unless a writer that started just now moves pages while we read."""
    before = lmdb_file.transaction_ids(path)
    try:
        lmdb_file.check_structure(path)
    except IntegrityError:
        if lmdb_file.transaction_ids(path) == before:
            raise


def _valid(key: str) -> str:
    if not (0 < len(key) <= _MAX_KEY and key.isascii() and key.isprintable()):
        raise ValueError(f"catalogue keys are 1 to {_MAX_KEY} printable ASCII letters, not {key!r}")
    if key[0] <= PRIVATE:
        raise ValueError(f"catalogue keys do not start with {key[0]!r}, as {key!r} does")
    return key
