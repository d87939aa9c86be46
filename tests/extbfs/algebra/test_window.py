"""The window on a layer: what it holds of any ranges is what reading them gives."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extbfs.algebra.window import Overfull, Window
from store.layer import Layer, Scratch
from tests.store.run_bytes import build, layer_of

KEYS = sorted({(i * i * 7) % 2003 for i in range(400)})


def layer() -> Layer:
    """Three runs, blocks of ten records; the payload is three times the key."""
    parts = [KEYS[:95], KEYS[95:100], KEYS[100:]]
    return layer_of(
        *(
            build(part, payload=[3 * key for key in part], payload_bits=32, block_keys=10)
            for part in parts
        )
    )


def load(window: Window, layer: Layer, low: int, high: int, scratch: Scratch) -> tuple[int, int]:
    before = layer.keys_before().tolist()
    return window.load(layer, layer.blocks_of(low, high), before, (low, high), scratch)


LAYER = layer()
RANGES = st.lists(st.integers(0, 2100), min_size=2, max_size=12)


def check(window: Window, scratch: Scratch, low: int, high: int) -> None:
    begin, end = load(window, LAYER, low, high, scratch)
    expected = [key for key in KEYS if low <= key < high]
    assert window.keys[begin:end].tolist() == expected
    assert window.payload[begin:end].tolist() == [3 * key for key in expected]


class TestWindow:
    @given(RANGES)
    def test_neighbouring_ranges(self, bounds):
        window, scratch = Window(len(KEYS) + 20, 4), Scratch()
        bounds = sorted(bounds)
        for low, high in itertools.pairwise(bounds):
            check(window, scratch, low, high)

    @given(RANGES, st.booleans())
    def test_any_ranges(self, bounds, forget):
        window, scratch = Window(len(KEYS) + 20, 4), Scratch()
        for low, high in itertools.pairwise(bounds):
            check(window, scratch, min(low, high), max(low, high))
            if forget:
                window.forget()

    def test_neighbours_share_a_block_that_is_read_once(self, monkeypatch):
        read: list[tuple[int, int]] = []
        inner = Layer.read_into

        def read_into(layer, start, stop, *rest):
            read.append((start, stop))
            inner(layer, start, stop, *rest)

        monkeypatch.setattr(Layer, "read_into", read_into)
        window, scratch = Window(100, 4), Scratch()
        bounds = [0, *KEYS[5::17], 2100]
        for low, high in itertools.pairwise(bounds):
            check(window, scratch, low, high)
        blocks = [block for start, stop in read for block in range(start, stop)]
        assert blocks == list(range(LAYER.blocks))

    def test_too_many_records_and_then_fewer(self):
        window, scratch = Window(45, 4), Scratch()
        with pytest.raises(Overfull):
            load(window, LAYER, 0, 2100, scratch)
        check(window, scratch, 0, KEYS[20])
        check(window, scratch, KEYS[20], KEYS[40])
        with pytest.raises(Overfull):
            load(window, LAYER, KEYS[40], KEYS[100], scratch)
        check(window, scratch, KEYS[40], KEYS[70])

    def test_another_layer_is_not_mistaken(self):
        window, scratch = Window(len(KEYS) + 20, 4), Scratch()
        load(window, LAYER, 0, KEYS[15], scratch)
        other = layer_of(build(range(2003), payload=[7] * 2003, payload_bits=32, block_keys=10))
        begin, end = load(window, other, KEYS[15], KEYS[15] + 30, scratch)
        assert window.keys[begin:end].tolist() == list(range(KEYS[15], KEYS[15] + 30))
        assert set(window.payload[begin:end].tolist()) == {7}
