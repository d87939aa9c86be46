"""Spill files: what was sent comes back; the bytes of version 1; damage of every kind; bounds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

import store
from store.errors import IntegrityError, UnknownVersion
from store.fs import FileSystem
from store.pool import Pool
from store.spill import CHECKED, SpillMeta, SpillReader, spill_length, write_spill
from tests.store import partitions
from tests.store.naive_codec import fingerprint
from tests.store.partitions import partition

GOLDEN = Path(__file__).parent / "golden" / "spill-v1.spill"
PAGE = (Path(store.__file__).parent / "SPILL.md").read_text()
NAME = "spill/d00029-0000.spill"
LOWS = [0, 100, 101, 200, 2**32 + 200]
KEYS = [7, 99, 100, 3, 2**32 + 199, 7, 200]


class Spilled:
    """A spill file of some keys in a run directory of its own, and its reader."""

    def __init__(self, run: Path, lows: list[int], keys: list[int], staging: int = 1 << 12) -> None:
        self.run = run
        self.path = run / NAME
        self.path.parent.mkdir(exist_ok=True)
        self.path.unlink(missing_ok=True)
        self.fs = Watched()
        self.buckets = partition(lows)
        pool = Pool(1 << 16)
        pool.open(self.buckets)
        assert pool.has_room(len(keys))
        pool.route(np.array(keys, np.uint64), len(keys))
        fd, length, checksum = write_spill(
            self.fs, str(self.path), 29, pool, np.empty(staging, np.uint8)
        )
        self.fs.close(fd)
        mixed = fingerprint(keys)
        self.meta = SpillMeta(NAME, length, checksum, len(keys), mixed, 3, 4, (0, 5))

    def reader(self) -> SpillReader:
        return SpillReader(self.fs, str(self.run), self.meta, self.buckets)

    def gathered(self) -> list[list[int]]:
        reader = self.reader()
        out: Any = np.zeros(self.meta.records + 1, self.buckets.dtype)
        found = []
        for bucket in range(self.buckets.count):
            end = reader.gather(bucket, out, 1)
            found.append(out[1:end].tolist())
        reader.close()
        return found

    def in_parts(self, room: int) -> list[list[int]]:
        reader = self.reader()
        out: Any = np.zeros(room, self.buckets.dtype)
        found = []
        for bucket in range(self.buckets.count):
            found.append([v for n in reader.chunks(bucket, out) for v in out[:n].tolist()])
        reader.close()
        return found

    def use_all(self) -> None:
        """Everything that a search or verify reads of the file."""
        self.gathered()
        self.in_parts(3)
        reader = self.reader()
        try:
            reader.counts()
            reader.verify(self.buckets)
        finally:
            reader.close()


class Watched(FileSystem):
    """The real file system; remembers the longest write."""

    longest = 0

    def pwrite(self, fd: int, data: Any, offset: int) -> None:
        self.longest = max(self.longest, memoryview(data).nbytes)
        super().pwrite(fd, data, offset)


@settings(max_examples=50)
@given(partitions.routed(most=300), st.sampled_from([8, 16, 64, 1 << 12]), st.integers(1, 50))
def test_what_was_sent_comes_back(tmp_path_factory, routed, staging, room):
    lows, keys = routed
    spilled = Spilled(tmp_path_factory.getbasetemp(), lows, keys, staging)
    expected = partitions.naive_routing(lows, keys)
    width = spilled.buckets.dtype.itemsize
    assert spilled.meta.length == spilled.path.stat().st_size
    assert spilled.meta.length == spill_length(len(lows) - 1, len(keys), width)
    assert spilled.gathered() == expected
    assert spilled.in_parts(room) == expected
    assert spilled.reader().counts().tolist() == [len(some) for some in expected]
    spilled.reader().verify(spilled.buckets)
    assert SpillMeta.from_json(spilled.meta.to_json()) == spilled.meta


def test_a_bucket_past_the_staging_buffer_is_written_in_parts(tmp_path):
    keys = [5] * 3000 + [150] + [7] * 2000
    spilled = Spilled(tmp_path, [0, 100, 200], keys, staging=256)
    assert spilled.fs.longest <= 256
    assert spilled.gathered() == [[5] * 3000 + [7] * 2000, [50]]
    whole = spilled.path.read_bytes()
    again = Spilled(tmp_path, [0, 100, 200], keys, staging=1 << 16)
    assert again.path.read_bytes() == whole, "the bytes do not depend on the buffer"
    assert again.meta == spilled.meta


class TestVersionOne:
    def test_the_golden_file_is_what_we_write(self, tmp_path):
        assert Spilled(tmp_path, LOWS, KEYS).path.read_bytes() == GOLDEN.read_bytes()

    def test_the_golden_file_is_read_back(self, tmp_path):
        spilled = Spilled(tmp_path, LOWS, KEYS)
        spilled.path.write_bytes(GOLDEN.read_bytes())
        assert spilled.gathered() == [[7, 99, 3, 7], [0], [], [2**32 - 1, 0]]

    def test_the_page_shows_these_bytes(self):
        example = PAGE.split("## A worked example")[1]
        lines = re.findall(r"^    ((?:[0-9a-f]{2}| (?! ))+)", example, re.MULTILINE)
        assert bytes.fromhex("".join(lines)) == GOLDEN.read_bytes()

    def test_another_version_is_refused_by_name(self, tmp_path):
        spilled = Spilled(tmp_path, LOWS, KEYS)
        data = bytearray(GOLDEN.read_bytes())
        data[7] = 2
        data[CHECKED : CHECKED + 8] = xxh3_64_intdigest(data[:CHECKED]).to_bytes(8, "little")
        spilled.path.write_bytes(data)
        with pytest.raises(UnknownVersion, match="version 2"):
            spilled.reader()


class TestDamage:
    def test_every_byte_flipped(self, tmp_path):
        spilled = Spilled(tmp_path, LOWS, KEYS)
        whole = spilled.path.read_bytes()
        for at in range(len(whole)):
            damaged = bytearray(whole)
            damaged[at] ^= 1 << at % 8
            spilled.path.write_bytes(damaged)
            with pytest.raises(IntegrityError) as caught:
                spilled.use_all()
            assert NAME in caught.value.file
            assert caught.value.block is not None

    def test_cut_short_anywhere(self, tmp_path):
        spilled = Spilled(tmp_path, LOWS, KEYS)
        whole = spilled.path.read_bytes()
        for length in range(len(whole)):
            spilled.path.write_bytes(whole[:length])
            with pytest.raises(IntegrityError, match=NAME):
                spilled.use_all()

    def test_missing(self, tmp_path):
        spilled = Spilled(tmp_path, LOWS, KEYS)
        spilled.path.unlink()
        with pytest.raises(IntegrityError, match="missing"):
            spilled.reader()

    @pytest.mark.parametrize(
        ("lows", "keys"),
        [
            (LOWS, [*KEYS[:-1], 201]),
            (LOWS, [*KEYS, 201]),
            ([0, 100, 200, 2**32], KEYS[:4]),
            ([0, 2**33], KEYS),
        ],
    )
    def test_a_sound_file_of_other_arrivals(self, tmp_path, lows, keys):
        spilled = Spilled(tmp_path, LOWS, KEYS)
        other = tmp_path / "other"
        other.mkdir()
        spilled.path.write_bytes(Spilled(other, lows, keys).path.read_bytes())
        with pytest.raises(IntegrityError, match=NAME):
            spilled.reader()

    def test_a_row_that_changes_after_the_file_was_opened(self, tmp_path):
        spilled = Spilled(tmp_path, LOWS, KEYS)
        reader = spilled.reader()
        data = bytearray(spilled.path.read_bytes())
        data[-24 * 4 + 8] = 0  # the count of bucket 0
        spilled.path.write_bytes(data)
        with pytest.raises(IntegrityError, match="table"):
            reader.counts()
        reader.close()

    def test_more_records_than_there_is_room_for(self, tmp_path):
        spilled = Spilled(tmp_path, LOWS, KEYS)
        reader = spilled.reader()
        with pytest.raises(IntegrityError, match="segment 0"):
            reader.gather(0, np.zeros(3, np.uint32), 0)
        reader.close()

    def test_other_keys_than_were_recorded(self, tmp_path):
        spilled = Spilled(tmp_path, LOWS, KEYS)
        wrong = SpillMeta(**{**spilled.meta.to_json(), "fingerprint": 1})
        reader = SpillReader(spilled.fs, str(tmp_path), wrong, spilled.buckets)
        with pytest.raises(IntegrityError, match="not those"):
            reader.verify(spilled.buckets)
        reader.close()
