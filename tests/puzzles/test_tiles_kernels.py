"""The tiles kernel equals its naive twin; divisions by multiplication are exact; no floats."""

from __future__ import annotations

import random
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzles.jit import U64, mulhi
from puzzles.tiles import geometry as geo
from puzzles.tiles import kernels, program
from puzzles.tiles.family import FAMILY
from tests import helpers_numba
from tests.puzzles import naive_tiles

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow encountered")]

SMALL = ["1x1", "1x2", "1x7", "7x1", "2x2", "2x3", "3x2"]
MEDIUM = ["2x4", "4x2"]
BIG = ["3x3", "2x5", "3x4", "4x3", "4x4", "3x5", "2x7", "3x6", "4x5", "5x4", "2x10", "10x2"]


def layouts_and_twins(puzzle, keys):
    """For each key: the children the kernel gives, as a sorted list, and the naive set."""
    rows, columns = puzzle.geometry.rows, puzzle.geometry.columns
    out = np.empty(puzzle.max_successors, dtype=np.uint64)
    for key in keys:
        count = puzzle.successors(np.array([key], dtype=np.uint64), out)
        children = [puzzle.layout_of(int(child)) for child in out[:count]]
        twins = naive_tiles.successors(puzzle.layout_of(key), rows, columns, puzzle.metric)
        yield key, children, twins


def a_random_goal(size):
    rows, columns = map(int, size.split("x"))
    goal = list(range(rows * columns))
    random.Random(size).shuffle(goal)
    return " ".join(map(str, goal))


@pytest.mark.parametrize("metric", ["single", "multi"])
@pytest.mark.parametrize("goal", ["last", "first", "random"])
class TestSuccessorsEqualTheTwin:
    def puzzle(self, size, goal, metric):
        goal = a_random_goal(size) if goal == "random" else goal
        return FAMILY.from_text(size, goal=goal, metric=metric)

    def compare(self, puzzle, keys):
        for key, children, twins in layouts_and_twins(puzzle, keys):
            assert len(children) == len(set(children)), key
            assert set(children) == twins, key

    @pytest.mark.parametrize("size", SMALL)
    def test_every_key_of_a_small_board(self, size, goal, metric):
        puzzle = self.puzzle(size, goal, metric)
        self.compare(puzzle, range(puzzle.key_space))

    @pytest.mark.parametrize("size", MEDIUM)
    def test_every_key_of_a_medium_board(self, size, goal, metric):
        puzzle = self.puzzle(size, goal, metric)
        step = 1 if goal == "last" and helpers_numba.JIT else 97
        self.compare(puzzle, range(0, puzzle.key_space, step))

    @pytest.mark.parametrize("size", BIG)
    def test_random_and_extreme_keys_of_a_big_board(self, size, goal, metric):
        puzzle = self.puzzle(size, goal, metric)
        many = 100 if helpers_numba.JIT else 10
        keys = [random.Random(7).randrange(puzzle.key_space) for _ in range(many)]
        self.compare(puzzle, [*keys, *range(20), *range(puzzle.key_space - 20, puzzle.key_space)])

    @pytest.mark.parametrize("size", ["4x4", "3x5"])
    def test_random_walks(self, size, goal, metric):
        puzzle = self.puzzle(size, goal, metric)
        board = puzzle.geometry
        luck = random.Random(11)
        layout = puzzle.layout_of(int(puzzle.starts()[0]))
        for _ in range(10):
            layout = naive_tiles.walk(layout, board.rows, board.columns, luck, 30)
            self.compare(puzzle, [puzzle.key_of(layout)])


class TestBlocks:
    """How keys are put into calls does not change the children."""

    @pytest.mark.parametrize("metric", ["single", "multi"])
    def test_a_block_longer_than_a_slice_equals_single_calls(self, metric):
        puzzle = FAMILY.from_text("4x4", metric=metric)
        many = 20_000 if helpers_numba.JIT else 50
        keys = np.sort(np.random.default_rng(3).integers(0, puzzle.key_space, many, np.uint64))
        out = np.empty(len(keys) * puzzle.max_successors, dtype=np.uint64)
        count = puzzle.successors(keys, out)
        parts = []
        for i in range(0, len(keys), 37):
            part = np.empty(37 * puzzle.max_successors, dtype=np.uint64)
            parts.append(part[: puzzle.successors(keys[i : i + 37], part)])
        assert np.array_equal(np.sort(out[:count]), np.sort(np.concatenate(parts)))

    def test_read_only_and_strided_keys(self):
        puzzle = FAMILY.from_text("3x3")
        keys = np.arange(10, dtype=np.uint64)
        expected = np.empty(40, dtype=np.uint64)
        count = puzzle.successors(keys, expected)
        frozen = np.frombuffer(keys.tobytes(), dtype=np.uint64)
        strided = np.repeat(keys, 2)[::2]
        for variant in (frozen, strided):
            out = np.empty(40, dtype=np.uint64)
            assert puzzle.successors(variant, out) == count
            assert np.array_equal(out[:count], expected[:count])

    def test_no_keys(self):
        none = np.empty(0, dtype=np.uint64)
        assert FAMILY.from_text("4x4").successors(none, none) == 0


class TestTables:
    """Turning the Lehmer digits by table equals turning the word."""

    @pytest.mark.parametrize("turn", [geo.RIGHT, geo.LEFT])
    def test_tables_equal_rotations_of_words(self, turn):
        from puzzles.tiles import rank

        tiles, luck = 7, random.Random(5)
        for first in range(tiles - 1):
            for last in range(first + 2, tiles + 1):
                word = list(range(tiles))
                luck.shuffle(word)
                before = rank.digits(word)
                window = word[first:last]
                turned = window[-1:] + window[:-1] if turn == geo.RIGHT else window[1:] + window[:1]
                after = rank.digits([*word[:first], *turned, *word[last:]])
                end = tiles if geo.is_tail(tiles, last) else last

                def value(lehmer, first=first, end=end):
                    total = 0
                    for i in range(first, end):
                        total = total * (tiles - i) + lehmer[i]
                    return total

                if end == tiles:
                    odd = sum(before[first:]) % 2
                    change = geo.tail_table(tiles, first, last, turn, odd)[value(before) // 2]
                    assert value(before) // 2 + change == value(after) // 2
                else:
                    change = geo.window_table(tiles, first, last, turn)[value(before)]
                    assert value(before) + change == value(after)

    @pytest.mark.parametrize("limit", [10, 200, 5000])
    def test_windows_cut_into_hops_give_the_same_children(self, limit, monkeypatch):
        whole = program.build.__wrapped__(geo.Geometry(4, 4), "single")
        monkeypatch.setattr(geo.hops, "__defaults__", (limit,))
        cut = program.build.__wrapped__(geo.Geometry(4, 4), "single")
        assert len(cut.arguments[5]) > len(whole.arguments[5])
        keys = np.random.default_rng(1).integers(0, factorial(16) // 2, 200, np.uint64)
        results = []
        for arguments in (whole.arguments, cut.arguments):
            out = np.empty(800, dtype=np.uint64)
            scratch, counts = np.empty((17, 256), np.uint64), np.empty(16, np.uint64)
            n = kernels.expand(keys, out, scratch, counts, *arguments)
            results.append(out[:n])
        assert np.array_equal(results[0], results[1])

    @pytest.mark.parametrize("size", BIG)
    def test_tables_stay_within_a_megabyte(self, size):
        rows, columns = map(int, size.split("x"))
        board = geo.Geometry(rows, columns)
        for a in range(board.cells):
            for b in board.neighbours(a, True)[:1]:
                for hop in geo.hops(board.tiles, a, b):
                    assert geo.table_size(board.tiles, hop.first, hop.last) <= 1 << 18

    def test_the_15_puzzle_has_nine_edges_that_change_the_rank(self):
        board = geo.Geometry(4, 4)
        edges = [(a, b) for a in range(16) for b in board.neighbours(a, True)[:1] if b > a + 1]
        assert edges == [
            (0, 7),
            (1, 6),
            (2, 5),
            (4, 11),
            (5, 10),
            (6, 9),
            (8, 15),
            (9, 14),
            (10, 13),
        ]


class TestMagicDivision:
    """x // d by multiplication is exact for every x below 2**62."""

    @staticmethod
    def check(divisor, values):
        multiplier, shift = kernels.magic(divisor)
        assert 0 < multiplier < 2**64
        out = np.empty(len(values), dtype=np.uint64)
        kernels.divide(np.array(values, dtype=np.uint64), U64(multiplier), U64(shift), out)
        assert [int(q) for q in out] == [x // divisor for x in values]

    @given(st.integers(1, 2**62), st.lists(st.integers(0, 2**62 - 1), min_size=1, max_size=20))
    def test_any_divisor_and_value(self, divisor, values):
        edges = []
        for value in values:
            multiple = value // divisor * divisor
            edges += [value, multiple, max(0, multiple - 1), min(2**62 - 1, multiple + divisor - 1)]
        self.check(divisor, edges)

    @pytest.mark.parametrize("power", range(0, 62, 3))
    def test_powers_of_two_and_their_neighbours(self, power):
        for divisor in {max(1, 2**power - 1), 2**power, 2**power + 1}:
            top = (2**62 - 1) // divisor * divisor
            self.check(divisor, [0, 1, divisor - 1, divisor, top - 1, top, 2**62 - 1])

    @pytest.mark.parametrize("size", ["2x2", "3x3", "4x4", "2x10", "3x6", "4x5"])
    def test_the_divisors_of_the_boards_at_both_ends(self, size):
        puzzle = FAMILY.from_text(size)
        cells, hops = puzzle.geometry.cells, program.build(puzzle.geometry, "single").arguments[5]
        divisors = {cells, *map(int, hops[:, kernels.H_UNIT]), *map(int, hops[:, kernels.H_SIZE])}
        for divisor in divisors - {0}:
            top = (puzzle.key_space - 1) // divisor * divisor
            self.check(divisor, [0, divisor - 1, divisor, max(0, top - 1), top, top + divisor - 1])

    @staticmethod
    def check_short(unit, size, limit, values):
        """Both formulas of the kernels, in Python numbers of any length."""
        plan = kernels.short(unit, size, limit)
        if plan is None:
            return False
        drop, multiplier = plan
        assert 0 < multiplier < 2**64
        window = unit * size
        ends = {0, unit - 1, unit, window - 1, window, limit // window * window - 1, limit - 1}
        for x in {*values, *ends}:
            if 0 <= x < limit:
                product = (x >> drop) * multiplier
                assert product >> 64 == x // window
                assert (product % 2**64 * size) >> 64 == x // unit % size
        return True

    @given(
        st.integers(1, 2**24),
        st.integers(0, 10),
        st.integers(1, 2**20),
        st.integers(1, 2**62),
        st.lists(st.integers(0, 2**62 - 1), max_size=20),
    )
    def test_short_keys(self, unit, twos, size, limit, values):
        self.check_short(unit << twos, size, limit, values)

    @pytest.mark.parametrize("size", ["2x2", "3x3", "4x4", "2x10", "3x6", "4x5"])
    @pytest.mark.parametrize("whole", [True, False])
    def test_the_short_windows_of_the_boards(self, size, whole):
        puzzle = FAMILY.from_text(size)
        known = program.build(puzzle.geometry, "single")
        limit = puzzle.key_space if whole else puzzle.geometry.half_ranks
        values = [random.Random(9).randrange(limit) for _ in range(50)]
        short = 0
        for hop in known.arguments[5] if whole else known.half_rank_hops:
            if hop[kernels.H_KIND] in (kernels.SHORT_INNER, kernels.SHORT_TAIL):
                assert self.check_short(
                    int(hop[kernels.H_UNIT]), int(hop[kernels.H_SIZE]), limit, values
                )
                short += 1
            if hop[kernels.H_KIND] == kernels.SHORT_TAIL:
                assert hop[kernels.H_GROUPS] <= 2
        assert short > 0 or size in ("2x2", "2x10", "3x6", "4x5")

    @given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
    def test_mulhi_in_python(self, a, b):
        out = np.empty(1, dtype=np.uint64)
        kernels.divide(np.array([a >> 2], dtype=np.uint64), U64(b), U64(0), out)
        assert int(out[0]) == ((a >> 2 << 1) * b) >> 64
        if not helpers_numba.JIT:
            assert int(mulhi(U64(a), U64(b))) == (a * b) >> 64


@pytest.mark.skipif(not helpers_numba.JIT, reason="nothing is typed without the JIT")
@pytest.mark.parametrize("name", ["expand", "divide"])
def test_no_kernel_computes_with_floats(name):
    FAMILY.from_text("4x4").warm()
    one = np.ones(1, dtype=np.uint64)
    kernels.divide(one, U64(1), U64(0), one.copy())
    assert helpers_numba.floating(getattr(kernels, name)) == []
