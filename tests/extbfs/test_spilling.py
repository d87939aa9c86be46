"""The same counts however little memory there is: spills, external sorts, bitmaps, many buckets."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

import store.external
from extbfs.algebra import fibre_merge, sets
from extbfs.engine.laws import Tally
from extbfs.engine.worker import Worker
from puzzles.registry import resolve
from store.spill import SpillReader
from tests import oracle
from tests.extbfs.runs import assert_sound, counts, search, spilled
from tests.extbfs.tight import Tight
from tests.fakes.graphs import bundle, random_graph
from tests.fakes.pancakes import Pancakes
from tests.puzzles.test_tiles_counts import TABLES

LARGEST = 2**64 - 1
PUZZLES: dict[str, Any] = {
    "tiles": resolve("tiles:2x4"),
    "tiles, a line at once": resolve("tiles:2x4", metric="multi"),
    "pancakes": Pancakes(6),
    "directed": random_graph(1, 1500, 2, undirected=False),
    "directed, 64 bits": random_graph(2, 1500, 2, undirected=False, key_space=LARGEST),
    "undirected, 63 bits": random_graph(3, 1500, 2, undirected=True, key_space=2**63, starts=3),
    "all in one tiny range": bundle(90, 5, 2**60),
}
SETTINGS = {
    "small": Tight(),
    "external sort of every bucket": Tight(arrivals=64, bucket_arrivals=1 << 20, slots=0),
    "many external sorts": Tight(arrivals=40, bucket_arrivals=80, slots=0),
    "never a bitmap": Tight(slots=0),
    "always a bitmap": Tight(slots=1 << 62),
    "narrow buckets": Tight(split=1, most_splits=64),
    "one-block pieces": Tight(piece_blocks=1, block_keys=8, slice_keys=16),
    "pieces past the pool": Tight(piece_blocks=1000, block_keys=64, slice_keys=16),
    "no inline runs": Tight(inline=0, layer_file=1 << 9),
    "one bucket": Tight(bucket_arrivals=1 << 30, arrivals=1 << 18),
}


@pytest.fixture(scope="module")
def expected() -> dict[str, list[int]]:
    return {name: oracle.counts(puzzle) for name, puzzle in PUZZLES.items()}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", PUZZLES)
def test_counts_do_not_depend_on_memory(tmp_path, monkeypatch, expected, name, setting):
    SETTINGS[setting].install(monkeypatch)
    alone = (list(PUZZLES).index(name) + list(SETTINGS).index(setting)) % 2 == 0
    options = {"threads": 1, "keep": "all"} if alone else {"threads": 3, "keep": "frontier"}
    search(PUZZLES[name], tmp_path / "run", algebra="set", **options)
    assert counts(tmp_path / "run") == expected[name]
    assert_sound(tmp_path / "run")
    assert os.listdir(tmp_path / "run" / "spill") == []


@pytest.mark.parametrize("setting", SETTINGS)
def test_fibre_layers_do_not_depend_on_memory(tmp_path, monkeypatch, setting):
    SETTINGS[setting].install(monkeypatch)
    for threads in (1, 3):
        run = tmp_path / str(threads)
        search("tiles:4x2", run, algebra="fibre", threads=threads)
        assert counts(run) == TABLES["4x2 sliding, single-tile, blank corner"]["counts"]
        assert_sound(run)


class Seen:
    """Counts the calls of a method."""

    def __init__(self, patch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        self.calls = 0
        self._inner = getattr(owner, name)
        patch.setattr(owner, name, lambda *args, **kwargs: self._call(*args, **kwargs))

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return self._inner(*args, **kwargs)


class TestTheSettingsDoWhatTheySay:
    """Else the test above would compare nothing."""

    def run(self, tmp_path, monkeypatch, setting, name, algebra="set"):
        SETTINGS[setting].install(monkeypatch)
        search(PUZZLES[name], tmp_path / "run", algebra=algebra, threads=1)
        return tmp_path / "run"

    def test_small_memory_spills(self, tmp_path, monkeypatch):
        read = Seen(monkeypatch, SpillReader, "gather")
        run = self.run(tmp_path, monkeypatch, "small", "all in one tiny range")
        assert spilled(run) > 1
        assert read.calls

    @pytest.mark.parametrize("setting", ["external sort of every bucket", "many external sorts"])
    def test_sorts_externally(self, tmp_path, monkeypatch, setting):
        seen = Seen(monkeypatch, store.external.ExternalSorter, "merged")
        self.run(tmp_path, monkeypatch, setting, "tiles")
        assert seen.calls > 10

    @pytest.mark.parametrize(("setting", "other"), [("never a bitmap", "always a bitmap")])
    def test_bitmaps(self, tmp_path, monkeypatch, setting, other):
        dense = Seen(monkeypatch, sets.SetAlgebra, "_combine_dense")
        self.run(tmp_path / "1", monkeypatch, setting, "tiles")
        assert dense.calls == 0
        plain = Seen(monkeypatch, sets.SetAlgebra, "_combine_sorted")
        self.run(tmp_path / "2", monkeypatch, other, "tiles")
        assert dense.calls > 0
        assert plain.calls == 0

    def test_a_pool_that_fills_up_inside_a_piece(self, tmp_path, monkeypatch):
        parts = Seen(monkeypatch, Worker, "make_room")
        written: list[int] = []
        inner = store.spill.write_spill

        def note(fs: Any, path: str, depth: int, pool: Any, staging: Any) -> Any:
            written.append(depth)
            return inner(fs, path, depth, pool, staging)

        monkeypatch.setattr("extbfs.engine.spilling.write_spill", note)
        run = self.run(tmp_path, monkeypatch, "pieces past the pool", "all in one tiny range")
        assert parts.calls
        assert len(written) > spilled(run) > 0

    def test_the_fibre_algebra_halves_what_is_too_large(self, tmp_path, monkeypatch):
        halved = Seen(monkeypatch, fibre_merge.FibreMerge, "_merge_parts")
        self.run(tmp_path, monkeypatch, "many external sorts", "tiles", "fibre")
        assert halved.calls


@pytest.mark.parametrize(
    ("parents", "sent", "likely"), [(0, 0, 400), (10, 5, 100), (10, 0, 0), (3, 12, 400)]
)
def test_what_a_piece_will_likely_send(parents, sent, likely):
    worker: Any = SimpleNamespace(parents=Tally(parents), sent=Tally(sent))
    assert Worker.likely(worker, 100, 4) == likely
