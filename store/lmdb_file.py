"""An LMDB data file examined from outside, before the LMDB library is let near it.

LMDB trusts what it maps: a flipped bit in a page may crash the process or lead it to another page,
and a file cut short kills it with SIGBUS. So the structure is walked here first, byte by byte, by
`lmdb.verify`, which never hands the file to the library. What a page holds (the values) LMDB cannot
check either: that is the catalogue's own work.
"""

from __future__ import annotations

import os
import struct

from lmdb import verify

from store.errors import IntegrityError, NotARun, UnknownVersion
from store.fs import os_failure

DATA_VERSION = 1  # of the engine 0.9; the engine 1.0 writes 3
_MAGIC = 0xBEEFC0DE
_HEADER = 16  # bytes of a page header of the engine 0.9, before its meta record
_START = struct.Struct("=II")  # of a meta record: magic, data version
_PAGE_SIZE_AT = 24  # in a meta record
_LAST_PAGE_AT = 120
_TXNID_AT = 128
_SLACK = 1024  # pages that the file may be shorter than its meta page says: free, never written
_HEAD = 64 << 10  # enough for both meta pages of the largest page size


def check_version(path: str) -> None:
    """Raise unless the data file at `path` is one of the engine 0.9.

    Raises NotARun without the file, UnknownVersion for another engine's file, IntegrityError for
    what is no LMDB file at all.
    """
    head = _head(path)
    for at in range(0, min(len(head) - _START.size, 64) + 1, 4):
        magic, version = _START.unpack_from(head, at)
        if magic == _MAGIC:
            if version != DATA_VERSION:
                raise UnknownVersion(path, version, DATA_VERSION)
            if at == _HEADER:
                return
    raise IntegrityError(path, 0, "this is not an LMDB data file of a 64-bit machine of this kind")


def check_structure(path: str) -> None:
    """Walk every page of the data file that is in use; raise IntegrityError at the first fault.

    The file must not change meanwhile, or sound pages look broken. Memory: two bytes a page.
    """
    _check_metas(path)
    try:
        problems = verify.verify(path, subdir=False)  # type: ignore[no-untyped-call]
    except verify.VerifyError as error:
        raise IntegrityError(path, "meta", str(error)) from error
    except OSError as error:
        raise os_failure(error, path, "read") from error
    # A page in nobody's list is lost space, not wrong data: no reason to refuse a long run.
    for problem in problems:
        if "neither reachable nor in the freeDB" not in problem:
            raise IntegrityError(path, "tree", problem)


def transaction_ids(path: str) -> tuple[int, int]:
    """The transaction numbers in the two meta pages; the larger is that of the last commit."""
    (first, _), (second, _), _ = _metas(path)
    return first, second


def _check_metas(path: str) -> None:
    """Two checks of the meta pages that `lmdb.verify` leaves out.

    They are written in turn, so their numbers differ by one from the first commit on: without this
    a damaged number would quietly bring back the commit before the last one. And a last page far
    beyond the end of the file would leave no room to write.
    """
    first, second, page_size = _metas(path)
    if abs(first[0] - second[0]) != 1:
        detail = f"the meta pages are of transactions {first[0]} and {second[0]}, not neighbours"
        raise IntegrityError(path, "meta", detail)
    pages = os.path.getsize(path) // page_size
    for number, last_page in (first, second):
        if last_page >= pages + _SLACK:
            detail = f"transaction {number} ends at page {last_page}, the file has {pages} pages"
            raise IntegrityError(path, "meta", detail)


def _metas(path: str) -> tuple[tuple[int, int], tuple[int, int], int]:
    """Transaction number and last page of both meta pages, and the size of a page."""
    head = _head(path)
    try:
        (page_size,) = struct.unpack_from("=I", head, _HEADER + _PAGE_SIZE_AT)
        first, second = (
            (
                int(struct.unpack_from("=Q", head, page + _HEADER + _TXNID_AT)[0]),
                int(struct.unpack_from("=Q", head, page + _HEADER + _LAST_PAGE_AT)[0]),
            )
            for page in (0, page_size)
        )
    except struct.error as error:
        raise IntegrityError(path, "meta", "the file ends inside its first two pages") from error
    if not page_size:
        raise IntegrityError(path, "meta", "the size of a page is 0")
    return first, second, page_size


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_HEAD)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        directory = os.path.dirname(os.path.dirname(path)) or "."
        raise NotARun(directory, f"it has no file {os.path.relpath(path, directory)}") from error
    except OSError as error:
        raise os_failure(error, path, "read") from error
