"""The external sort compared with set operations: union, its books, its scratch files."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import store.external
from store.errors import IntegrityError
from store.external import FAN_IN, ExternalSorter, union
from store.fs import FileSystem
from store.run import RunBuilder
from store.source import FileSource

BLOCK = 16
KEY = st.one_of(st.integers(0, 300), st.integers(0, 2**64 - 2))


class Meter:
    """Counts bytes, up to a limit."""

    def __init__(self, limit: int = 1 << 40) -> None:
        self.used = 0
        self.most = 0
        self.limit = limit

    def take(self, size: int) -> None:
        if self.used + size > self.limit:
            raise MemoryError("past the limit")
        self.used += size
        self.most = max(self.most, self.used)

    def give_back(self, size: int) -> None:
        self.used -= size


@pytest.fixture
def small_blocks(monkeypatch):
    small: Any = partial(RunBuilder, BLOCK)
    monkeypatch.setattr(store.external, "RunBuilder", small)
    monkeypatch.setattr(store.external, "RUN_KEYS", 3 * BLOCK)


def arrays(keys, size):
    """Ascending arrays, all in one buffer that each step overwrites, as a reader gives them."""
    buffer = np.zeros(size, np.uint64)
    for start in range(0, len(keys), size):
        part = keys[start : start + size]
        buffer[: len(part)] = part
        yield buffer[: len(part)]
        buffer.fill(0)


def sorter(run, meter):
    fs = FileSystem()
    (run / "spill").mkdir(exist_ok=True)
    return ExternalSorter(fs, FileSource(run, fs), str(run), 3, meter)


@settings(max_examples=60)
@given(st.lists(st.sets(KEY, max_size=60), max_size=6), st.integers(1, 20))
def test_union_of_streams(sets, size):
    twice: list[int] = []
    found: list[int] = []
    streams = [arrays(sorted(some), size) for some in sets]
    for keys in union(streams, lambda keys: twice.extend(keys.tolist())):
        found += keys.tolist()
    held = Counter(key for some in sets for key in some)
    assert found == sorted(held)
    assert Counter(twice) == Counter({key: n - 1 for key, n in held.items() if n > 1})


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("parts", [1, 2, FAN_IN, FAN_IN + 1, 3 * FAN_IN + 5])
@pytest.mark.parametrize("overlap", ["disjoint", "interleaved", "the same"])
def test_any_number_of_sequences(tmp_path, parts, overlap):
    meter = Meter()
    size = 100
    if overlap == "disjoint":
        sets = [list(range(i * size, (i + 1) * size)) for i in range(parts)]
    elif overlap == "interleaved":
        sets = [list(range(i, parts * size, parts)) for i in range(parts)]
    else:
        sets = [list(range(0, 3 * size, 3)) for _ in range(parts)]
    twice: list[int] = []
    found: list[int] = []
    with sorter(tmp_path, meter) as sort:
        for some in sets:
            sort.add(arrays(some, 30))
        for keys in sort.merged(lambda keys: twice.extend(keys.tolist())):
            assert keys.size <= FAN_IN * BLOCK
            found += keys.tolist()
        assert meter.used == sum(
            os.path.getsize(tmp_path / "spill" / name) for name in os.listdir(tmp_path / "spill")
        )
    assert found == sorted({key for some in sets for key in some})
    assert len(twice) == sum(map(len, sets)) - len(found)
    assert os.listdir(tmp_path / "spill") == []
    assert meter.used == 0


@pytest.mark.usefixtures("small_blocks")
def test_scratch_files_go_when_the_sort_is_abandoned(tmp_path):
    meter = Meter()
    with sorter(tmp_path, meter) as sort:
        for _ in range(4):
            sort.add(arrays(list(range(100)), 10))
        next(sort.merged(lambda keys: None))
        assert os.listdir(tmp_path / "spill")
    assert os.listdir(tmp_path / "spill") == []
    assert meter.used == 0


@pytest.mark.usefixtures("small_blocks")
def test_the_limit_of_the_disk_stops_it(tmp_path):
    keys = list(range(0, 10**6, 10**4))
    sort = sorter(tmp_path, Meter(2000))

    def add_many() -> None:
        for _ in range(100):
            sort.add(arrays(keys, 10))

    with pytest.raises(MemoryError):
        add_many()
    spill = tmp_path / "spill"
    assert 0 < sum(os.path.getsize(spill / name) for name in os.listdir(spill)) <= 2000


@pytest.mark.usefixtures("small_blocks")
def test_a_damaged_scratch_file_is_noticed(tmp_path):
    with sorter(tmp_path, Meter()) as sort:
        sort.add(arrays(list(range(0, 10**6, 10**3)), 50))
        sort.add(arrays(list(range(5, 10**6, 10**3)), 50))
        path = tmp_path / "spill" / sorted(os.listdir(tmp_path / "spill"))[0]
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        with pytest.raises(IntegrityError, match="scratch"):
            list(sort.merged(lambda keys: None))
