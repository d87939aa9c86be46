"""FileSource: files of a directory, a bounded number of handles, and what is missing."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from store.errors import IntegrityError
from store.fs import FileSystem
from store.layer import Layer, Scratch
from store.source import AHEAD, BEHIND, FileSource
from tests.store.run_bytes import build


def handles(directory: Path) -> int:
    """Descriptors of this process on files of a directory."""
    links = (Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd"))
    return sum(str(directory) in os.readlink(link) for link in links if link.is_symlink())


def filled(directory: Path, files: int) -> None:
    for number in range(files):
        (directory / f"f{number:03}").write_bytes(bytes([number]) * 100)


def test_reads_parts_of_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(range(100)))
    source = FileSource(tmp_path, FileSystem())
    buffer = bytearray(b"x" * 10)
    source.pread("a", 90, 5, buffer)
    assert buffer == bytes(range(90, 95)) + b"x" * 5
    source.close()


class _Asked(FileSystem):
    """Remembers what it was told would be needed."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[tuple[int, int]] = []
        self.gone: list[tuple[int, int]] = []

    def will_need(self, fd: int, offset: int, length: int) -> None:
        self.parts.append((offset, offset + length))
        super().will_need(fd, offset, length)

    def let_go(self, fd: int, offset: int, length: int) -> None:
        self.gone.append((offset, offset + length))
        super().let_go(fd, offset, length)


class TestAhead:
    """The system is asked in advance for what a sequential reader will want."""

    SIZE = 8 * AHEAD
    STEP = AHEAD // 8

    @pytest.fixture
    def disk(self, tmp_path: Path) -> _Asked:
        with (tmp_path / "a").open("wb") as file:
            file.truncate(self.SIZE)
        return _Asked()

    def read(self, source: FileSource, *offsets: int, length: int = STEP) -> None:
        buffer = bytearray(length)
        for offset in offsets:
            source.pread("a", offset, length, buffer)

    def test_everything_once_and_before_it_is_read(self, tmp_path: Path, disk: _Asked) -> None:
        source = FileSource(tmp_path, disk)
        offsets = range(0, self.SIZE, self.STEP)
        for one, other in zip(offsets[::2], offsets[1::2], strict=True):
            self.read(source, other, one)  # two readers, not quite in turn
            reached = other + self.STEP
            assert disk.parts[-1][1] >= reached + AHEAD // 2 - self.STEP
        assert [begin for begin, _ in disk.parts[1:]] == [end for _, end in disk.parts[:-1]]
        assert disk.parts[0][0] <= 2 * self.STEP
        source.close()

    def test_what_is_kept_out_goes_behind_the_readers(self, tmp_path: Path, disk: _Asked) -> None:
        source = FileSource(tmp_path, disk)
        self.read(source, *range(0, self.SIZE, self.STEP))
        assert disk.gone == []
        source.keep_out({"a"})
        self.read(source, 0)
        for offset in range(self.STEP, self.SIZE, self.STEP):
            self.read(source, offset)
            assert disk.gone[-1][1] <= max(0, offset - BEHIND + AHEAD)
        assert disk.gone[-1][1] > self.SIZE - BEHIND - 2 * AHEAD
        reached = 0
        for begin, end in disk.gone:
            assert begin <= reached  # no gap
            reached = max(reached, end)
        source.forget("a")
        disk.gone.clear()
        self.read(source, *range(0, self.SIZE, self.STEP))
        assert disk.gone == []
        source.close()

    def test_nothing_for_reads_here_and_there(self, tmp_path: Path, disk: _Asked) -> None:
        source = FileSource(tmp_path, disk)
        self.read(source, 7 * AHEAD, AHEAD, 6 * AHEAD, 0, 5 * AHEAD)
        self.read(source, *range(0, AHEAD, 4096), length=4096)
        assert disk.parts == []
        source.close()


def test_keeps_few_files_open(tmp_path: Path) -> None:
    filled(tmp_path, 50)
    source = FileSource(tmp_path, FileSystem(), handles=8)
    buffer = bytearray(1)
    for turn in range(3):
        for number in range(50):
            source.pread(f"f{number:03}", turn, 1, buffer)
            assert buffer[0] == number
            assert handles(tmp_path) <= 8
    source.close()
    assert handles(tmp_path) == 0
    source.pread("f007", 0, 1, buffer)  # and goes on if it has to
    source.close()


def test_no_handle_is_closed_while_a_thread_reads_through_it(tmp_path: Path) -> None:
    filled(tmp_path, 12)
    source = FileSource(tmp_path, FileSystem(), handles=2)
    wrong: list[object] = []

    def read(salt: int) -> None:
        buffer = bytearray(100)
        try:
            for turn in range(400):
                number = (turn * salt) % 12
                source.pread(f"f{number:03}", 0, 100, buffer)
                if buffer != bytes([number]) * 100:
                    wrong.append(number)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=read, args=(salt,)) for salt in (1, 5, 7, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert handles(tmp_path) <= 2
    source.close()


def test_a_missing_file_is_damage(tmp_path: Path) -> None:
    source = FileSource(tmp_path, FileSystem())
    with pytest.raises(IntegrityError, match="the file is missing"):
        source.pread("gone", 0, 1, bytearray(1))


def test_a_short_file_is_damage(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(100))
    source = FileSource(tmp_path, FileSystem())
    with pytest.raises(IntegrityError, match="ends 5 bytes before byte 105"):
        source.pread("a", 95, 10, bytearray(10))
    with pytest.raises(IntegrityError, match="ends 10 bytes before byte 1010"):
        source.pread("a", 1000, 10, bytearray(10))
    source.close()


@pytest.mark.parametrize("name", ["", ".", "..", "../a", "/etc/passwd", "b/../a", "b//a"])
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").write_bytes(b"x")
    with pytest.raises(IntegrityError, match="not the name of a file of the run"):
        FileSource(tmp_path / "sub", FileSystem()).pread(name, 0, 1, bytearray(1))


def test_a_layer_reads_through_it_and_its_errors_name_the_block(tmp_path: Path) -> None:
    meta, data = build(range(100), block_keys=10)
    (tmp_path / "layer").write_bytes(data)
    layer = Layer(FileSource(tmp_path, FileSystem()), 1, [meta.placed("layer", 0)])
    scratch = Scratch()
    assert sum(view.size for view in layer.read_blocks(0, 10, scratch)) == 100
    (tmp_path / "layer").write_bytes(data[:20])
    with pytest.raises(IntegrityError, match="layer, block 0: the file ends"):
        list(layer.read_blocks(0, 10, scratch))
