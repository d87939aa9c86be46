"""Keys: every position has one, every dense key is a position, and the words they are made of."""

from __future__ import annotations

import itertools
from math import comb, factorial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzles.blocks import automaton, bits, groups, keys, rows, tables, units
from puzzles.blocks.definition import build
from puzzles.blocks.drawing import read_drawing
from puzzles.blocks.puzzle import BlocksPuzzle
from puzzles.errors import PuzzleError
from puzzles.jit import U64
from tests.puzzles.blocks import naive
from tests.puzzles.blocks.samples import SMALL, model_of

BUDGETS = {"automaton": automaton.NODE_BUDGET, "product": 0}


def placements(model):
    """All placements, by trying every set of anchors of every kind."""
    cells = {(y, x) for y in range(model.height) for x in range(model.width)} - model.walls
    found: list[tuple[Any, frozenset]] = [((), frozenset())]
    for kind in range(len(model.kinds)):
        bodies = {c: naive.covered(model, kind, c) for c in sorted(cells)}
        legal = [c for c, body in bodies.items() if body <= cells]
        longer = []
        for done, taken in found:
            for chosen in itertools.combinations(legal, model.kinds[kind].count):
                parts = [bodies[c] for c in chosen]
                union = set().union(*parts)
                if len(union) == sum(map(len, parts)) and not union & taken:
                    longer.append(((*done, chosen), taken | union))
        found = longer
    return {placement for placement, _ in found}


@pytest.mark.parametrize("name", SMALL)
class TestSmallSpaces:
    def test_dense_keys_are_exactly_the_placements(self, name):
        model = model_of(name)
        layout = keys.layout_of(model)
        every = placements(model)
        assert layout.dense
        assert layout.key_space == len(every)
        found = {keys.placement_of(model, layout, key) for key in range(layout.key_space)}
        assert found == every
        for key in range(layout.key_space):
            assert keys.key_of(model, layout, keys.placement_of(model, layout, key)) == key

    def test_products_of_ranks_name_every_placement_once(self, name):
        model = model_of(name)
        layout = keys.layout_of(model, budget=0)
        every = placements(model)
        known = {keys.key_of(model, layout, placement): placement for placement in every}
        assert len(known) == len(every)
        for key in range(layout.key_space):
            if key in known:
                assert keys.placement_of(model, layout, key) == known[key]
            else:
                with pytest.raises(PuzzleError, match="pieces overlap"):
                    keys.placement_of(model, layout, key)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("hakoiri-basic", 65_880),
        ("hakoiri-hard", 447_539_400),
        ("sliding-digits", 4_260_000),
        ("15-puzzle-article", factorial(16)),
        ("correct-order", 8 * factorial(10)),
        ("one row of 64 cells", None),
        ("wide and over 64 cells", None),
        ("five rows high", None),
    ],
)
@pytest.mark.parametrize("how", BUDGETS)
class TestLargeSpaces:
    def test_first_last_and_others(self, name, size, how):
        model = model_of(name)
        layout = keys.layout_of(model, BUDGETS[how])
        dense = layout.dense
        if dense and size is not None:
            assert layout.key_space == size
        chosen = {0, layout.key_space - 1} if dense else set()
        chosen |= set(range(0, layout.key_space, layout.key_space // 50)) if dense else set()
        chosen.add(keys.key_of(model, layout, model.start))
        for key in chosen:
            placement = keys.placement_of(model, layout, key)
            assert keys.key_of(model, layout, placement) == key
        assert keys.placement_of(model, layout, keys.key_of(model, layout, model.start)) == (
            model.start
        )

    def test_keys_out_of_range(self, name, size, how):
        model = model_of(name)
        layout = keys.layout_of(model, BUDGETS[how])
        for key in (-1, layout.key_space):
            with pytest.raises(PuzzleError, match=f"is not in 0 to {layout.key_space - 1}"):
                keys.placement_of(model, layout, key)


def test_a_puzzle_with_too_many_positions_is_refused_with_the_bits_it_needs():
    letters = "abcdefghijklmnopqrstuvwxyz"
    row = letters[:8]
    board = "\n".join([letters[:8], letters[8:16], letters[16:24], *["." * 8] * 5])
    model = build(read_drawing(f"{board}\n\n{board}", "test"))
    needed = (factorial(64) // factorial(40)).bit_length()
    with pytest.raises(PuzzleError, match=f"need {needed} bits, and there are 64"):
        BlocksPuzzle(model)
    assert len(row) == 8


def test_large_automata_are_left_off():
    model = model_of("hakoiri-hard")
    assert keys.layout_of(model, budget=1000).machine is None
    machine: Any = keys.layout_of(model).machine
    assert rows.build(machine, model.width, model.height, budget=100) is None
    made = rows.build(machine, model.width, model.height)
    assert made is not None
    assert made.edges > 100


class TestSubsets:
    def test_ranks_are_colexicographic_and_without_gaps(self):
        for size, count in [(6, 3), (5, 0), (5, 5), (7, 1)]:
            subsets = sorted(
                itertools.combinations(range(size), count), key=lambda members: members[::-1]
            )
            assert [units.rank(members) for members in subsets] == list(range(len(subsets)))
            assert [units.members(i, count, size) for i in range(len(subsets))] == [
                list(members) for members in subsets
            ]

    def test_totals(self):
        assert units.total(10, [6]) == comb(10, 6)
        assert units.total(5, [1, 1, 1]) == 60
        assert units.total(9, []) == 1
        assert units.weights(5, [1, 2]) == [6, 1]

    @pytest.mark.kernels
    @given(st.sets(st.integers(0, 63)))
    def test_the_kernels_ranks(self, members):
        made: Any = tables.build(*with_layout("many free cells"))
        t, data = made.tables, made.data
        rank = units.rank(sorted(members)) % (1 << 64)
        word = U64(sum(1 << member for member in members))
        assert rank_of(t, data, word) == rank
        if rank == units.rank(sorted(members)):
            assert set_of(t, data, U64(rank), U64(len(members)), U64(64)) == word


MODELS: dict = {}


def with_layout(name):
    if name not in MODELS:
        model = model_of(name)
        puzzle = BlocksPuzzle(model, use_symmetry=False)
        MODELS[name] = (model, puzzle.layout, puzzle.symmetries)
    return MODELS[name]


def rank_of(t, data, members):
    return int(groups.subset_rank(t, data, members))


def set_of(t, data, rank, count, size):
    return U64(groups.subset_of(t, data, rank, count, size))


@pytest.mark.kernels
class TestBits:
    @given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
    def test_extract_and_deposit(self, value, mask):
        places = [i for i in range(64) if mask >> i & 1]
        packed = sum((value >> place & 1) << i for i, place in enumerate(places))
        spread = sum((value >> i & 1) << place for i, place in enumerate(places))
        word, which = U64(value), U64(mask)
        for extract in (bits.extract_loop, call_extract):
            assert int(extract(word, which)) == packed
        for deposit in (bits.deposit_loop, call_deposit):
            assert int(deposit(word, which)) == spread
        assert int(call_popcount(word)) == value.bit_count()

    @given(st.integers(0, 2**64 - 1), st.integers(1, 63))
    def test_turned(self, value, shift):
        assert int(bits.turned(U64(value), U64(shift))) == (
            value >> shift | value << (64 - shift)
        ) % (1 << 64)


@bits.inlined
def call_extract(value, mask):
    return bits.extract(value, mask)


@bits.inlined
def call_deposit(value, mask):
    return bits.deposit(value, mask)


@bits.inlined
def call_popcount(value):
    return bits.popcount(value)


def test_arrays_of_the_automaton():
    machine = keys.layout_of(model_of("hakoiri-basic")).machine
    assert machine is not None
    assert (np.diff(machine.place.astype(int)) >= 0).all()
    assert machine.place[-1] == 20
    real = machine.offset != automaton.NO_EDGE
    nodes = np.arange(len(machine.place))
    assert (machine.after > nodes[:, None])[real].all()
