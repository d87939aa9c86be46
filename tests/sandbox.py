"""Python code run where it may do less: without privileges, on a read-only or a tiny file system.

Each function runs `code` in a process of its own, with `arguments` as sys.argv[1:], and returns
what it printed; where this machine refuses the sandbox, the test is skipped with the reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOBODY = 65534
_PRELOAD = "json, socket, store.catalogue, store.lock, encodings.idna"
_CANNOT = 99
_DROP = """
import os, sys
import {preload}
code = sys.argv.pop(1)
if os.getuid() == 0:
    try:
        os.setgroups([])
        os.setgid({nobody})
        os.setuid({nobody})
    except OSError as error:
        sys.stderr.write(str(error))
        sys.exit(99)
exec(code)
"""
_ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT), "HOME": "/nonexistent"}


@contextmanager
def open_directory(*, in_memory: bool = False) -> Iterator[Path]:
    """A temporary directory that other users may enter and read, unlike pytest's.

    `in_memory`, where there is such a place, is for tests that sync thousands of times.
    """
    place = "/dev/shm" if in_memory and os.access("/dev/shm", os.W_OK) else None
    path = Path(tempfile.mkdtemp(prefix="extbfs-test-", dir=place))
    try:
        path.chmod(0o755)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def run_unprivileged(code: str, *arguments: str) -> str:
    """Run `code` as the user nobody; as ourselves if we are not root anyway.

    The process is born as root and drops its rights after importing what `_PRELOAD` names: a
    Python below /root could not be started by nobody.
    """
    command = [sys.executable, "-c", _DROP.format(preload=_PRELOAD, nobody=NOBODY), code]
    done = _run([*command, *arguments])
    if done.returncode == _CANNOT:
        pytest.skip(f"cannot give up root's privileges here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_read_only(directory: Path, code: str, *arguments: str) -> str:
    """Run `code` while `directory` is mounted read-only at its own path."""
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    return _in_namespace(mount, directory, code, *arguments)


def run_on_small_disk(directory: Path, size: str, code: str, *arguments: str) -> str:
    """Run `code` with an empty tmpfs of `size` ("16m") mounted over `directory`."""
    mount = f'mount -t tmpfs -o size={size} none "$0" && exec "$@"'
    return _in_namespace(mount, directory, code, *arguments)


def _in_namespace(mount: str, directory: Path, code: str, *arguments: str) -> str:
    unshare = ["unshare", "--mount", "--propagation", "private"]
    if os.getuid():
        unshare += ["--user", "--map-root-user"]
    shell = [*unshare, "sh", "-c", mount, str(directory)]
    try:
        tried = subprocess.run([*shell, "true"], capture_output=True, text=True)
    except OSError as error:
        pytest.skip(f"there is no private mount namespace here: {error}")
    if tried.returncode:
        pytest.skip(f"a private mount namespace is refused here: {tried.stderr.strip()[-200:]}")
    done = _run([*shell, sys.executable, "-c", code, *arguments])
    assert done.returncode == 0, done.stderr
    return done.stdout


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **_ENVIRONMENT}
    return subprocess.run(command, env=environment, capture_output=True, text=True)
