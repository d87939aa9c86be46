"""The faulty file system loses exactly what POSIX does not promise to keep."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults import Fault, FaultyFileSystem, PowerCut
from tests.sandbox import ROOT


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    path.mkdir()
    return path


@pytest.fixture
def disk(run: Path) -> FaultyFileSystem:
    return FaultyFileSystem(run, remember=True)


def _write(disk: FaultyFileSystem, path: Path, data: bytes, *, sync: bool = True) -> None:
    fd = disk.create(path)
    disk.pwrite(fd, data, 0)
    if sync:
        disk.datasync(fd)
    disk.close(fd)


class TestNames:
    def test_a_name_is_lost_unless_its_directory_was_synced(
        self, run: Path, disk: FaultyFileSystem
    ) -> None:
        _write(disk, run / "kept", b"1")
        disk.sync_dir(run)
        _write(disk, run / "lost", b"2")
        disk.lose_unsynced()
        assert os.listdir(run) == ["kept"]

    def test_a_removal_is_undone(self, run: Path, disk: FaultyFileSystem) -> None:
        _write(disk, run / "f", b"content")
        disk.sync_dir(run)
        disk.unlink(run / "f")
        disk.lose_unsynced()
        assert (run / "f").read_bytes() == b"content"

    def test_a_rename_is_undone_and_its_victim_is_back(
        self, run: Path, disk: FaultyFileSystem
    ) -> None:
        _write(disk, run / "f", b"old")
        disk.sync_dir(run)
        disk.write_atomic(run / "f", b"new", sync=False)
        disk.lose_unsynced()
        assert (run / "f").read_bytes() == b"old"
        assert os.listdir(run) == ["f"]

    def test_a_directory_takes_what_is_in_it_with_it(
        self, run: Path, disk: FaultyFileSystem
    ) -> None:
        disk.mkdir(run / "d")
        _write(disk, run / "d" / "f", b"1")
        disk.sync_dir(run / "d")  # of no use while nobody synced the directory above
        disk.lose_unsynced()
        assert os.listdir(run) == []

    def test_a_synced_replacement_survives(self, run: Path, disk: FaultyFileSystem) -> None:
        for data in (b"old", b"new"):
            disk.write_atomic(run / "f", data, sync=True)
        assert disk.unsynced == 0
        disk.lose_unsynced()
        assert (run / "f").read_bytes() == b"new"

    def test_each_directory_keeps_its_first_changes(self, tmp_path: Path) -> None:
        seen = set()
        for seed in range(40):
            run = tmp_path / str(seed)
            run.mkdir()
            disk = FaultyFileSystem(run, remember=True)
            for name in "abc":
                _write(disk, run / name, b"1")
            disk.lose_unsynced(random.Random(seed))
            seen.add("".join(sorted(os.listdir(run))))
        assert seen == {"", "a", "ab", "abc"}


class TestContents:
    def test_bytes_are_lost_unless_synced(self, run: Path, disk: FaultyFileSystem) -> None:
        _write(disk, run / "f", b"durable")
        disk.sync_dir(run)
        fd = disk.open_rw(run / "f")
        disk.pwrite(fd, b"DURABLE and more", 0)
        disk.truncate(fd, 3)
        disk.close(fd)
        disk.lose_unsynced()
        assert (run / "f").read_bytes() == b"durable"

    def test_a_file_renamed_before_it_was_synced_may_be_empty(
        self, run: Path, disk: FaultyFileSystem
    ) -> None:
        _write(disk, run / "f.tmp", b"content", sync=False)
        disk.replace(run / "f.tmp", run / "f")
        disk.sync_dir(run)
        disk.lose_unsynced()
        assert (run / "f").read_bytes() == b""

    def test_writes_are_torn_at_sectors_and_never_elsewhere(self, tmp_path: Path) -> None:
        old, new = b"\0" * 16384, b"\xff" * 16384
        kinds = set()
        for seed in range(60):
            run = tmp_path / str(seed)
            run.mkdir()
            disk = FaultyFileSystem(run, remember=True)
            _write(disk, run / "f", old)
            disk.sync_dir(run)
            fd = disk.open_rw(run / "f")
            disk.pwrite(fd, new, 0)
            disk.close(fd)
            disk.lose_unsynced(random.Random(seed))
            found = (run / "f").read_bytes()
            assert len(found) == len(old)
            sectors = [found[at : at + 512] for at in range(0, len(found), 512)]
            assert all(sector in (old[:512], new[:512]) for sector in sectors)
            kinds.add("old" if found == old else "new" if found == new else "torn")
        assert kinds == {"old", "new", "torn"}

    def test_nothing_is_left_beside_the_run(self, run: Path, disk: FaultyFileSystem) -> None:
        _write(disk, run / "f", b"1", sync=False)
        disk.unlink(run / "f")
        disk.lose_unsynced()
        assert os.listdir(run.parent) == ["run"]


class TestFaults:
    def test_after_a_power_cut_nothing_works(self, run: Path) -> None:
        disk = FaultyFileSystem(run, at=2, fault=Fault.POWER_CUT)
        fd = disk.create(run / "f")
        for _ in range(2):
            with pytest.raises(PowerCut, match="before operation 2: pwrite f"):
                disk.pwrite(fd, b"1", 0)
        disk.close(fd)
        assert (run / "f").read_bytes() == b""

    def test_a_kill_comes_before_the_operation(self, run: Path) -> None:
        code = """if True:
            import sys
            from tests.faults import FaultyFileSystem
            disk = FaultyFileSystem(sys.argv[1], at=3)
            for name in "abcd":
                disk.create(sys.argv[1] + "/" + name)
        """
        done = subprocess.run([sys.executable, "-c", code, str(run)], cwd=ROOT)
        assert done.returncode == -signal.SIGKILL
        assert sorted(os.listdir(run)) == ["a", "b"]
