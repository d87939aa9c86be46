"""One writer a run, named to the second one; nothing to clear after a kill."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from store import names
from store.errors import Locked
from store.lock import Holder, WriterLock, holder
from tests.sandbox import ROOT, open_directory, run_read_only, run_unprivileged

HOLD = """if True:
    import sys
    from store.lock import WriterLock
    lock = WriterLock.acquire(sys.argv[1])
    print("held", flush=True)
    sys.stdin.read()
"""
ASK = "import sys; from store.lock import holder; print(holder(sys.argv[1]))"


def _holding(run: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(run)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def _end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_second_writer_is_told_who_holds_the_run(tmp_path: Path) -> None:
    process = _holding(tmp_path)
    try:
        with pytest.raises(Locked) as caught:
            WriterLock.acquire(tmp_path)
        assert isinstance(caught.value.holder, Holder)
        assert caught.value.holder.pid == process.pid
        assert caught.value.holder.host == socket.gethostname()
        assert f"process {process.pid} on" in str(caught.value)
        found = holder(tmp_path)
        assert found == caught.value.holder
    finally:
        _end(process)


def test_a_killed_holder_leaves_nothing_to_clear(tmp_path: Path) -> None:
    _end(_holding(tmp_path))
    assert (tmp_path / names.LOCK).exists()
    assert holder(tmp_path) is None
    with WriterLock.acquire(tmp_path):
        found = holder(tmp_path)
        assert found is not None
        assert found.pid == os.getpid()


def test_the_same_process_cannot_hold_it_twice(tmp_path: Path) -> None:
    with WriterLock.acquire(tmp_path), pytest.raises(Locked):
        WriterLock.acquire(tmp_path)


def test_release_lets_the_next_one_in(tmp_path: Path) -> None:
    lock = WriterLock.acquire(tmp_path)
    lock.release()
    lock.release()
    assert holder(tmp_path) is None
    WriterLock.acquire(tmp_path).release()


def test_nobody_holds_a_directory_that_was_never_locked(tmp_path: Path) -> None:
    assert holder(tmp_path) is None
    assert holder(tmp_path / "none") is None
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("text", [b"", b"{", b"[1]", b'{"pid": "x"}', b"\xff\xfe", b"[" * 4000])
def test_a_garbled_text_hides_who_but_not_whether(tmp_path: Path, text: bytes) -> None:
    with WriterLock.acquire(tmp_path):
        (tmp_path / names.LOCK).write_bytes(text)
        assert holder(tmp_path) == Holder(0, "", "")
        with pytest.raises(Locked, match="another process"):
            WriterLock.acquire(tmp_path)


def test_a_longer_text_from_before_is_not_left_behind(tmp_path: Path) -> None:
    (tmp_path / names.LOCK).write_bytes(b"x" * 5000)
    with WriterLock.acquire(tmp_path):
        found = holder(tmp_path)
        assert found is not None
        assert found.pid == os.getpid()
        assert (tmp_path / names.LOCK).read_bytes().count(b"\n") == 1


def test_a_reader_that_asks_does_not_keep_a_writer_out(tmp_path: Path) -> None:
    (tmp_path / names.LOCK).write_bytes(b"")
    reader = os.open(tmp_path / names.LOCK, os.O_RDONLY)
    fcntl.flock(reader, fcntl.LOCK_SH)
    patch = pytest.MonkeyPatch()
    patch.setattr(time, "sleep", lambda seconds: fcntl.flock(reader, fcntl.LOCK_UN))
    try:
        WriterLock.acquire(tmp_path).release()
    finally:
        patch.undo()
        os.close(reader)


def test_a_lock_file_deleted_under_its_holder_is_made_anew(tmp_path: Path) -> None:
    with WriterLock.acquire(tmp_path):
        (tmp_path / names.LOCK).unlink()
        with WriterLock.acquire(tmp_path):
            assert holder(tmp_path) is not None


def test_a_user_without_write_permission_may_ask() -> None:
    with open_directory() as run:
        assert run_unprivileged(ASK, str(run)) == "None\n"
        with WriterLock.acquire(run):
            assert f"process {os.getpid()} on" in run_unprivileged(ASK, str(run))
        assert run_unprivileged(ASK, str(run)) == "None\n"


def test_so_may_a_reader_of_a_read_only_mount(tmp_path: Path) -> None:
    with WriterLock.acquire(tmp_path):
        assert f"process {os.getpid()} on" in run_read_only(tmp_path, ASK, str(tmp_path))
    assert run_read_only(tmp_path, ASK, str(tmp_path)) == "None\n"
