"""The rate at which a directory's disk takes and gives one long file."""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
import time
from pathlib import Path
from typing import Any

CHUNK = 8 << 20


def sequential_rates(directory: Path, size: int) -> dict[str, Any]:
    """Bytes a second of writing `size` bytes with their fdatasync, and of reading them.

    Noise is written, through the page cache as the search does; it is read past the page cache
    (O_DIRECT where the file system has it, else after the cache was told to drop it).
    """
    size = max(CHUNK, size // CHUNK * CHUNK)
    with mmap.mmap(-1, CHUNK) as buffer:  # page-aligned, as O_DIRECT wants it
        buffer.write(os.urandom(CHUNK))
        fd, path = tempfile.mkstemp(prefix="rate-", dir=directory)
        try:
            begun = time.perf_counter()
            for offset in range(0, size, CHUNK):
                _write(fd, buffer, offset)
            os.fdatasync(fd)
            written = time.perf_counter()
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            with _uncached(path) as (reader, direct):
                start = time.perf_counter()
                for offset in range(0, size, CHUNK):
                    os.preadv(reader, [buffer], offset)
                read = time.perf_counter() - start
        finally:
            os.close(fd)
            os.unlink(path)
    return {
        "bytes": size,
        "write_bytes_per_second": round(size / (written - begun)),
        "read_bytes_per_second": round(size / read),
        "direct": direct,
    }


def _write(fd: int, buffer: mmap.mmap, offset: int) -> None:
    view = memoryview(buffer)
    try:
        done = 0
        while done < len(view):
            done += os.pwrite(fd, view[done:], offset + done)
    finally:
        view.release()


@contextlib.contextmanager
def _uncached(path: str) -> Any:
    """(descriptor, whether it passes the page cache by) of a file opened for reading."""
    direct = getattr(os, "O_DIRECT", 0)
    try:
        fd = os.open(path, os.O_RDONLY | direct)
    except OSError:
        direct = 0
        fd = os.open(path, os.O_RDONLY)
    try:
        yield fd, bool(direct)
    finally:
        os.close(fd)
