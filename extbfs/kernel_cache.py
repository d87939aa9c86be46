"""Machine code of kernels kept on disk: shared by processes and virtual environments, never stale.

numba's own cache is keyed by the path of a source file, so that every virtual environment compiles
anew; it does not notice a change in a kernel that is called from another module; and two processes
that fill one index at once can exchange its entries. Here an entry is one file, named by a hash of
all that its code depends on: the sources, the argument types, the processor, the versions and the
options. It is written aside and renamed, so it is whole or absent, and who writes it last does not
matter. A damaged entry, or one that cannot be written, only costs the time to compile.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import compiler, serialize
from numba.core.caching import NullCache

from extbfs.kernel_stamp import stamp

CompileResult: Any = compiler.CompileResult
dumps: Any = serialize.dumps
ROOT = Path(__file__).resolve().parent.parent
CHECKSUM = 32  # bytes before the pickled code


def keep(kernel: Any) -> None:
    """Let a kernel that numba has not compiled yet keep its code; a plain function is left alone.

    kernel: what numba.njit made of a function that is found in a source file.
    """
    function = getattr(kernel, "py_func", None)
    if function is None or function.__closure__:
        return
    try:
        depends = stamp(function.__module__)
    except (OSError, LookupError, SyntaxError):
        return
    kernel._cache = KernelCache(cache_directory(), function, depends)


@cache
def cache_directory() -> str | None:
    """Where entries are kept, or None where none can be written.

    Below NUMBA_CACHE_DIR if that is set, else below XDG_CACHE_HOME or ~/.cache.
    """
    base = (
        os.environ.get("NUMBA_CACHE_DIR")
        or os.environ.get("XDG_CACHE_HOME")
        or os.path.join(os.path.expanduser("~"), ".cache")
    )
    directory = os.path.join(base, "extbfs", "kernels")
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        tempfile.TemporaryFile(dir=directory).close()
    except OSError:
        return None
    return directory


class Misses:
    """How many kernels this process had to compile, and whom to tell of the first one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.count = 0
        self.tell: Callable[[], None] | None = None

    def note(self) -> None:
        """A kernel is about to be compiled."""
        with self._lock:
            self.count += 1
            tell, self.tell = self.tell, None
        if tell is not None:
            tell()


MISSES = Misses()


class KernelCache(NullCache):
    """numba's interface to a cache, for one kernel; without a directory it only counts misses."""

    def __init__(self, directory: str | None, function: Any, stamp: str) -> None:
        self._directory = directory
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._stamp = stamp

    @property
    def cache_path(self) -> str | None:
        return self._directory

    def _path(self, directory: str, signature: Any, codegen: Any) -> str:
        """The file of the entry: of the kernel for these argument types on this processor."""
        depends = f"{self._name} {signature} {codegen.magic_tuple()} {self._stamp}"
        name = f"{self._name}-{hashlib.sha256(depends.encode()).hexdigest()[:32]}"
        return os.path.join(directory, name)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel, or None when it must be compiled."""
        target_context.refresh()
        if self._directory is not None:
            try:
                path = self._path(self._directory, sig, target_context.codegen())
                data = Path(path).read_bytes()
                if hashlib.sha256(data[CHECKSUM:]).digest() == data[:CHECKSUM]:
                    return CompileResult._rebuild(target_context, *pickle.loads(data[CHECKSUM:]))
            except Exception:  # whatever numba makes of it, it can be compiled
                pass
        MISSES.note()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel if that is possible."""
        if self._directory is None or data.library.has_dynamic_globals or data.lifted:
            return
        with contextlib.suppress(Exception):  # a full disk, say: then it is compiled again
            code = dumps(data._reduce())
            path = self._path(self._directory, sig, data.codegen)
            _write_whole(path, hashlib.sha256(code).digest() + code)


def _write_whole(path: str, content: bytes) -> None:
    """Create or replace a file, so that nobody ever sees a part of it; nothing is synced."""
    fd, temporary = tempfile.mkstemp(prefix="new-", dir=os.path.dirname(path))
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
