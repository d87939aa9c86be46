"""The benchmark's arithmetic: bound, medians, ratios, what a journal tells, what fits memory."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.bench import depths, figures, rivals, search, table


class TestRandomSubsetBits:
    @given(st.integers(1, 20_000), st.data())
    def test_is_the_logarithm_of_the_binomial(self, space, data):
        states = data.draw(st.integers(1, space))
        exact = math.log2(math.comb(space, states)) / states
        assert figures.random_subset_bits(space, states) == pytest.approx(exact, abs=1e-6)

    def test_all_keys_or_none_cost_nothing(self):
        assert figures.random_subset_bits(1000, 1000) == 0
        assert figures.random_subset_bits(1000, 0) == 0

    def test_one_key_costs_the_logarithm_of_the_space(self):
        assert figures.random_subset_bits(1 << 40, 1) == 40

    def test_sparse_sets_cost_log2_of_the_space_a_key_and_log2_e(self):
        space, states = math.factorial(25) // 2, 1 << 24
        bound = math.log2(space / states) + math.log2(math.e)
        assert figures.random_subset_bits(space, states) == pytest.approx(bound, abs=1e-4)

    def test_more_states_than_keys_are_refused(self):
        with pytest.raises(ValueError, match="11 states do not fit 10 keys"):
            figures.random_subset_bits(10, 11)


class TestMedians:
    def test_numbers_anywhere_become_their_median(self):
        samples = [{"a": x, "b": [{"c": -x}], "d": "text", "e": None} for x in (3, 100, 1)]
        assert figures.medians(samples) == {"a": 3, "b": [{"c": -3}], "d": "text", "e": None}

    def test_whole_numbers_that_agree_stay_whole(self):
        found = figures.medians([{"states": 7}, {"states": 7}])
        assert found == {"states": 7}
        assert isinstance(found["states"], int)

    def test_truth_is_no_number(self):
        assert figures.medians([{"direct": True}, {"direct": True}]) == {"direct": True}

    def test_a_number_that_is_missing_once_is_that_of_the_first(self):
        assert figures.medians([{"x": None}, {"x": 3}]) == {"x": None}

    def test_fields_that_one_lacks_are_left_out(self):
        assert figures.medians([{"a": 1, "b": 1}, {"a": 3}]) == {"a": 2}


def test_ratio_of_something_missing_is_missing():
    assert figures.ratio(3, 4) == 0.75
    assert figures.ratio(None, 4) is None
    assert figures.ratio(3, None) is None
    assert figures.ratio(3, 0) is None


def row(depth, time, seconds, states=10, **more):
    """A journal line of a depth."""
    fixed = {"arrivals": 2 * states, "bytes": 5 * states, "spilled": 0}
    return {
        "event": "depth",
        "time": time,
        "depth": depth,
        "seconds": seconds,
        "states": states,
        **fixed,
        **more,
    }


COST = {
    "expand_seconds": 1.0,
    "merge_seconds": 2.0,
    "cpu_seconds": 5.0,
    "stages": {"read": 0.5, "sort": 1.5, "melt": 1.0},
    "read": 30,
    "written": 50,
    "device_read": 0,
    "device_written": 60,
}


class TestJournal:
    def test_a_depth_lasts_from_one_commit_to_the_next(self):
        events = [
            {"event": "start", "time": 100.0},
            row(0, 100.5, 0.1),
            {"event": "merge", "time": 101.0},
            row(1, 103.5, 2.0),
        ]
        found = depths.costs(events, 1000)
        assert [found[d].seconds for d in (0, 1)] == [0.5, 3.0]

    def test_depths_of_one_commit_share_its_time_by_their_own(self):
        events = [{"event": "start", "time": 10.0}, row(0, 10.4, 0.03), row(1, 10.4, 0.01)]
        found = depths.costs(events, 1000)
        assert [found[d].seconds for d in (0, 1)] == pytest.approx([0.3, 0.1])

    def test_depths_without_time_share_evenly(self):
        events = [{"event": "start", "time": 10.0}, row(0, 10.4, 0.0), row(1, 10.4, 0.0)]
        found = depths.costs(events, 1000)
        assert [found[d].seconds for d in (0, 1)] == pytest.approx([0.2, 0.2])

    def test_a_torn_last_line_is_left_out(self, tmp_path):
        path = tmp_path / "log.jsonl"
        path.write_text(json.dumps({"event": "start", "time": 1}) + '\n{"event": "dep')
        assert depths.read_journal(path) == [{"event": "start", "time": 1}]

    def test_an_interrupted_run_cannot_be_timed(self):
        events = [{"event": "start", "time": 1.0}, {"event": "resume", "time": 2.0}]
        with pytest.raises(depths.JournalFault, match="interrupted"):
            depths.costs(events, 1000)

    def test_a_missing_depth_is_named(self):
        found = depths.costs([{"event": "start", "time": 1.0}, row(0, 2.0, 1.0)], 1000)
        with pytest.raises(depths.JournalFault, match="lacks depth 1"):
            depths.total(found, 0, 2)


class TestDepthFigures:
    def test_figures_are_per_new_state(self):
        events = [{"event": "start", "time": 0.0}, row(0, 4.0, 4.0, **COST)]
        found = depths.figures(depths.costs(events, 1000)[0], threads=2, overhead_bytes=10)
        assert found["states_per_second"] == round(10 / 4)
        assert found["ns_per_state_and_core"] == 4 * 2 / 10 * 1e9
        assert found["ns_by_stage"]["read"] == 0.5 / 10 * 1e9
        assert found["ns_by_stage"]["melt"] == 1.0 / 10 * 1e9
        assert sum(found["ns_by_stage"].values()) == pytest.approx(found["ns_per_state_and_core"])
        assert found["cpu_ns_per_state"] == 5.0 / 10 * 1e9
        assert found["closing_seconds"] == 1.0
        assert found["arrivals_per_state"] == 2
        assert found["bytes_per_state"]["written"] == 5
        assert found["bits_per_state"] == 8 * (5 * 10 + 10) / 10
        exact = math.log2(math.comb(1000, 10)) / 10
        assert found["random_subset_bits"] == pytest.approx(exact, abs=1e-3)

    def test_depths_together_add_up(self):
        events = [
            {"event": "start", "time": 0.0},
            row(0, 4.0, 4.0, **COST),
            row(1, 6.0, 2.0, states=30, **COST),
        ]
        both = depths.total(depths.costs(events, 1000), 0, 1)
        assert (both.states, both.seconds, both.layer_bytes) == (40, 6.0, 200)
        assert both.stages == {"read": 1.0, "sort": 3.0, "melt": 2.0}
        assert both.moved is not None
        assert both.moved["written"] == 100

    def test_a_system_that_counts_no_bytes_has_none_reported(self):
        events = [{"event": "start", "time": 0.0}, row(0, 4.0, 4.0)]
        assert depths.figures(depths.costs(events, 1000)[0], 1)["bytes_per_state"] is None


class TestTable:
    @pytest.mark.parametrize("text", ["3x4", "4x3", "4X3"])
    def test_a_board_has_the_counts_of_either_way_up(self, text):
        counts = table.Counts(table.Board.parse(text))
        assert counts.cumulative[-1] == counts.board.states == 239_500_800
        assert counts.last == 53

    def test_a_board_that_nobody_has_counted(self):
        counts = table.Counts(table.Board(2, 9))
        assert counts.last is None
        counts.compare([1, 2, 3], "anything")

    def test_a_wrong_count_is_named(self):
        counts = table.Counts(table.Board(4, 4))
        counts.compare([1, 2, 4, 10], "the engine")
        with pytest.raises(table.WrongCounts, match="the engine: 5 states at depth 2 of 4x4"):
            counts.compare([1, 2, 5], "the engine")

    @pytest.mark.parametrize("text", ["4", "x", "4x", "0x4", "1x5", "4x4x4"])
    def test_what_is_no_board(self, text):
        with pytest.raises(ValueError):  # noqa: PT011 - int's own words will do
            table.Board.parse(text)

    def test_the_deepest_depth_within_a_number_of_states(self):
        counts = table.Counts(table.Board(4, 4))
        assert counts.deepest_within(1 + 2 + 4 + 10) == 3
        assert counts.deepest_within(1 + 2 + 4 + 9) == 2
        assert counts.deepest_within(0) is None


class TestFitting:
    def test_memory_decides_how_deep_the_search_in_ram_goes(self):
        counts = table.Counts(table.Board(4, 4))
        huge = 1 << 60
        assert search.deepest_in_ram(counts, 29, huge, huge) == 29
        assert search.deepest_in_ram(counts, 29, 0, huge) is None
        memory, disk = search.ample_memory(counts, 27)
        assert search.deepest_in_ram(counts, 29, memory + disk, huge) == 27
        assert search.deepest_in_ram(counts, 29, huge, disk) == 27

    def test_a_hash_table_is_filled_to_two_thirds_at_most(self):
        for states in (1000, 1 << 20, 80_000_000):
            assert states * 3 <= 2 << rivals.slots_for(states)
