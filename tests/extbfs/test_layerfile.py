"""The file of a layer under way: where runs go, past the page cache too, and what goes wrong."""

from __future__ import annotations

import errno
import os
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from extbfs.engine import layerfile
from extbfs.engine.background import Background
from extbfs.engine.disk import DiskMeter
from extbfs.engine.layerfile import LayerFiles
from store import names
from store.errors import DiskFull, DiskLimit, IoFailure
from store.fs import FileSystem
from store.pages import PAGE, empty_pages, whole
from tests.faults import Fault, FaultyFileSystem


@dataclass
class _Memory:
    page_cache: int


@dataclass
class _Engine:
    """The parts of an engine that a layer's file needs."""

    fs: FileSystem
    run: str
    meter: DiskMeter
    memory: _Memory
    writer: Background


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Any]:
    (tmp_path / names.LAYERS).mkdir()
    meter = DiskMeter(str(tmp_path), 1 << 30)
    engine = _Engine(FileSystem(), str(tmp_path), meter, _Memory(-1), Background("writer"))
    yield engine
    engine.writer.close()


def name(number: int) -> str:
    return names.layer_file(7, number)


def pages_of(data: bytes) -> Any:
    memory = empty_pages(len(data))
    memory[:] = 0
    memory[: len(data)] = list(data)
    return memory


def content(engine: Any, file: str, offset: int, size: int) -> bytes:
    return Path(engine.run, file).read_bytes()[offset : offset + size]


def pass_through(gate: threading.Lock) -> None:
    """Wait until the gate is open."""
    with gate:
        pass


def takes_direct(engine: Any) -> bool:
    """Whether the file system of the tests writes past its page cache."""
    path = os.path.join(engine.run, "trial")
    engine.fs.close(engine.fs.create(path))
    fd = engine.fs.open_direct(path)
    if fd is not None:
        engine.fs.close(fd)
    os.unlink(path)
    return fd is not None


@pytest.mark.parametrize("cached", [-1, 20_000, 1 << 30], ids=["past", "at last", "not"])
def test_every_run_lies_where_it_is_said_to(
    engine: Any, monkeypatch: pytest.MonkeyPatch, cached: int
) -> None:
    monkeypatch.setattr(layerfile, "LARGEST_FILE", 1 << 15)
    engine.memory.page_cache = cached
    rng = random.Random(5)
    files = LayerFiles(engine, name)
    placed = []
    for number in range(60):
        data = rng.randbytes(rng.choice([1, 300, PAGE - 1, PAGE, 9000]))
        if number % 3:
            file, offset, done = files.hand_over(pages_of(data), len(data))
            done.result()
        else:
            file, offset = files.append(memoryview(data))
        placed.append((file, offset, data))
    files.sync()
    files.close()
    assert len({file for file, _, _ in placed}) > 3
    ends: dict[str, int] = {}
    for file, offset, data in placed:
        assert offset >= ends.get(file, 0)  # none lies on another
        ends[file] = offset + len(data)
        assert content(engine, file, offset, len(data)) == data
    handed = [offset for number, (_, offset, _) in enumerate(placed) if number % 3]
    if takes_direct(engine):
        assert (cached < 0) == all(offset % PAGE == 0 for offset in handed)
    sizes = [os.path.getsize(os.path.join(engine.run, file)) for file in ends]
    assert engine.meter.written == engine.meter.used == sum(sizes)


def test_the_bytes_are_written_while_the_worker_goes_on(engine: Any) -> None:
    files = LayerFiles(engine, name)
    hold = threading.Lock()
    with hold:
        engine.writer.begin(partial(pass_through, hold))
        file, offset, done = files.hand_over(pages_of(b"abc"), 3)
        assert content(engine, file, offset, 3) == b""  # its turn has not come
    done.result()
    assert content(engine, file, offset, 3) == b"abc"
    files.close()


def test_a_file_system_that_says_only_when_writing_that_it_cannot(tmp_path: Path, engine: Any):
    engine.fs = FaultyFileSystem(tmp_path, at=2, fault=Fault.ONCE, code=errno.EINVAL)
    files = LayerFiles(engine, name)
    file, offset, done = files.hand_over(pages_of(b"abc"), 3)
    done.result()
    assert engine.fs.failed == [f"pwrite {file}"]
    assert content(engine, file, offset, 9) == b"abc"  # and no zeros behind
    assert files.hand_over(pages_of(b"def"), 3)[:2] == (file, whole(3))
    assert files.hand_over(pages_of(b"ghi"), 3)[:2] == (file, whole(3) + 3)
    files.sync()
    files.close()


def test_a_file_system_without_such_writes(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.fs, "open_direct", lambda path: None)
    files = LayerFiles(engine, name)
    for data in (b"abc", b"def"):
        file, offset, done = files.hand_over(pages_of(data), 3)
        done.result()
        assert content(engine, file, offset, 9) == data
    files.close()


@pytest.mark.parametrize(("code", "kind"), [(errno.ENOSPC, DiskFull), (errno.EIO, IoFailure)])
def test_what_goes_wrong_is_told_to_the_worker_and_by_sync(
    tmp_path: Path, engine: Any, code: int, kind: type[Exception]
) -> None:
    engine.fs = FaultyFileSystem(tmp_path, at=2, fault=Fault.ONCE, code=code)
    files = LayerFiles(engine, name)
    _, _, done = files.hand_over(pages_of(b"abc"), 3)
    with pytest.raises(kind):
        done.result()
    with pytest.raises(kind):
        files.sync()
    assert "datasync" not in " ".join(engine.fs.operations)
    files.close()


def test_a_run_past_the_limit_is_refused_before_it_is_written(engine: Any) -> None:
    engine.meter.limit = engine.meter.used + PAGE
    files = LayerFiles(engine, name)
    with pytest.raises(DiskLimit):
        files.hand_over(pages_of(bytes(PAGE + 1)), PAGE + 1)
    files.close()


def test_close_waits_for_what_is_under_way(engine: Any) -> None:
    files = LayerFiles(engine, name)
    hold = threading.Lock()
    hold.acquire()
    engine.writer.begin(partial(pass_through, hold))
    _, _, done = files.hand_over(pages_of(b"abc"), 3)
    closer = threading.Thread(target=files.close)
    closer.start()
    assert closer.is_alive()
    hold.release()
    closer.join()
    done.result()  # it did not find its descriptor closed


def test_the_writer_goes_on_after_an_error_and_ends_its_thread() -> None:
    writer = Background("writer")
    told: list[int] = []
    bad = writer.begin(lambda: told.append(1 // 0))
    good = writer.begin(lambda: told.append(2))
    good.result()
    with pytest.raises(ZeroDivisionError):
        bad.result()
    with pytest.raises(ZeroDivisionError):
        bad.result()  # whoever asks is told
    assert told == [2]
    before = threading.active_count()
    writer.close()
    assert threading.active_count() == before - 1
    writer.close()
