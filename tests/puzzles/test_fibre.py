"""The fibres of sliding tiles equal their naive twin: moves of states, one at a time, on boards."""

from __future__ import annotations

import random
import threading
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzles.contract import BasePuzzle, adapt
from puzzles.errors import PuzzleError
from puzzles.fibre import MOST_BITS, MOST_EDGES, MOST_PLACES, Fibre
from puzzles.jit import U64, kernel
from puzzles.jit import bit_plane as plane_of
from puzzles.jit import ctz64 as ctz
from puzzles.tiles import fibre_kernels
from puzzles.tiles.family import FAMILY
from tests import helpers_numba
from tests.fakes import walks
from tests.puzzles import naive_tiles

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow encountered")]

TINY = ["2x2", "2x3", "3x2"]
SMALL = [*TINY, "2x4", "4x2", "3x3"]
BIG = ["3x4", "4x3", "2x7", "3x5", "4x4", "2x8", "4x5", "5x4", "3x6", "2x10", "10x2"]
LINES = ["1x1", "1x2", "2x1", "1x7", "1x20"]


@cache
def puzzle_of(size, goal="last"):
    return FAMILY.from_text(size, goal=goal)


def fibre_of(size, goal="last"):
    fibre = puzzle_of(size, goal).fibre
    assert fibre is not None
    return fibre


def expand(fibre, keys, pending, side):
    """For each edge the list of keys reached through it."""
    out = np.empty(len(keys) * fibre.edges, dtype=np.uint64)
    counts = np.full(fibre.edges, 99, dtype=np.uint64)
    keys, pending = np.array(keys, dtype=np.uint64), np.array(pending, dtype=np.uint32)
    written = fibre.expand(keys, pending, len(keys), side, out, counts)
    assert written == counts.sum()
    groups = np.split(out[:written], np.cumsum(counts[:-1]).astype(np.int64))
    return [group.tolist() for group in groups] if fibre.edges else []


def through(fibre, edge, keys, side):
    """The keys that `keys` lead to through one edge."""
    return expand(fibre, keys, [1 << edge] * len(keys), side)[edge]


def places_in(fibre, side, mask):
    return [int(s) for bit, s in enumerate(fibre.place_of[side]) if mask >> bit & 1]


def edges_in(mask):
    return [edge for edge in range(MOST_EDGES) if mask >> edge & 1]


def neighbours(fibre, keys):
    """For each state over `keys` the set of states that the fibre says are one move away."""
    moved = {
        (edge, side): through(fibre, edge, keys, side)
        for edge in range(fibre.edges)
        for side in (0, 1)
    }
    for i, key in enumerate(keys):
        for place in range(fibre.places):
            side, mask = int(fibre.side_of[place]), 1 << int(fibre.bit_of[place])
            near = {(key, s) for s in places_in(fibre, 1 - side, int(fibre.free[side][mask]))}
            for edge in edges_in(int(fibre.incident[side][mask])):
                end = fibre.place_of[1 - side][fibre.edge_bit[1 - side, edge]]
                near.add((moved[edge, side][i], int(end)))
            yield key * fibre.places + place, {k * fibre.places + s for k, s in near}


def some_keys(fibre, many):
    many = many if helpers_numba.JIT else 2
    luck = random.Random(5)
    ends = [*range(3), *range(max(0, fibre.key_space - 3), fibre.key_space)]
    return sorted({*ends, *(luck.randrange(fibre.key_space) for _ in range(many))})


@pytest.mark.parametrize("goal", ["last", "first"])
class TestNeighboursEqualTheTwin:
    def compare(self, size, goal, keys):
        puzzle = puzzle_of(size, goal)
        rows, columns = puzzle.geometry.rows, puzzle.geometry.columns
        for state, near in neighbours(fibre_of(size, goal), keys):
            twins = naive_tiles.successors(puzzle.layout_of(state), rows, columns, "single")
            assert near == {puzzle.key_of(twin) for twin in twins}, state

    @pytest.mark.parametrize("size", [*LINES, *TINY])
    def test_every_key_of_a_small_board(self, size, goal):
        self.compare(size, goal, range(fibre_of(size, goal).key_space))

    @pytest.mark.parametrize("size", ["2x4", "4x2", "3x3"])
    def test_every_key_of_a_medium_board(self, size, goal):
        whole = helpers_numba.JIT and (size, goal) not in (("3x3", "first"), ("4x2", "first"))
        self.compare(size, goal, range(0, fibre_of(size, goal).key_space, 1 if whole else 397))

    @pytest.mark.parametrize("size", BIG)
    def test_random_first_and_last_keys_of_a_big_board(self, size, goal):
        self.compare(size, goal, some_keys(fibre_of(size, goal), 40))


@pytest.mark.parametrize("size", [*LINES, *SMALL, *BIG])
class TestTables:
    def test_places_have_a_side_and_a_bit(self, size):
        fibre = fibre_of(size)
        assert isinstance(fibre, Fibre)
        assert fibre.key_space * fibre.places == puzzle_of(size).key_space
        for side in (0, 1):
            assert fibre.side_of[fibre.place_of[side]].tolist() == [side] * len(
                fibre.place_of[side]
            )
            assert fibre.bit_of[fibre.place_of[side]].tolist() == list(
                range(len(fibre.place_of[side]))
            )
        assert sum(map(len, fibre.place_of)) == fibre.places

    def test_they_are_as_short_as_promised(self, size):
        fibre = fibre_of(size)
        sides = [len(fibre.place_of[side]) for side in (0, 1)]
        assert max(sides) <= MOST_PLACES
        assert fibre.edges <= MOST_EDGES
        assert sum(sides) + fibre.edges <= MOST_BITS
        rows, columns = map(int, size.split("x"))
        assert fibre.edges == (rows - 1) * (columns - 1)
        assert fibre.edge_bit.shape == (2, fibre.edges)
        assert fibre.side_of.dtype == fibre.bit_of.dtype == fibre.edge_bit.dtype == np.uint8
        assert all(fibre.place_of[side].dtype == np.uint8 for side in (0, 1))

    def test_free_is_the_union_of_the_places_beside_each_place(self, size):
        fibre = fibre_of(size)
        for side in (0, 1):
            assert fibre.free[side].dtype == np.uint16
            assert len(fibre.free[side]) == 1 << len(fibre.place_of[side])
            for mask in range(0, len(fibre.free[side]), 1 if helpers_numba.JIT else 37):
                here = places_in(fibre, side, mask)
                beside = {
                    s + step for s in here for step in (-1, 1) if 0 <= s + step < fibre.places
                }
                there = places_in(fibre, 1 - side, int(fibre.free[side][mask]))
                assert there == sorted(beside)

    def test_incident_is_the_set_of_edges_with_an_end_in_the_mask(self, size):
        fibre = fibre_of(size)
        for side in (0, 1):
            assert fibre.incident[side].dtype == np.uint16
            assert len(fibre.incident[side]) == 1 << len(fibre.place_of[side])
            for mask in range(0, len(fibre.incident[side]), 1 if helpers_numba.JIT else 37):
                ends = [mask >> int(bit) & 1 for bit in fibre.edge_bit[side]]
                expected = [edge for edge, inside in enumerate(ends) if inside]
                assert edges_in(int(fibre.incident[side][mask])) == expected

    def test_an_edge_is_an_involution_between_its_ends(self, size):
        fibre = fibre_of(size)
        keys = some_keys(fibre, 50)
        for edge in range(fibre.edges):
            there = through(fibre, edge, keys, 0)
            assert through(fibre, edge, there, 1) == keys
            assert all(key != moved for key, moved in zip(keys, there, strict=True))

    def test_edges_stay_in_ranges_of_their_span(self, size):
        fibre = fibre_of(size)
        for edge, span in enumerate(fibre.edge_span.tolist()):
            whole = [k // span for k in some_keys(fibre, 20)]
            keys = sorted({i * span + j for i in whole for j in (0, span // 2, span - 1)})
            for side in (0, 1):
                moved = through(fibre, edge, keys, side)
                assert [k // span for k in moved] == [k // span for k in keys]

    def test_spans_divide_each_other_and_the_key_space(self, size):
        spans = fibre_of(size).spans.tolist()
        assert spans[0] == fibre_of(size).key_space
        assert spans[-1] == 1
        assert all(a > b and a % b == 0 for a, b in pairwise(spans))
        assert set(fibre_of(size).edge_span.tolist()) <= set(spans)


@pytest.mark.skipif(not helpers_numba.JIT, reason="too many keys")
@pytest.mark.parametrize("size", SMALL)
def test_no_smaller_span_holds(size):
    fibre = fibre_of(size)
    keys = np.arange(fibre.key_space, dtype=np.uint64)
    for edge, span in enumerate(fibre.edge_span.tolist()):
        moved = np.array(through(fibre, edge, keys, 0), dtype=np.uint64)
        every = range(1, span) if span <= 2520 else [s for s in range(1, span) if span % s == 0]
        for smaller in map(U64, every):
            assert np.any(moved // smaller != keys // smaller), (edge, smaller)


class TestExpand:
    """Many keys at once equal one key and one edge at a time."""

    @staticmethod
    def one_by_one(fibre, keys, pending, side):
        return [
            [
                through(fibre, edge, [k], side)[0]
                for k, p in zip(keys, pending, strict=True)
                if p >> edge & 1
            ]
            for edge in range(fibre.edges)
        ]

    @given(st.data())
    def test_any_pending_edges(self, data):
        size = data.draw(st.sampled_from(["2x2", "3x3", "4x4", "2x7", "4x5"]))
        fibre = fibre_of(size)
        key = st.integers(0, fibre.key_space - 1)
        mask = st.integers(0, (1 << fibre.edges) - 1)
        some = data.draw(st.lists(st.tuples(key, mask), max_size=6))
        side = data.draw(st.integers(0, 1))
        keys, pending = [k for k, _ in some], [p for _, p in some]
        assert expand(fibre, keys, pending, side) == self.one_by_one(fibre, keys, pending, side)

    @pytest.mark.parametrize("many", [63, 64, 65, 128, 1000, 8192, 20_000])
    def test_blocks_of_any_length(self, many):
        if not helpers_numba.JIT:
            many = min(many, 130)
        fibre = fibre_of("4x4")
        luck = np.random.default_rng(many)
        keys = np.sort(luck.integers(0, fibre.key_space, many, np.uint64))
        pending = luck.integers(0, 1 << fibre.edges, many, np.uint32)
        pending[luck.random(many) < 0.3] = 0
        for side in (0, 1):
            groups = expand(fibre, keys, pending, side)
            for edge, group in enumerate(groups):
                chosen = keys[(pending >> np.uint32(edge) & np.uint32(1)) != 0]
                expected = [
                    k
                    for i in range(0, len(chosen), 50)
                    for k in through(fibre, edge, chosen[i : i + 50], side)
                ]
                assert group == expected

    def test_only_the_first_n_keys_count(self):
        fibre = fibre_of("3x3")
        keys, pending = np.arange(9, dtype=np.uint64), np.full(9, 15, np.uint32)
        out, counts = np.zeros(100, np.uint64), np.zeros(4, np.uint64)
        assert fibre.expand(keys, pending, 2, 0, out, counts) == 8
        assert counts.tolist() == [2, 2, 2, 2]
        assert fibre.expand(keys, pending, 0, 0, out, counts) == 0
        assert counts.tolist() == [0, 0, 0, 0]

    def test_bits_above_the_edges_mean_nothing(self):
        fibre = fibre_of("3x3")
        high = 0xFFFFFFF0
        keys = list(range(70))
        assert expand(fibre, keys, [high | 5] * 70, 1) == expand(fibre, keys, [5] * 70, 1)

    def test_room_for_what_is_pending_is_enough(self):
        fibre = fibre_of("3x3")
        keys, pending = np.arange(70, dtype=np.uint64), np.full(70, 2, np.uint32)
        counts = np.zeros(4, np.uint64)
        assert fibre.expand(keys, pending, 70, 0, np.zeros(70, np.uint64), counts) == 70
        with pytest.raises(PuzzleError, match="70 pending moves, and there is room for 69"):
            fibre.expand(keys, pending, 70, 0, np.zeros(69, np.uint64), counts)

    def test_buffers_too_short_or_of_another_type(self):
        fibre = fibre_of("3x3")
        keys, pending, four = np.zeros(9, np.uint64), np.zeros(9, np.uint32), np.zeros(4, np.uint64)
        out = np.zeros(40, np.uint64)
        with pytest.raises(PuzzleError, match="there are 9, 9 and 4"):
            fibre.expand(keys, pending, 10, 0, out, four)
        with pytest.raises(PuzzleError, match="there are 9, 9 and 3"):
            fibre.expand(keys, pending, 9, 0, out, four[:3])
        with pytest.raises(PuzzleError, match="these are uint64, int64, uint64 and uint64"):
            fibre.expand(keys, pending.astype(np.int64), 9, 0, out, four)

    def test_read_only_and_strided_keys(self):
        fibre = fibre_of("3x3")
        keys, pending = np.arange(70, dtype=np.uint64), np.full(70, 7, np.uint32)
        expected = expand(fibre, keys, pending, 0)
        frozen, masks = keys.copy(), np.repeat(pending, 2)[::2]
        frozen.flags.writeable = False
        out, counts = np.zeros(280, np.uint64), np.zeros(4, np.uint64)
        assert fibre.expand(frozen, masks, 70, 0, out, counts) == 210
        assert out[:210].tolist() == [key for group in expected for key in group]

    def test_threads_do_not_disturb_each_other(self):
        fibre = fibre_of("4x4")
        many = 5000 if helpers_numba.JIT else 20
        luck = np.random.default_rng(1)
        keys = luck.integers(0, fibre.key_space, many, np.uint64)
        pending = luck.integers(0, 512, many, np.uint32)
        expected = [expand(fibre, keys, pending, side) for side in (0, 1)]
        wrong = []

        def work(side):
            for _ in range(10):
                if expand(fibre, keys, pending, side) != expected[side]:
                    wrong.append(side)

        threads = [threading.Thread(target=work, args=(i % 2,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


class TestWhoHasAFibre:
    def test_single_tiles_only(self):
        assert FAMILY.from_text("4x4", metric="multi").fibre is None

    def test_lines_that_fit(self):
        assert FAMILY.from_text("1x21").fibre is None
        fibre_of("1x20").warm()

    def test_no_other_puzzle_by_default(self):
        assert BasePuzzle().fibre is None
        assert adapt(walks.ring).fibre is None

    def test_an_object_may_bring_its_own(self):
        class Own(BasePuzzle):
            key_space, max_successors = 24, 2
            fibre = fibre_of("2x2")

        assert adapt(Own()).fibre is Own.fibre

    def test_what_is_no_fibre_is_refused(self):
        class Own(BasePuzzle):
            key_space, max_successors = 24, 2
            fibre = 3  # type: ignore[assignment]

        with pytest.raises(PuzzleError, match=r"Own|puzzle.*fibre"):
            adapt(Own())


@kernel
def planes(words, bits, out):
    for bit in range(U64(bits)):
        out[bit] = plane_of(words, U64(1), bit)


@kernel
def zeros_below(values, out):
    for i in range(len(values)):
        out[i] = ctz(values[i])


class TestInstructions:
    @given(st.lists(st.integers(0, 2**32 - 1), min_size=65, max_size=65))
    def test_a_plane_is_one_bit_of_64_words(self, numbers):
        out = np.zeros(32, dtype=np.uint64)
        planes(np.array(numbers, dtype=np.uint32), U64(32), out)
        for bit in range(32):
            assert int(out[bit]) == sum((w >> bit & 1) << i for i, w in enumerate(numbers[1:]))

    def test_zeros_below_the_lowest_one(self):
        values = [0, *(1 << i for i in range(64)), *(3 << i for i in range(63)), 2**64 - 1]
        out = np.zeros(len(values), dtype=np.uint64)
        zeros_below(np.array(values, dtype=np.uint64), out)
        assert out.tolist() == [64, *range(64), *range(63), 0]


@pytest.mark.skipif(not helpers_numba.JIT, reason="nothing is typed without the JIT")
@pytest.mark.parametrize("name", ["expand", "pick"])
def test_no_kernel_computes_with_floats(name):
    fibre_of("4x4").warm()
    zero, masks = np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.uint32)
    fibre_kernels.pick(zero, masks, U64(0), U64(1), U64(0), zero.copy())
    assert helpers_numba.floating(getattr(fibre_kernels, name)) == []
