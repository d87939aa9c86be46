"""Making the compiled kernels ready before a search: in one process at a time, and said aloud."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import puzzles.jit
from extbfs.algebra.contract import LayerAlgebra
from store.kernels.jit import cache_directory

SLOW = 1.5
"""Seconds after which the wait is explained."""


def warm(algebra: LayerAlgebra, tell: Callable[[str], None]) -> float:
    """Compile or load every kernel that a search by `algebra` needs; the seconds it took."""
    from store.kernels.warm import warm as warm_store

    begun = time.monotonic()
    with _one_at_a_time():
        if not _filled():
            tell("compiling kernels, once on this machine: about 15 seconds ...")
        warm_store()
        algebra.warm()
    took = time.monotonic() - begun
    if took > SLOW:
        tell(f"kernels ready after {took:.1f} s")
    return took


def _filled() -> bool:
    directories = (cache_directory(), puzzles.jit.cache_directory())
    return all(
        directory is not None and any(Path(directory).rglob("*.nbc")) for directory in directories
    )


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Hold the cache's lock: processes that fill one cache together could damage it."""
    directory = cache_directory()
    if directory is None:
        yield
        return
    try:
        fd = os.open(os.path.join(directory, "LOCK"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        yield
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
