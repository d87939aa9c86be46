"""An LMDB environment whose every value is checksummed and whose entries are sealed as a whole.

LMDB hands back a flipped bit in a value without a word. Here each value is stored behind the
xxh3_64 of its key and itself, so a damaged or exchanged value is found when it is read. The *seal*
is one more entry, rewritten in every transaction: the number of entries, the sum of their checksums
and the transaction's number. It finds entries that were lost, and a whole page or an older tree
that came back. `store/CATALOGUE.md` describes the bytes.
"""

from __future__ import annotations

import itertools
import struct
from typing import TypeVar

import lmdb
import xxhash

from store import fs
from store.errors import IntegrityError

Changes = dict[str, bytes | None]
"""Keys with their new values; None where the key is deleted."""

PRIVATE = "!"
"""First letter of the keys which `scan` leaves out: the seal and the catalogue's own."""

AnyBytes = TypeVar("AnyBytes", bytes, memoryview)

_SEAL_KEY = b"!seal"
_AFTER_PRIVATE = chr(ord(PRIVATE) + 1)
_CHECKSUM = struct.Struct("<Q")
_SEAL = struct.Struct("<QQQ")  # entries, sum of their checksums mod 2**64, transaction number
_MASK = (1 << 64) - 1
_MAX_READERS = 126
_BATCH_ENTRIES = 1024
_BATCH_BYTES = 1 << 20


class SealedEnvironment:
    """Durable entries: str keys (ASCII), bytes values. Reads are thread-safe, `write` is not.

    `path` is the data file and stands in messages only. Every transaction is short.
    """

    def __init__(self, directory: str, path: str, *, readonly: bool, lock: bool, size: int) -> None:
        """Open the environment in `directory`; a writer makes an empty one if there is none.

        `size` is the fixed size of the memory map in bytes. Without `lock` the caller makes sure
        that nobody writes. `check` comes before anything else in an environment that exists.
        """
        self.path = path
        self._entries = 0
        self._sum = 0
        try:
            self._env = lmdb.open(
                directory,
                map_size=size,
                readonly=readonly,
                create=False,
                sync=True,
                writemap=False,
                max_readers=_MAX_READERS,
                lock=lock,
                lib_version=0,  # the engine 0.9; 1.0 writes other files
            )
        except lmdb.Error as error:
            raise fs.lmdb_failure(error, path, "open") from error

    @property
    def engine(self) -> str:
        """The version of the LMDB engine, "0.9.36"."""
        return ".".join(map(str, self._env.lib_version()))

    def close(self) -> None:
        """Close the environment; twice does no harm."""
        self._env.close()

    def clear_dead_readers(self) -> None:
        """Free the places in the reader table of processes that are gone."""
        self._env.reader_check()

    def get(self, key: str) -> bytes | None:
        """The value of `key`, checked, or None."""
        try:
            with self._env.begin() as txn:
                stored = txn.get(key.encode())
        except lmdb.Error as error:
            raise fs.lmdb_failure(error, self.path, "read") from error
        return None if stored is None else self._value(key.encode(), stored)

    def is_sealed(self) -> bool:
        """Whether this class wrote the environment, as far as one of its first keys tells."""
        try:
            with self._env.begin() as txn, txn.cursor() as cursor:
                first = list(itertools.islice(cursor.iternext(values=False), 3))
        except lmdb.Error as error:
            raise fs.lmdb_failure(error, self.path, "read") from error
        return any(raw.startswith(PRIVATE.encode()) for raw in first)

    def batch(self, prefix: str, after: str) -> tuple[dict[str, bytes], bool]:
        """The next entries with `prefix` whose key is larger than `after`, in the order of keys.

        At most about 1 MiB of them, or one; and whether more may follow. Private keys never.
        """
        found: dict[str, bytes] = {}
        size = 0
        start = max(prefix, after, _AFTER_PRIVATE).encode()
        try:
            with self._env.begin() as txn, txn.cursor() as cursor:
                here = cursor.set_range(start)
                if here and cursor.key() == after.encode():
                    here = cursor.next()
                while here and cursor.key().startswith(prefix.encode()):
                    if len(found) >= _BATCH_ENTRIES or size >= _BATCH_BYTES:
                        return found, True
                    raw, stored = cursor.item()
                    found[_text(raw)] = self._value(raw, stored)
                    size += len(stored)
                    here = cursor.next()
        except lmdb.Error as error:
            raise fs.lmdb_failure(error, self.path, "read") from error
        return found, False

    def write(self, changes: Changes) -> None:
        """Make `changes` and the new seal durable in one transaction, or change nothing."""
        entries, total = self._entries, self._sum
        try:
            txn = self._env.begin(write=True, buffers=True)
            try:
                for key, value in changes.items():
                    raw = key.encode()
                    old = txn.get(raw)
                    if old is not None:
                        entries, total = entries - 1, total - self._checksum_of(raw, old)
                        if value is None:
                            txn.delete(raw)
                    if value is not None:
                        entries, total = entries + 1, total + _put(txn, raw, value)
                total &= _MASK
                _put(txn, _SEAL_KEY, _SEAL.pack(entries, total, txn.id()))
            except BaseException:
                txn.abort()
                raise
        except lmdb.Error as error:
            raise fs.lmdb_failure(error, self.path, "write") from error
        try:
            fs.current().commit(txn, self.path)
        finally:
            txn.abort()  # does nothing to what was committed, lets go of what was refused
        self._entries, self._sum = entries, total

    def check(self) -> int:
        """Check all values against their checksums and those against the seal; the entries' number.

        Raises IntegrityError. Reads everything once, in one transaction, and looks every key up:
        a damaged branch page leads a search astray where walking the leaves finds all entries.
        """
        entries = total = 0
        seal: bytes | None = None
        try:
            with self._env.begin(buffers=True) as txn, txn.cursor() as cursor:
                number = txn.id()
                for key, stored in cursor:
                    raw = bytes(key)
                    value = self._value(raw, stored)
                    if txn.get(raw) is None:
                        detail = "the entry is there, but a search does not find it"
                        raise IntegrityError(self.path, _text(raw), detail)
                    if raw == _SEAL_KEY:
                        seal = bytes(value)
                    else:
                        entries, total = entries + 1, total + self._checksum_of(raw, stored)
        except lmdb.Error as error:
            raise fs.lmdb_failure(error, self.path, "read") from error
        total &= _MASK
        if seal is None or len(seal) != _SEAL.size:
            raise IntegrityError(self.path, "!seal", "there is no seal over the entries")
        if _SEAL.unpack(seal) != (entries, total, number):
            raise IntegrityError(
                self.path,
                "!seal",
                f"the {entries} entries of transaction {number} are not the ones that were sealed",
            )
        self._entries, self._sum = entries, total
        return entries

    def _checksum_of(self, raw: bytes, stored: bytes | memoryview) -> int:
        """The checksum in front of a stored value, as it stands there."""
        if len(stored) < _CHECKSUM.size:
            raise IntegrityError(self.path, _text(raw), "the value is shorter than its checksum")
        return int(_CHECKSUM.unpack_from(stored)[0])

    def _value(self, raw: bytes, stored: AnyBytes) -> AnyBytes:
        value = stored[_CHECKSUM.size :]
        if self._checksum_of(raw, stored) != _checksum(raw, value):
            raise IntegrityError(self.path, _text(raw), "the value does not match its checksum")
        return value


def _put(txn: lmdb.Transaction[memoryview], raw: bytes, value: bytes) -> int:
    checksum = _checksum(raw, value)
    txn.put(raw, _CHECKSUM.pack(checksum) + value)
    return checksum


def _checksum(raw: bytes, value: bytes | memoryview) -> int:
    state = xxhash.xxh3_64(raw + b"\0")
    state.update(value)
    return int(state.intdigest())


def _text(raw: bytes) -> str:
    return raw.decode("ascii", "backslashreplace")
