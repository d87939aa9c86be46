"""The file system seam: what each operation does, and how each failure is named."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import lmdb
import pytest

from store import fs
from store.errors import (
    CatalogueFull,
    DiskFull,
    IntegrityError,
    IoFailure,
    NoPermission,
    StoreError,
)
from store.fs import FileSystem, lmdb_failure, os_failure
from store.pages import PAGE, empty_pages
from tests.faults import Fault, FaultyFileSystem
from tests.sandbox import ROOT, open_directory, run_read_only, run_unprivileged


@pytest.fixture
def disk() -> FileSystem:
    return FileSystem()


class _Txn:
    """A transaction that only remembers whether it was committed."""

    def __init__(self) -> None:
        self.committed = False

    def commit(self) -> None:
        self.committed = True

    def abort(self) -> None:
        pass


class TestOperations:
    def test_writes_past_the_page_cache(self, disk: FileSystem, tmp_path: Path) -> None:
        fd = disk.create(tmp_path / "f")
        direct = disk.open_direct(tmp_path / "f")
        if direct is None:
            pytest.skip("this file system has none")
        pages = empty_pages(3 * PAGE)
        pages[:] = 7
        disk.pwrite(fd, b"hello", 0)
        disk.pwrite(direct, pages.data, PAGE)
        disk.datasync(fd)
        assert disk.pread(fd, 9, 0) == b"hello\0\0\0\0"
        assert disk.pread(fd, 5 * PAGE, PAGE) == b"\7" * (3 * PAGE)
        disk.close(direct)
        disk.close(fd)

    @pytest.mark.parametrize("code", [errno.EINVAL, errno.EOPNOTSUPP])
    def test_no_page_cache_to_write_past(
        self, disk: FileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
    ) -> None:
        def refuse(path: object, flags: int, mode: int) -> int:
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(os, "open", refuse)
        assert disk.open_direct(tmp_path / "f") is None
        monkeypatch.delattr(os, "O_DIRECT", raising=False)
        assert disk.open_direct(tmp_path / "f") is None

    def test_a_missing_file_is_no_lack_of_support(self, disk: FileSystem, tmp_path: Path) -> None:
        if not hasattr(os, "O_DIRECT"):
            pytest.skip("this system has no such writes")
        with pytest.raises(IoFailure) as caught:
            disk.open_direct(tmp_path / "missing")
        assert caught.value.missing

    def test_what_is_needed_or_not_changes_nothing(self, disk: FileSystem, tmp_path: Path) -> None:
        fd = disk.create(tmp_path / "f")
        disk.pwrite(fd, b"hello", 0)
        disk.will_need(fd, 0, 1 << 20)
        disk.will_need(-1, 0, 10)  # who cannot help need not complain
        disk.let_go(fd, 0, 5)
        disk.let_go(fd, 5, 0)
        assert disk.pread(fd, 9, 0) == b"hello"
        disk.close(fd)

    def test_what_is_written_is_read_back(self, disk: FileSystem, tmp_path: Path) -> None:
        fd = disk.create(tmp_path / "f")
        disk.pwrite(fd, b"world", 5)
        disk.pwrite(fd, bytearray(b"hello"), 0)
        disk.datasync(fd)
        buffer = bytearray(20)
        assert disk.preadinto(fd, buffer, 3) == 7
        assert buffer[:7] == b"loworld"
        assert disk.pread(fd, 100, 8) == b"ld"
        assert disk.pread(fd, 4, 100) == b""
        assert disk.size(fd) == 10
        disk.truncate(fd, 4)
        assert disk.pread(fd, 100, 0) == b"hell"
        disk.close(fd)

    def test_buffers_of_wider_items_are_written_whole(
        self, disk: FileSystem, tmp_path: Path
    ) -> None:
        fd = disk.create(tmp_path / "f")
        words = memoryview(bytes(range(16))).cast("Q")
        disk.pwrite(fd, words, 0)
        assert disk.pread(fd, 16, 0) == bytes(range(16))
        disk.close(fd)

    def test_short_writes_and_reads_are_continued(
        self, disk: FileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write, read = os.pwrite, os.preadv
        monkeypatch.setattr(os, "pwrite", lambda fd, data, at: write(fd, data[:3], at))
        monkeypatch.setattr(os, "preadv", lambda fd, bufs, at: read(fd, [bufs[0][:2]], at))
        fd = disk.create(tmp_path / "f")
        disk.pwrite(fd, b"0123456789", 0)
        assert disk.pread(fd, 10, 0) == b"0123456789"
        disk.close(fd)

    def test_create_refuses_what_exists(self, disk: FileSystem, tmp_path: Path) -> None:
        (tmp_path / "f").write_bytes(b"precious")
        with pytest.raises(IoFailure, match=r"create .*/f"):
            disk.create(tmp_path / "f")
        assert (tmp_path / "f").read_bytes() == b"precious"

    def test_a_missing_file_says_so(self, disk: FileSystem, tmp_path: Path) -> None:
        with pytest.raises(IoFailure) as caught:
            disk.open_read(tmp_path / "none")
        assert caught.value.missing
        assert str(tmp_path / "none") in str(caught.value)

    def test_replace_unlink_and_mkdir(self, disk: FileSystem, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"new")
        (tmp_path / "b").write_bytes(b"old")
        disk.replace(tmp_path / "a", tmp_path / "b")
        assert (tmp_path / "b").read_bytes() == b"new"
        disk.unlink(tmp_path / "b")
        disk.unlink(tmp_path / "b")
        disk.mkdir(tmp_path / "d")
        disk.mkdir(tmp_path / "d")
        disk.sync_dir(tmp_path)
        assert os.listdir(tmp_path) == ["d"]
        with pytest.raises(IoFailure, match=r"rename .*/none"):
            disk.replace(tmp_path / "none", tmp_path / "x")

    def test_mkdir_does_not_take_a_file_for_a_directory(
        self, disk: FileSystem, tmp_path: Path
    ) -> None:
        (tmp_path / "d").write_bytes(b"")
        with pytest.raises(IoFailure, match=r"create .*/d"):
            disk.mkdir(tmp_path / "d")

    @pytest.mark.parametrize("sync", [False, True])
    def test_write_atomic_replaces_and_leaves_nothing_else(
        self, disk: FileSystem, tmp_path: Path, sync: bool
    ) -> None:
        (tmp_path / "s.tmp").write_bytes(b"left by a crash, and longer than the new content")
        for content in (b"one", b"two"):
            disk.write_atomic(tmp_path / "s", content, sync=sync)
            assert (tmp_path / "s").read_bytes() == content
        assert os.listdir(tmp_path) == ["s"]

    @pytest.mark.parametrize("at", range(1, 6))
    def test_a_replacement_that_fails_leaves_old_or_new_and_nothing_else(
        self, tmp_path: Path, at: int
    ) -> None:
        (tmp_path / "s").write_bytes(b"old")
        faulty = FaultyFileSystem(tmp_path, at=at, fault=Fault.ONCE, code=errno.EIO)
        with pytest.raises(IoFailure):
            faulty.write_atomic(tmp_path / "s", b"new", sync=True)
        assert (tmp_path / "s").read_bytes() == (b"new" if at == 5 else b"old")
        assert os.listdir(tmp_path) == ["s"]

    def test_the_order_of_a_durable_replacement(self, tmp_path: Path) -> None:
        faulty = FaultyFileSystem(tmp_path)
        faulty.write_atomic(tmp_path / "s", b"data", sync=True)
        assert faulty.operations == [
            "create s.tmp",
            "pwrite s.tmp",
            "datasync s.tmp",
            "replace s",
            "sync_dir .",
        ]

    def test_free_bytes_is_a_number_of_bytes(self, disk: FileSystem, tmp_path: Path) -> None:
        state = os.statvfs(tmp_path)
        assert 0 <= disk.free_bytes(tmp_path) <= state.f_blocks * state.f_frsize

    def test_descriptors_do_not_survive_exec(self, disk: FileSystem, tmp_path: Path) -> None:
        fd = disk.create(tmp_path / "f")
        assert not os.get_inheritable(fd)
        assert disk.path_of(fd) == str(tmp_path / "f")
        disk.close(fd)
        assert "descriptor" in disk.path_of(fd)

    def test_install_replaces_the_current_one(self) -> None:
        mine = FileSystem()
        before = fs.install(mine)
        try:
            assert fs.current() is mine
        finally:
            assert fs.install(before) is mine
        assert fs.current() is before


class TestFailureKinds:
    @pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
    def test_no_room(self, code: int) -> None:
        failure = os_failure(OSError(code, os.strerror(code)), "/r/f", "write")
        assert type(failure) is DiskFull
        assert failure.path == "/r/f"

    @pytest.mark.parametrize("code", [errno.EACCES, errno.EPERM, errno.EROFS])
    def test_no_permission(self, code: int) -> None:
        assert type(os_failure(OSError(code, "no"), "/r/f", "write")) is NoPermission

    @pytest.mark.parametrize("code", [errno.EIO, errno.ENOENT, errno.EMFILE])
    def test_all_else(self, tmp_path: Path, code: int) -> None:
        failure = os_failure(OSError(code, "bad"), tmp_path / "f", "write")
        assert type(failure) is IoFailure
        assert failure.errno == code

    def test_eio_on_a_full_disk_is_a_full_disk(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(fs, "disk_is_full", lambda path: True)
        assert type(os_failure(OSError(errno.EIO, "bad"), tmp_path, "write")) is DiskFull
        error = lmdb.Error("mdb_txn_commit: Input/output error")
        vars(error)["code"] = errno.EIO
        assert type(lmdb_failure(error, tmp_path, "commit to")) is DiskFull

    @pytest.mark.parametrize(
        ("kind", "failure"),
        [
            (lmdb.MapFullError, CatalogueFull),
            (lmdb.DiskError, DiskFull),
            (lmdb.ReadonlyError, NoPermission),
            (lmdb.CorruptedError, IntegrityError),
            (lmdb.PageNotFoundError, IntegrityError),
            (lmdb.InvalidError, IntegrityError),
            (lmdb.PanicError, IoFailure),
            (lmdb.ReadersFullError, IoFailure),
        ],
    )
    def test_errors_of_lmdb(
        self, tmp_path: Path, kind: type[lmdb.Error], failure: type[StoreError]
    ) -> None:
        assert type(lmdb_failure(kind("as LMDB says it"), tmp_path / "f", "read")) is failure

    def test_a_limit_on_file_sizes_is_a_full_disk(self, tmp_path: Path) -> None:
        code = """if True:
            import os, resource, sys
            from store.errors import DiskFull
            from store.fs import FileSystem
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 21, 1 << 21))
            disk = FileSystem()
            fd = disk.create(sys.argv[1])
            try:
                disk.pwrite(fd, bytes(1 << 22), 0)
            except DiskFull as error:
                print(error.exit_code)
        """
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "f")],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert (done.stdout, done.stderr) == ("20\n", "")


class TestAfterAFailedSync:
    @pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
    def test_no_commit_is_accepted(self, tmp_path: Path, code: int) -> None:
        faulty = FaultyFileSystem(tmp_path, at=3, fault=Fault.ONCE, code=code)
        fd = faulty.create(tmp_path / "f")
        faulty.pwrite(fd, b"data", 0)
        with pytest.raises(StoreError):
            faulty.datasync(fd)
        faulty.datasync(fd)  # "succeeds", as the kernel's does
        txn = _Txn()
        kind = DiskFull if code == errno.ENOSPC else IoFailure
        with pytest.raises(kind, match=f"as {tmp_path}/f could .* opened again"):
            faulty.commit(txn, tmp_path / "c")
        assert not txn.committed
        faulty.close(fd)

    def test_nor_after_a_directory_was_not_synced(self, tmp_path: Path) -> None:
        faulty = FaultyFileSystem(tmp_path, at=1, fault=Fault.ONCE, code=errno.EIO)
        with pytest.raises(IoFailure):
            faulty.sync_dir(tmp_path)
        with pytest.raises(IoFailure):
            faulty.commit(_Txn(), tmp_path / "c")

    def test_nor_after_a_commit_that_failed(self, tmp_path: Path) -> None:
        faulty = FaultyFileSystem(tmp_path, at=1, fault=Fault.ONCE, code=errno.EIO)
        for _ in range(2):
            with pytest.raises(IoFailure):
                faulty.commit(_Txn(), tmp_path / "c")

    def test_nor_after_a_write_error(self, tmp_path: Path) -> None:
        faulty = FaultyFileSystem(tmp_path, at=2, fault=Fault.ONCE, code=errno.EIO)
        fd = faulty.create(tmp_path / "f")
        with pytest.raises(IoFailure):
            faulty.pwrite(fd, b"data", 0)
        with pytest.raises(IoFailure):
            faulty.commit(_Txn(), tmp_path / "c")
        faulty.close(fd)

    def test_a_full_disk_at_a_write_or_commit_is_no_reason(self, tmp_path: Path) -> None:
        faulty = FaultyFileSystem(tmp_path, at=2, fault=Fault.ONCE, code=errno.ENOSPC)
        fd = faulty.create(tmp_path / "f")
        with pytest.raises(DiskFull):
            faulty.pwrite(fd, b"data", 0)
        faulty.close(fd)
        txn = _Txn()
        faulty.commit(txn, tmp_path / "c")
        assert txn.committed


class TestWithoutPermission:
    CODE = """if True:
        import sys
        from store.errors import NoPermission
        from store.fs import FileSystem
        disk, path = FileSystem(), sys.argv[1]
        print(disk.pread(disk.open_read(path + "/f"), 9, 0).decode())
        for attempt in (
            lambda: disk.create(path + "/new"),
            lambda: disk.open_rw(path + "/f"),
            lambda: disk.mkdir(path + "/d"),
            lambda: disk.unlink(path + "/f"),
            lambda: disk.replace(path + "/f", path + "/g"),
            lambda: disk.write_atomic(path + "/f", b"", sync=True),
        ):
            try:
                attempt()
            except NoPermission as error:
                assert path in str(error)
                print("no permission")
    """
    EXPECTED = ("content\n", *["no permission\n"] * 6)

    def test_another_user(self) -> None:
        with open_directory() as path:
            (path / "f").write_bytes(b"content")
            (path / "f").chmod(0o444)
            path.chmod(0o555)
            assert run_unprivileged(self.CODE, str(path)) == "".join(self.EXPECTED)
            path.chmod(0o755)

    def test_a_read_only_mount(self, tmp_path: Path) -> None:
        (tmp_path / "f").write_bytes(b"content")
        assert run_read_only(tmp_path, self.CODE, str(tmp_path)) == "".join(self.EXPECTED)
