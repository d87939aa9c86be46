"""A few rounds of the crash campaign, and what its own checks notice. More of it: `campaign`."""

from __future__ import annotations

from pathlib import Path

import pytest

from store import names
from tests.crash import audit
from tests.crash.campaign import FAULTS, Round, Settings, campaign, count_operations


@pytest.mark.campaign
@pytest.mark.parametrize("keep", ["all", "frontier"])
@pytest.mark.parametrize(
    ("metric", "algebra"), [("single", "set"), ("single", "fibre"), ("multi", "set")]
)
def test_a_search_interrupted_again_and_again_ends_as_one_that_was_not(
    tmp_path: Path, metric: str, algebra: str, keep: str
) -> None:
    options: tuple[str, ...] = ("--exhaust", "--metric", metric, "--keep", keep)
    options += ("--checkpoint", "0.05", "--algebra", algebra)
    settings = Settings("tiles:3x3", metric, None, options, f"test {metric} {algebra} {keep}")
    campaign(settings, range(5), tmp_path)


@pytest.mark.campaign
@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_every_operation_of_a_small_search_fails_in_turn(tmp_path: Path, fault: str) -> None:
    settings = Settings("tiles:3x2", options=("--exhaust",), seed=f"every {fault}")
    operations = count_operations(settings, tmp_path)
    for at in range(1, operations + 1):
        Round(settings, at, tmp_path, operations).play_once(fault, at)


class TestAudit:
    def test_the_tables_are_found_by_board_and_metric(self) -> None:
        assert audit.known_counts("tiles:2x2", "single") == [1, 2, 2, 2, 2, 2, 1]
        assert sum(audit.known_counts("tiles:3x4", "single")) == 239_500_800
        assert audit.known_counts("tiles:3x4", "multi") == audit.known_counts("tiles:4x3", "multi")
        with pytest.raises(KeyError):
            audit.known_counts("tiles:9x9", "single")

    def test_a_piece_that_ran_again_is_found(self, tmp_path: Path) -> None:
        (tmp_path / names.LOG).write_text(
            '{"event": "spill", "depth": 3, "pieces": [0, 1]}\n'
            '{"event": "merge", "depth": 3, "buckets": [0, 1]}\n'
            '{"event": "spi\n'
            '{"event": "spill", "depth": 4, "pieces": [1]}\n'
            '{"event": "resume", "depth": 4}\n'
        )
        assert audit.repeated_pieces(tmp_path) == []
        with (tmp_path / names.LOG).open("a") as log:
            log.write('{"event": "spill", "depth": 3, "pieces": [1, 2]}\n')
        assert audit.repeated_pieces(tmp_path) == ["pieces 1 of depth 3"]

    def test_without_a_journal_nothing_was_repeated(self, tmp_path: Path) -> None:
        assert audit.repeated_pieces(tmp_path) == []
