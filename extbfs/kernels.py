"""Making the compiled kernels ready before a search: for one search at a time, and said aloud.

When they have to be compiled, a second process takes half of them where there is a core for it:
numba compiles in one thread at a time, and the two meet in the cache.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from extbfs.algebra.contract import LayerAlgebra
from extbfs.engine.budget import default_threads
from extbfs.kernel_cache import MISSES, ROOT, cache_directory
from store.kernels import fingerprint
from store.kernels.warm import warm_reading, warm_routing

LOCK = "LOCK"
SLOW = 1.5
"""Seconds after which the wait is explained."""


def warm(algebra: LayerAlgebra, tell: Callable[[str], None]) -> float:
    """Compile or load every kernel that a search by `algebra` needs; the seconds it took."""
    begun = time.monotonic()
    MISSES.tell = lambda: tell(_notice())
    with one_at_a_time(tell):
        missed = MISSES.count
        fingerprint.warm(0)
        with _second_process(algebra.payload_bits, wanted=MISSES.count > missed):
            warm_routing()
            algebra.warm()
        warm_reading(algebra.payload_bits)
    MISSES.tell = None
    took = time.monotonic() - begun
    if took > SLOW:
        tell(f"kernels ready after {took:.1f} s")
    return took


def _notice() -> str:
    if cache_directory() is None:
        return (
            "compiling kernels, which takes some seconds and cannot be kept: no cache to write to"
        )
    return "compiling kernels, once on this machine: about 10 seconds ..."


@contextlib.contextmanager
def _second_process(payload_bits: int, *, wanted: bool) -> Iterator[None]:
    """A process that compiles what reads and writes runs, until the end of the context.

    Whatever becomes of it: what it does not leave in the cache is compiled here.
    """
    if not wanted or cache_directory() is None or default_threads() < 2:
        yield
        return
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(payload_bits)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        yield
        return
    try:
        yield
        process.wait()
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def one_at_a_time(tell: Callable[[str], None]) -> Iterator[None]:
    """Hold the cache's lock, so that processes which start together do not all compile the same."""
    directory = cache_directory()
    if directory is None:
        yield
        return
    try:
        fd = os.open(os.path.join(directory, LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        yield
        return
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("waiting for another process that compiles the kernels ...")
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


if __name__ == "__main__":
    warm_reading(int(sys.argv[1]))
