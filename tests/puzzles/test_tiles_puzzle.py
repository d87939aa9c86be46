"""Layouts and keys: bijection, parity, what people write and read, every way to get it wrong."""

from __future__ import annotations

import itertools
import json
import random

import numpy as np
import pytest

from puzzles import registry
from puzzles.check import check, quick_check
from puzzles.errors import PuzzleError
from puzzles.tiles import rank
from puzzles.tiles.family import FAMILY

ORDERED = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0"
KORF_GOAL = "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"
SWAPPED = "1 2 3 4 5 6 7 8 9 10 11 12 13 15 14 0"
KORF_1 = "14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3"


class TestRank:
    def test_every_even_word_has_its_own_half_rank(self):
        for n in range(1, 8):
            even = [w for w in itertools.permutations(range(n)) if rank.is_even(w)]
            ranks = [rank.half_rank(word) for word in even]
            assert ranks == list(range(len(even)))  # in lexicographic order
            assert [tuple(rank.half_unrank(r, n)) for r in ranks] == even

    def test_parity_is_that_of_the_inversions(self):
        assert rank.is_even([0, 1, 2])
        assert not rank.is_even([1, 0, 2])


class TestKeys:
    @pytest.mark.parametrize("goal", ["last", "first"])
    @pytest.mark.parametrize("size", ["1x1", "1x6", "6x1", "2x2", "2x3", "3x2", "2x4", "4x2"])
    def test_keys_and_layouts_are_a_bijection(self, size, goal):
        puzzle = FAMILY.from_text(size, goal=goal)
        layouts = {puzzle.layout_of(key) for key in range(puzzle.key_space)}
        assert len(layouts) == puzzle.key_space
        assert all(puzzle.layout_of(puzzle.key_of(layout)) == layout for layout in layouts)

    def test_every_key_of_the_8_puzzle_survives_the_round_trip(self):
        puzzle = FAMILY.from_text("3x3")
        assert all(puzzle.key_of(puzzle.layout_of(k)) == k for k in range(puzzle.key_space))

    @pytest.mark.parametrize("size", ["3x4", "4x4", "4x5", "5x4", "2x10", "10x2", "3x6", "1x1024"])
    def test_the_last_and_random_keys_of_big_boards(self, size):
        puzzle = FAMILY.from_text(size)
        space, luck = puzzle.key_space, random.Random(size)
        keys = [*range(max(0, space - 100), space), *(luck.randrange(space) for _ in range(100))]
        assert all(puzzle.key_of(puzzle.layout_of(key)) == key for key in keys)

    def test_the_goal_has_half_rank_zero(self):
        for goal in ("last", "first", KORF_1):
            puzzle = FAMILY.from_text("4x4", goal=goal)
            assert int(puzzle.starts()[0]) < 16

    @pytest.mark.parametrize("key", [-1, 181_440, 2**64])
    def test_a_key_out_of_range_is_refused(self, key):
        with pytest.raises(PuzzleError, match="not in 0 to 181439"):
            FAMILY.from_text("3x3").decode(key)

    def test_sizes_at_the_limit_of_64_bits(self):
        assert FAMILY.from_text("4x5").key_space.bit_length() == 61
        with pytest.raises(PuzzleError, match="need 65 bits"):
            FAMILY.from_text("3x7")
        with pytest.raises(PuzzleError, match="need 83 bits"):
            FAMILY.from_text("5x5")


class TestParity:
    def test_half_of_all_layouts_are_refused(self):
        for size, cells in (("2x2", 4), ("2x3", 6)):
            puzzle, kept = FAMILY.from_text(size), 0
            for layout in itertools.permutations(range(cells)):
                try:
                    puzzle.key_of(layout)
                    kept += 1
                except PuzzleError:
                    continue
            assert kept == puzzle.key_space

    def test_loyds_swap_is_refused_at_once(self):
        with pytest.raises(PuzzleError, match="half of all layouts cannot be reached"):
            FAMILY.from_text("4x4", start=SWAPPED)

    def test_the_other_standard_goal_is_proposed(self):
        with pytest.raises(PuzzleError, match="add --goal first"):
            FAMILY.from_text("4x4", start=KORF_GOAL)
        with pytest.raises(PuzzleError, match="add --goal last"):
            FAMILY.from_text("4x4", start=ORDERED, goal="first")

    def test_korfs_instances_need_his_goal(self):
        assert FAMILY.from_text("4x4", start=KORF_1, goal="first").has_goal
        with pytest.raises(PuzzleError, match="add --goal first"):
            FAMILY.from_text("4x4", start=KORF_1)

    def test_no_proposal_where_none_would_help(self):
        # On 3x3 both ordered boards are in one half.
        with pytest.raises(PuzzleError) as caught:
            FAMILY.from_text("3x3", start="2 1 3 4 5 6 7 8 0")
        assert "add --goal" not in str(caught.value)

    def test_a_line_keeps_its_order(self):
        assert FAMILY.from_text("1x4", start="1 0 2 3").starts().tolist() == [1]
        with pytest.raises(PuzzleError, match="cannot pass each other"):
            FAMILY.from_text("1x4", start="2 1 3 0")


class TestStartAndGoal:
    def test_without_options_it_enumerates_from_the_ordered_board(self):
        puzzle = FAMILY.from_text("3x3")
        assert not puzzle.has_goal
        assert puzzle.decode(puzzle.starts()[0]) == ((1, 2, 3), (4, 5, 6), (7, 8, 0))

    def test_a_goal_alone_is_where_the_search_starts(self):
        puzzle = FAMILY.from_text("3x3", goal="first")
        assert not puzzle.has_goal
        assert puzzle.decode(puzzle.starts()[0]) == ((0, 1, 2), (3, 4, 5), (6, 7, 8))
        assert not puzzle.is_goal(puzzle.starts()).any()

    def test_a_start_alone_has_no_goal(self):
        assert not FAMILY.from_text("3x3", start="1 2 3 4 5 6 7 0 8").has_goal

    def test_start_and_goal(self):
        puzzle = FAMILY.from_text("3x3", start="1 2 3 4 5 6 7 0 8", goal="last")
        keys = np.array([puzzle.encode("1 2 3 4 5 6 7 8 0"), *puzzle.starts()], dtype=np.uint64)
        assert puzzle.has_goal
        assert puzzle.is_goal(keys).tolist() == [True, False]


class TestSpec:
    CASES: tuple[dict[str, str], ...] = (
        {},
        {"metric": "multi-tile"},
        {"goal": "first"},
        {"start": KORF_1, "goal": "first", "metric": "single-tile"},
    )

    @pytest.mark.parametrize("options", CASES)
    def test_a_spec_rebuilds_the_puzzle(self, options):
        puzzle = registry.resolve("tiles:4x4", **options)
        again = registry.from_spec(json.loads(json.dumps(puzzle.spec)))
        for field in ("name", "spec", "metric", "key_space", "has_goal", "bipartite"):
            assert getattr(again, field) == getattr(puzzle, field)
        assert again.starts().tolist() == puzzle.starts().tolist()

    BAD = (
        {"rows": "4"},
        {"rows": True},
        {"rows": 10**9},
        {"columns": None},
        {"metric": ["single"]},
        {"goal": "last"},
        {"goal": [0] * 16},
        {"goal": [1.0] * 16},
        {"start": list(range(15))},
        {"start": [*range(1, 14), 15, 14, 0]},
        {"has_goal": 1},
    )

    @pytest.mark.parametrize("change", BAD)
    def test_a_damaged_spec_is_refused(self, change):
        spec = {**registry.resolve("tiles:4x4").spec, **change}
        with pytest.raises(PuzzleError):
            registry.from_spec(spec)


class TestText:
    @pytest.mark.parametrize(
        "text",
        [
            "1 2 3 4 5 6 7 8 0",
            "1,2,3,4,5,6,7,8,_",
            "1 2 3\n4 5 6\n7 8 .",
            "1 2 3 / 4 5 6 / 7 8 0",
            "((1, 2, 3), (4, 5, 6), (7, 8, 0))",
            "[1, 2, 3, 4, 5, 6, 7, 8, 0]",
        ],
    )
    def test_ways_to_write_a_layout(self, text):
        puzzle = FAMILY.from_text("3x3")
        assert puzzle.encode(text) == int(puzzle.starts()[0])

    @pytest.mark.parametrize("size", ["2x3", "4x4", "1x12"])
    def test_what_is_drawn_can_be_pasted(self, size):
        puzzle = FAMILY.from_text(size)
        for key in (0, 1, puzzle.key_space - 1):
            assert puzzle.encode(puzzle.render(key)) == key
            assert puzzle.encode(str(puzzle.decode(key))) == key

    def test_a_drawn_board(self):
        puzzle = FAMILY.from_text("2x3")
        assert (
            puzzle.render(int(puzzle.starts()[0])) == "+-------+\n| 1 2 3 |\n| 4 5 _ |\n+-------+"
        )

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("1 2 3", "the layout has 3 numbers, and a board of 3 x 3 has 9"),
            ("", "the layout has 0 numbers"),
            ("1 2 3 4 5 6 7 8 8", "tile 8 comes a second time in row 3, column 3"),
            ("1 2 3 0 5 6 7 8 _", "the blank comes a second time in row 3, column 3"),
            ("1 2 3 4 5 6 7 8 9", "9 in row 3, column 3 is not on a board of 3 x 3"),
            ("1 2 3 4 5 6 7 8 x", "'x' is not a tile"),
            ("1 2 3 4 5 6 7 -8 0", "'-8' is not a tile"),
            ("1 2 3 4 5 6 7 ８ 0", "is not a tile"),
            ("2 1 3 4 5 6 7 8 0", "half of all layouts"),
        ],
    )
    def test_wrong_layouts(self, text, message):
        with pytest.raises(PuzzleError, match=message):
            FAMILY.from_text("3x3").encode(text)

    @pytest.mark.parametrize("size", ["", "4", "4x", "x4", "4x4x4", "-1x4", "4 4", "axb", "4x4 "])
    def test_names(self, size):
        if size.strip() == "4x4":
            assert FAMILY.from_text(size).name == "tiles:4x4"
            return
        with pytest.raises(PuzzleError, match="write tiles:ROWSxCOLUMNS"):
            FAMILY.from_text(size)

    def test_sizes(self):
        with pytest.raises(PuzzleError, match="has no cells"):
            FAMILY.from_text("0x4")
        with pytest.raises(PuzzleError, match="at most 20 cells fit"):
            FAMILY.from_text("999999999x999999999")
        with pytest.raises(PuzzleError, match="one line may have"):
            FAMILY.from_text("1x5000")
        assert FAMILY.from_text("2x3").decode(0) != FAMILY.from_text("3x2").decode(0)

    def test_metric_names(self):
        assert FAMILY.from_text("3x3", metric="multi-tile").metric == "multi"
        with pytest.raises(PuzzleError, match="single and multi"):
            FAMILY.from_text("3x3", metric="quarter")


class TestMoves:
    def test_directions_are_those_of_the_tile(self):
        puzzle = FAMILY.from_text("3x3")
        key = puzzle.encode("1 2 3 4 0 5 7 8 6")
        said = {puzzle.move(key, child) for child in children(puzzle, key)}
        assert said == {"4 right", "5 left", "2 down", "8 up"}

    def test_lines_are_named_in_reading_order(self):
        puzzle = FAMILY.from_text("3x3", metric="multi")
        key = puzzle.encode("1 2 3 4 5 6 7 8 0")
        said = {puzzle.move(key, child) for child in children(puzzle, key)}
        assert said == {"8 right", "7 8 right", "6 down", "3 6 down"}

    def test_on_a_transposed_board(self):
        puzzle = FAMILY.from_text("2x3", metric="multi", goal="first")
        key = puzzle.encode("0 1 2 3 4 5")
        said = {puzzle.move(key, child) for child in children(puzzle, key)}
        assert said == {"1 left", "1 2 left", "3 up"}

    def test_no_move_between_strangers(self):
        puzzle = FAMILY.from_text("3x3")
        key = int(puzzle.starts()[0])
        far = puzzle.encode("1 2 3 4 5 6 0 7 8")
        for other in (key, far, puzzle.encode("1 2 3 0 5 6 4 7 8")):
            with pytest.raises(PuzzleError, match="no move"):
                puzzle.move(key, other)


def children(puzzle, key):
    out = np.empty(puzzle.max_successors, dtype=np.uint64)
    return out[: puzzle.successors(np.array([key], dtype=np.uint64), out)].tolist()


class TestContract:
    @pytest.mark.parametrize("metric", ["single", "multi"])
    @pytest.mark.parametrize(
        "size", ["1x1", "1x2", "1x9", "2x2", "2x3", "3x2", "3x3", "3x5", "4x5"]
    )
    def test_every_promise_holds(self, size, metric):
        puzzle = FAMILY.from_text(size, metric=metric)
        report = check(puzzle, 3000)
        assert report.ok, report.to_text()
        quick_check(puzzle)

    @pytest.mark.parametrize(
        ("size", "metric", "most"),
        [
            *[("4x4", "single", 4), ("2x2", "single", 2), ("2x5", "single", 3)],
            *[("1x9", "single", 2), ("1x1", "single", 1)],
            *[("4x4", "multi", 6), ("3x5", "multi", 6), ("1x9", "multi", 8), ("1x1", "multi", 1)],
        ],
    )
    def test_max_successors(self, size, metric, most):
        assert FAMILY.from_text(size, metric=metric).max_successors == most

    def test_flags(self):
        single, multi = FAMILY.from_text("4x4"), FAMILY.from_text("4x4", metric="multi")
        assert (single.undirected, single.bipartite) == (True, True)
        assert (multi.undirected, multi.bipartite) == (True, False)

    def test_room_and_types_are_checked(self):
        puzzle = FAMILY.from_text("4x4")
        with pytest.raises(PuzzleError, match="need room for 12"):
            puzzle.successors(np.zeros(3, np.uint64), np.zeros(11, np.uint64))
        with pytest.raises(PuzzleError, match="keys are uint64"):
            puzzle.successors(np.zeros(3, np.int64), np.zeros(12, np.uint64))

    def test_threads_do_not_disturb_each_other(self):
        from concurrent.futures import ThreadPoolExecutor

        puzzle = FAMILY.from_text("4x4")
        luck = np.random.default_rng(1)
        blocks = [np.sort(luck.integers(0, puzzle.key_space, 5000, np.uint64)) for _ in range(16)]

        def expand(keys):
            out = np.empty(len(keys) * 4, dtype=np.uint64)
            return out[: puzzle.successors(keys, out)]

        alone = [expand(keys) for keys in blocks]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(expand, blocks))
        assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_the_worked_example_of_snake_md():
    puzzle = FAMILY.from_text("2x2")
    layouts = ["1 2 / 3 0", "1 0 / 3 2", "0 1 / 3 2", "3 1 / 0 2"]
    assert [puzzle.encode(layout) for layout in layouts] == [2, 1, 0, 11]
