"""Runs: building them in pieces, what is recorded of them, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import UnknownVersion
from store.index import CACHED_ROWS, CACHED_RUNS, IndexCache, RunIndex
from store.layer import Scratch, verify_run
from store.pages import PAGE, whole
from store.run import META, RunBuilder, RunMeta
from tests.store import naive_codec as naive
from tests.store.key_sets import TOP, array, ascending
from tests.store.run_bytes import blocks_of, build, layer_of

SCRATCH = Scratch()


def keys_in(meta: RunMeta, data: bytes) -> list[int]:
    layer = layer_of((meta, data))
    return [key for view in layer.read_blocks(0, layer.blocks, SCRATCH) for key in view.tolist()]


@given(ascending(), st.integers(1, 40), st.data())
def test_pieces_of_any_size_make_the_same_run(
    keys: list[int], block_keys: int, data: st.DataObject
) -> None:
    meta, whole = build(keys, block_keys=block_keys)
    builder = RunBuilder(block_keys)
    builder.append(array(keys[:1]))  # a run begun and given up leaves nothing behind
    builder.begin()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(keys)), max_size=9)))
    for begin, end in pairwise([0, *cuts, len(keys)]):
        builder.append(array(keys[begin:end]))
    other, view = builder.finish()
    assert (other, bytes(view)) == (meta, whole)


@given(ascending(), st.integers(1, 40), st.sampled_from(["fast", "swift", "compact"]))
def test_the_record_is_true(keys: list[int], block_keys: int, profile: str) -> None:
    meta, data = build(keys, block_keys=block_keys, profile=profile)
    assert meta.count == len(keys)
    assert (meta.first, meta.last) == (keys[0], keys[-1])
    assert meta.fingerprint == naive.fingerprint(keys)
    assert meta.length == len(data)
    assert meta.blocks == -(-len(keys) // block_keys) == len(blocks_of(meta, data))
    assert keys_in(meta, data) == keys
    verify_run(layer_of((meta, data)), 0, SCRATCH)


def test_a_run_without_keys_has_no_bytes() -> None:
    meta, data = build([])
    assert (meta.count, meta.blocks, meta.length, data) == (0, 0, 0, b"")
    assert keys_in(meta, data) == []
    meta.check()


def test_a_builder_is_used_again() -> None:
    builder = RunBuilder(block_keys=4)
    runs = []
    for start in (0, 100, 7):
        builder.begin()
        builder.append(array(list(range(start, start + 10))))
        meta, view = builder.finish()
        runs.append((meta, bytes(view)))
    assert [keys_in(*run) for run in runs] == [list(range(s, s + 10)) for s in (0, 100, 7)]


def test_swapped_bytes_outlive_one_run_more() -> None:
    builder = RunBuilder(block_keys=64)
    runs: list[tuple[RunMeta, memoryview]] = []
    for start in range(0, 9000, 1500):
        builder.begin()
        builder.append(array(list(range(start, start + 10 + start))))
        runs.append(builder.finish())
        builder.swap()
        for meta, view in runs[-2:]:
            assert keys_in(meta, bytes(view)) == list(range(meta.first, meta.last + 1))


def test_the_builder_knows_the_index_it_wrote() -> None:
    builder = RunBuilder(block_keys=64)
    for size in (1, 5000, 600):
        builder.begin()
        builder.append(array([7 * i for i in range(size)]))
        meta, data = builder.finish()
        index = builder.index()
        read = RunIndex(meta, np.frombuffer(data[meta.index_offset :], np.uint8))
        builder.begin()
        builder.append(array(list(range(10_000))))  # over the bytes that it was made of
        for name in ("firsts", "offsets", "counts", "checks"):
            mine, other = getattr(index, name), getattr(read, name)
            assert mine.dtype == other.dtype
            assert mine.tolist() == other.tolist()


def test_pages_are_the_run_and_zeros() -> None:
    builder = RunBuilder(block_keys=64)
    for size in (5000, 3, 600):  # a shorter one leaves nothing of the one before
        builder.begin()
        builder.append(array([7 * i for i in range(size)]))
        _, view = builder.finish()
        data = bytes(view)
        pages = builder.pages()
        assert pages.size == whole(len(data))
        assert pages.ctypes.data % PAGE == 0
        assert bytes(pages.data) == data.ljust(pages.size, b"\0")


def test_appended_keys_may_be_overwritten_at_once() -> None:
    builder = RunBuilder(block_keys=8)
    keys = array([1, 2, 3, 4, 5])
    builder.append(keys)
    keys[:] = 99
    meta, view = builder.finish()
    assert keys_in(meta, bytes(view)) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "pieces",
    [
        [[3, 3]],
        [[3, 2]],
        [[1, 2], [2, 3]],
        [[5], [4]],
        [[0], [0]],
        [[2**64 - 1]],
        [[1, 2**64 - 1]],
        [[*range(50), 20, *range(50, 90)]],
    ],
)
def test_keys_that_do_not_ascend_are_refused(pieces: list[list[int]]) -> None:
    builder = RunBuilder(block_keys=16)
    for piece in pieces[:-1]:
        builder.append(array(piece))
    with pytest.raises(ValueError, match="ascend strictly"):
        builder.append(array(pieces[-1]))


def test_the_greatest_key_is_kept() -> None:
    assert keys_in(*build([0, TOP])) == [0, TOP]


def test_payload_goes_with_the_keys_in_pieces() -> None:
    rng = np.random.default_rng(5)
    keys = np.cumsum(rng.integers(1, 50, 1000, dtype=np.uint64))
    payload = rng.integers(0, 2**16, 1000, dtype=np.uint16)
    builder = RunBuilder(block_keys=64, payload_bits=16)
    for at in range(0, 1000, 77):
        builder.append(keys[at : at + 77], payload[at : at + 77])
    meta, view = builder.finish()
    assert meta.fingerprint == naive.fingerprint(keys.tolist())
    assert meta.record_fingerprint == naive.record_fingerprint(keys.tolist(), payload.tolist())
    layer = layer_of((meta, bytes(view)))
    verify_run(layer, 0, SCRATCH)
    records = [(k.copy(), p.copy()) for k, p in layer.read_records(0, layer.blocks, SCRATCH)]
    assert np.concatenate([k for k, _ in records]).tolist() == keys.tolist()
    assert np.concatenate([p for _, p in records]).tolist() == payload.tolist()


@pytest.mark.parametrize(("bits", "payload"), [(8, None), (0, [1, 2]), (8, [1]), (8, [1, 2, 3])])
def test_payload_must_match(bits: int, payload: Any) -> None:
    with pytest.raises(ValueError, match="bits of payload with every key"):
        build([1, 2], payload, payload_bits=bits)


def test_payload_must_fit_its_width() -> None:
    with pytest.raises(ValueError, match="256 does not fit 8 bits"):
        build([1, 2], [1, 256], payload_bits=8)


@pytest.mark.parametrize("block_keys", [0, -1, 131_073])
def test_block_sizes_are_bounded(block_keys: int) -> None:
    with pytest.raises(ValueError, match="1 to 131072"):
        RunBuilder(block_keys)


class TestRecord:
    META = build([3, 5, 8, 1000, 2000], [1, 2, 3, 4, 5], block_keys=2, payload_bits=8)[0]

    def test_is_packed_and_unpacked(self) -> None:
        for meta in (self.META, self.META.placed("layer-0009-a", 2**40), build([])[0]):
            assert RunMeta.unpack(meta.pack()) == meta

    @pytest.mark.parametrize(
        "fields",
        [
            {"count": 0},
            {"count": 2},
            {"count": 2**63},
            {"blocks": 0},
            {"blocks": 4},
            {"blocks": 2**32 - 1},
            {"last": 6},
            {"last": 2**64 - 1},
            {"first": 2001},
            {"length": 5},
            {"length": 2**63},
            {"index_offset": 0},
            {"offset": 2**63},
            {"payload_bits": 5},
            {"payload_bits": 0},
        ],
    )
    def test_that_contradicts_itself_is_refused(self, fields: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"record|payload"):
            RunMeta.unpack(replace(self.META, **fields).pack())

    def test_of_another_version_is_refused_by_name(self) -> None:
        with pytest.raises(UnknownVersion, match="a run has format version 9"):
            RunMeta.unpack(b"\x09" + self.META.pack()[1:])

    def test_cut_short_or_too_long_is_refused(self) -> None:
        data = self.META.placed("name", 0).pack()
        for length in range(len(data)):
            with pytest.raises(ValueError, match="record"):
                RunMeta.unpack(data[:length])
        with pytest.raises(ValueError, match="record"):
            RunMeta.unpack(data + b"x")

    def test_with_a_name_that_is_not_text_is_refused(self) -> None:
        data = self.META.placed("name", 0).pack()[: META.size] + b"\xff\xfe\xff\xfe"
        with pytest.raises(ValueError, match="utf-8"):
            RunMeta.unpack(data)


class TestIndexCache:
    def filled(self, runs: int, blocks: int) -> tuple[IndexCache, list[int]]:
        meta, data = build(range(blocks), block_keys=1)
        index = RunIndex(meta, np.frombuffer(data[meta.index_offset :], np.uint8))
        loads: list[int] = []

        def load(run: int) -> RunIndex:
            loads.append(run)
            return index

        cache = IndexCache(load)
        for run in range(runs):
            cache.get(run)
        return cache, loads

    def test_reads_each_index_once_while_there_is_room(self) -> None:
        cache, loads = self.filled(10, 3)
        for run in range(10):
            cache.get(run)
        assert loads == list(range(10))
        cache.forget(4)
        cache.get(4)
        assert loads == [*range(10), 4]

    def test_does_not_read_what_is_known(self) -> None:
        meta, data = build(range(3), block_keys=1)
        index = RunIndex(meta, np.frombuffer(data[meta.index_offset :], np.uint8))
        loads: list[int] = []

        def load(run: int) -> RunIndex:
            loads.append(run)
            return index

        cache = IndexCache(load, {4: index})
        cache.get(4)
        assert loads == []
        cache.forget(4)
        cache.get(4)
        assert loads == [4]

    @pytest.mark.parametrize(("runs", "blocks"), [(CACHED_RUNS + 10, 1), (70, CACHED_ROWS // 64)])
    def test_lets_the_longest_unused_go(self, runs: int, blocks: int) -> None:
        cache, loads = self.filled(runs, blocks)
        assert len(loads) == runs
        cache.get(runs - 1)
        assert len(loads) == runs
        cache.get(0)
        assert loads[-1] == 0
