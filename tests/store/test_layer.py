"""Layers: reading, cutting, looking up; and every way in which their bytes can be wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import IntegrityError, UnknownVersion
from store.layer import Layer, Scratch, verify_run
from store.run import RunMeta
from tests.store import naive_codec as naive
from tests.store.key_sets import TOP, array, ascending
from tests.store.run_bytes import Memory, blocks_of, build, layer_of, reheaded, sealed

SCRATCH = Scratch()


def split(keys: list[int], cuts: list[int], block_keys: int) -> Layer:
    """The keys as runs which are cut at the given positions; some runs are empty, some inline."""
    metas: list[RunMeta] = []
    inline = {}
    file = b"some bytes of something else"
    for number, (begin, end) in enumerate(pairwise([0, *sorted(cuts), len(keys)])):
        meta, data = build(keys[begin:end], block_keys=block_keys)
        if number % 2:
            inline[number] = data
        else:
            meta = meta.placed("layer", len(file))
            file += data
        metas.append(meta)
    return Layer(Memory({"layer": file}), 3, metas, inline)


def all_keys(views: Iterator[np.ndarray]) -> list[int]:
    return [key for view in views for key in view.tolist()]


@st.composite
def layers(draw: st.DrawFn) -> tuple[list[int], Layer]:
    keys = draw(ascending())
    cuts = draw(st.lists(st.integers(0, len(keys)), max_size=5))
    return keys, split(keys, cuts, draw(st.integers(1, 20)))


class TestReading:
    @given(layers(), st.data())
    def test_blocks_are_the_keys_in_order(
        self, case: tuple[list[int], Layer], data: st.DataObject
    ) -> None:
        keys, layer = case
        assert (layer.count, layer.first, layer.last) == (len(keys), keys[0], keys[-1])
        assert layer.fingerprint == naive.fingerprint(keys)
        blocks = [view.tolist() for view in layer.read_blocks(0, layer.blocks, SCRATCH)]
        assert len(blocks) == layer.blocks
        assert [key for block in blocks for key in block] == keys
        start = data.draw(st.integers(0, layer.blocks))
        stop = data.draw(st.integers(start, layer.blocks))
        part = [view.tolist() for view in layer.read_blocks(start, stop, SCRATCH)]
        assert part == blocks[start:stop]

    @given(layers())
    def test_weights_tell_first_key_and_count_of_every_block(
        self, case: tuple[list[int], Layer]
    ) -> None:
        _, layer = case
        firsts, counts = layer.weights()
        blocks = [view.tolist() for view in layer.read_blocks(0, layer.blocks, SCRATCH)]
        assert firsts.tolist() == [block[0] for block in blocks]
        assert counts.tolist() == [len(block) for block in blocks]

    @given(layers(), st.data())
    def test_ranges_are_slices(self, case: tuple[list[int], Layer], data: st.DataObject) -> None:
        keys, layer = case
        bound = st.one_of(
            st.integers(0, 2**64), st.sampled_from([k + d for k in keys for d in (-1, 0, 1)])
        )
        low, high = data.draw(bound), data.draw(bound)
        views = [view.tolist() for view in layer.read_range(low, high, SCRATCH)]
        assert all(views)
        assert [k for view in views for k in view] == [k for k in keys if low <= k < high]

    @given(ascending(), st.integers(1, 20), st.sampled_from([8, 16, 32]), st.data())
    def test_ranges_of_records_are_slices(
        self, keys: list[int], block_keys: int, bits: int, data: st.DataObject
    ) -> None:
        payload = [key * key % 251 << bits - 8 for key in keys]
        records = dict(zip(keys, payload, strict=True))
        half = len(keys) // 2
        options = {"block_keys": block_keys, "payload_bits": bits}
        layer = layer_of(
            *(
                build(part, [records[key] for key in part], **options)
                for part in (keys[:half], keys[half:])
            )
        )
        assert layer.record_fingerprint == naive.record_fingerprint(keys, payload)
        bound = st.one_of(
            st.integers(0, 2**64), st.sampled_from([k + d for k in keys for d in (-1, 0, 1)])
        )
        low, high = data.draw(bound), data.draw(bound)
        found: list[tuple[int, int]] = []
        for view, column in layer.read_range_records(low, high, SCRATCH):
            assert view.size > 0
            found += zip(view.tolist(), column.tolist(), strict=True)
        assert found == [(k, v) for k, v in records.items() if low <= k < high]

    @given(layers(), st.lists(st.integers(0, TOP), max_size=20), st.randoms())
    def test_contains_is_membership(
        self, case: tuple[list[int], Layer], strangers: list[int], random: np.random.Generator
    ) -> None:
        keys, layer = case
        asked = [*keys, *strangers, *(k + 1 for k in keys), *keys[:3], 0, 2**64 - 1]
        random.shuffle(asked)
        members = set(keys)
        assert layer.contains(array(asked)).tolist() == [key in members for key in asked]

    def test_lookup_gives_the_payload(self) -> None:
        keys = [3 * i * i for i in range(1, 500)]
        meta, data = build(keys, [i % 251 for i in range(1, 500)], block_keys=32, payload_bits=8)
        found, payload = layer_of((meta, data)).lookup(array([12, 13, 27, 0, 3 * 499 * 499]))
        assert found.tolist() == [True, False, True, False, True]
        assert payload.tolist() == [2, 0, 3, 0, 499 % 251]

    def test_a_layer_without_keys(self) -> None:
        for layer in (Layer(Memory(), 0, []), split([], [0, 0], 4)):
            assert (layer.count, layer.blocks, layer.bytes) == (0, 0, 0)
            assert all_keys(layer.read_blocks(0, 0, SCRATCH)) == []
            assert all_keys(layer.read_range(0, 2**64, SCRATCH)) == []
            assert layer.contains(array([0, 5])).tolist() == [False, False]
            assert layer.weights()[0].size == 0

    @pytest.mark.parametrize(("start", "stop"), [(-1, 1), (0, 6), (3, 2)])
    def test_blocks_that_are_not_there(self, start: int, stop: int) -> None:
        layer = split(list(range(10)), [], 2)
        with pytest.raises(ValueError, match="of a layer with 5"):
            list(layer.read_blocks(start, stop, SCRATCH))

    def test_several_blocks_are_read_at_once(self) -> None:
        meta, data = build(range(0, 10**6, 3), block_keys=100)
        source = Memory({"f": data})
        layer = Layer(source, 0, [meta.placed("f", 0)])
        assert sum(view.size for view in layer.read_blocks(0, layer.blocks, SCRATCH)) == meta.count
        assert source.reads <= 2 + len(data) // 900_000 + 1
        source.reads = 0
        layer.contains(array([300, 301, 302]))
        assert source.reads == 1

    def test_a_scratch_serves_one_reader_at_a_time(self) -> None:
        layer = split(list(range(100)), [], 10)
        one = layer.read_blocks(0, 10, SCRATCH)
        two = layer.read_blocks(0, 10, SCRATCH)
        next(one)
        next(two)
        with pytest.raises(RuntimeError, match="one reader at a time"):
            next(one)

    def test_threads_share_a_layer(self) -> None:
        keys = [i * i for i in range(5000)]
        layer = split(keys, [1000, 2000, 3000], 64)
        results: list[list[int]] = []

        def read() -> None:
            results.append(all_keys(layer.read_blocks(0, layer.blocks, Scratch())))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [keys] * 4


KEYS = [2, 3, 5, 7, 11, 13, 1000, 1001, 2**40, 2**41]
META, DATA = build(KEYS, list(range(10)), block_keys=4, payload_bits=8)


def read_all(meta: RunMeta, data: bytes) -> list[int]:
    """Everything there is to read of a run, as three readers would."""
    layer = Layer(Memory({"layer": data}), 7, [meta.placed("layer", 0)])
    keys: list[int] = []
    for view, payload in layer.read_records(0, layer.blocks, SCRATCH):
        assert payload.tolist() == list(range(len(keys), len(keys) + view.size))
        keys += view.tolist()
    verify_run(layer, 0, SCRATCH)
    assert layer.contains(array(KEYS)).all()
    return keys


def refused(meta: RunMeta, data: bytes, block: int | str, what: str) -> None:
    with pytest.raises(IntegrityError, match=what) as error:
        read_all(meta, data)
    assert error.value.file == "layer"
    assert error.value.block == block
    assert f"block {block}" in str(error.value)


class TestDamage:
    def test_none(self) -> None:
        assert read_all(META, DATA) == KEYS

    def test_every_flipped_bit_is_found_and_named(self) -> None:
        starts = [at for at, _ in blocks_of(META, DATA)]
        for at in range(len(DATA)):
            for bit in range(8):
                bad = bytearray(DATA)
                bad[at] ^= 1 << bit
                block = sum(start <= at for start in starts) - 1
                where = "index" if at >= META.index_offset else block
                refused(META, bytes(bad), where, "checksum")

    def test_every_truncation_is_found(self) -> None:
        for length in range(len(DATA)):
            refused(META, DATA[:length], "index", "too short")

    def test_every_truncation_of_an_inline_run_is_found(self) -> None:
        for length in range(len(DATA)):
            with pytest.raises(IntegrityError, match="not as long"):
                Layer(Memory(), 7, [META], {0: DATA[:length]})
        with pytest.raises(IntegrityError, match="not as long"):
            Layer(Memory(), 7, [META])

    def test_a_file_that_is_cut_while_it_is_read(self) -> None:
        source = Memory({"layer": DATA})
        layer = Layer(source, 7, [META.placed("layer", 0)])
        layer.weights()
        source.files["layer"] = DATA[:80]
        with pytest.raises(IntegrityError, match=r"too short.*byte 0") as error:
            list(layer.read_blocks(0, 3, SCRATCH))
        assert error.value.block == 0

    def test_the_message_names_run_and_byte(self) -> None:
        first = build([1, 2])
        meta, data = build([10, 20, 30], block_keys=2)
        at = blocks_of(meta, data)[1][0]
        bad = data[: at + 30] + b"\xff" + data[at + 31 :]
        with pytest.raises(IntegrityError) as error:
            all_keys(layer_of(first, (meta, bad)).read_blocks(0, 3, SCRATCH))
        assert f"run 1, byte {len(first[1]) + at})" in str(error.value)


class TestForgery:
    """All checksums are right, and the bytes are another run's, or nobody's."""

    def other(self) -> tuple[RunMeta, bytes]:
        """A run with the same number of keys, the same first and last, the same length."""
        keys = [*KEYS]
        keys[2] = 6
        meta, data = build(keys, list(range(10)), block_keys=4, payload_bits=8)
        assert meta.length == META.length
        return meta, data

    def test_two_runs_swapped(self) -> None:
        refused(META, self.other()[1], "index", "another run")

    def test_a_block_of_another_run(self) -> None:
        (_, _), (end, _), *_ = blocks_of(META, DATA)
        refused(META, self.other()[1][:end] + DATA[end:], 0, "not the block")

    def test_two_blocks_swapped(self) -> None:
        meta, data = build([1, 2, 3, 11, 12, 13], block_keys=3)
        (_, _), (end, _) = blocks_of(meta, data)
        swapped = data[end : 2 * end] + data[:end] + data[2 * end :]
        assert len(swapped) == len(data)
        refused(meta, swapped, 0, "not the block")

    def test_a_block_sealed_again(self) -> None:
        (_, _), (end, _), *_ = blocks_of(META, DATA)
        block = DATA[: end - 4] + bytes([0, 1, 2, 9])  # other payload
        refused(META, sealed(block) + DATA[end:], 0, "not the block")

    def test_a_run_of_another_version_is_refused_by_name(self) -> None:
        index = bytearray(DATA[META.index_offset :])
        index[12] = 2
        forged = sealed(bytes(index))
        meta = replace(META, index_checksum=int.from_bytes(forged[:8], "little"))
        with pytest.raises(UnknownVersion, match="a run has format version 2"):
            read_all(meta, DATA[: META.index_offset] + forged)

    @pytest.mark.parametrize(
        ("at", "value"),
        [
            (8, b"zidx"),
            (13, b"\x10"),
            (14, b"\x01"),
            (16, b"\x02\x00\x00\x00"),
            (24, (3).to_bytes(8, "little")),  # first key
            (24 + 8, (1).to_bytes(8, "little")),  # offset of block 0
            (48 + 8, (0).to_bytes(8, "little")),  # offsets: block 0 has no bytes
            (48 + 8, (2**40).to_bytes(8, "little")),
            (72 + 8, (2**64 - 1).to_bytes(8, "little")),
            (48, (2**41).to_bytes(8, "little")),  # first keys do not ascend
            (72, (2**41 + 1).to_bytes(8, "little")),  # beyond the last key
            (24 + 16, (5).to_bytes(4, "little")),  # counts do not add up
        ],
    )
    def test_a_forged_index_is_refused(self, at: int, value: bytes) -> None:
        index = DATA[META.index_offset :]
        forged = sealed(index[:at] + value + index[at + len(value) :])
        meta = replace(META, index_checksum=int.from_bytes(forged[:8], "little"))
        with pytest.raises(IntegrityError):
            read_all(meta, DATA[: META.index_offset] + forged)

    def test_a_forged_block_that_reaches_into_the_next(self) -> None:
        meta, data = build([1, 2, 3, 4, 11, 12, 13, 14], block_keys=4)
        (_, header), (end, _) = blocks_of(meta, data)
        block = reheaded(data[:end], last=header.first + 12)
        block = sealed(block[:56] + (0b1000000000111).to_bytes(8, "little"))
        index = bytearray(data[meta.index_offset :])
        index[24 + 20 : 24 + 24] = block[:4]
        forged = sealed(bytes(index))
        meta = replace(meta, index_checksum=int.from_bytes(forged[:8], "little"))
        refused(meta, block + data[end : meta.index_offset] + forged, 0, "not the block")

    def test_a_wrong_fingerprint_is_found_by_verify(self) -> None:
        meta = replace(META, fingerprint=META.fingerprint ^ 1)
        layer = layer_of((meta, DATA))
        with pytest.raises(IntegrityError, match="not those that were recorded"):
            verify_run(layer, 0, SCRATCH)

    def test_a_wrong_record_fingerprint_is_found_by_verify(self) -> None:
        layer = layer_of((replace(META, record_fingerprint=META.record_fingerprint ^ 1), DATA))
        with pytest.raises(IntegrityError, match="payload is not the one that was recorded"):
            verify_run(layer, 0, SCRATCH)

    def test_a_huge_index_takes_no_memory(self) -> None:
        blocks = 2**32 - 1
        meta = replace(
            META,
            count=blocks,
            blocks=blocks,
            last=TOP,
            index_offset=2**40,
            length=2**40 + 24 + 24 * blocks,
        )
        refused(meta, DATA, "index", "too short")

    def test_runs_that_overlap_are_refused(self) -> None:
        for second in ([2, 9], [3, 9], [4, 9]):
            with pytest.raises(IntegrityError, match="overlap"):
                layer_of(build([1, 2, 4]), build(second))

    def test_a_record_that_contradicts_itself_is_refused(self) -> None:
        with pytest.raises(IntegrityError, match="contradict"):
            layer_of((replace(META, blocks=11), DATA))
