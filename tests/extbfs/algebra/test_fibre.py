"""The fibre algebra finds the same states at every depth as the set algebra and as plain sets."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extbfs
from extbfs.algebra import fibre_merge
from extbfs.algebra.choice import choose
from extbfs.engine.worker import Worker
from puzzles.adapter import adapt
from puzzles.errors import PuzzleError
from puzzles.registry import resolve
from puzzles.tiles.family import FAMILY
from tests import oracle
from tests.extbfs.algebra.cramped import SETTINGS, Cramped
from tests.extbfs.runs import assert_sound, counts, events, resume, search, spilled
from tests.extbfs.test_spilling import Seen
from tests.fakes.tokens import LIES, Edge, Tokens, lying, random_tokens
from tests.puzzles.test_fibre_rule import start_at
from tests.puzzles.test_tiles_counts import TABLES


def layers(run: Path, puzzle: Any = None) -> list[np.ndarray]:
    """The states of every depth, which must ascend; uint64, one array a depth."""
    with extbfs.open_run(run, puzzle=puzzle) as opened:
        found = []
        for row in opened.depths:
            blocks = [*opened.states(row["depth"]), np.empty(0, np.uint64)]
            states = np.concatenate(blocks)
            assert (states[1:] > states[:-1]).all()
            assert states.size == row["states"]
            found.append(states)
    return found


def assert_same_layers(found: list[np.ndarray], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for depth, (states, others) in enumerate(zip(found, expected, strict=True)):
        others = others if isinstance(others, np.ndarray) else np.array(sorted(others), np.uint64)
        assert np.array_equal(states, others), f"depth {depth}"


def algebra_of(run: Path) -> str:
    with extbfs.open_run(run) as opened:
        return str(opened.meta["algebra"])


LINES = ["1x1", "1x2", "2x1", "1x3", "1x6", "7x1"]
BOARDS = [
    *[(size, cell) for size in ("2x2", "2x3", "3x2") for cell in range(4)],
    *[(size, cell) for size in ("2x4", "4x2") for cell in (0, 2, 5, 7)],
    *[(size, 0) for size in LINES],
    ("1x6", 3),
]
LARGER = [("3x3", 0), ("3x3", 1), ("3x3", 4)]


class TestEveryBoard:
    """Sets of states per depth, for starts in a corner, at an edge and inside, and both goals."""

    def compare(self, tmp_path, puzzle, with_oracle=True):
        for algebra in ("fibre", "set"):
            search(puzzle, tmp_path / algebra, algebra=algebra)
            assert algebra_of(tmp_path / algebra) == algebra
        found = layers(tmp_path / "fibre", puzzle)
        assert_same_layers(found, layers(tmp_path / "set", puzzle))
        if with_oracle:
            assert_same_layers(found, oracle.layers(puzzle))
        assert sum(map(len, found)) == puzzle.key_space
        assert_sound(tmp_path / "fibre")
        return [len(layer) for layer in found]

    @pytest.mark.parametrize(("size", "cell"), BOARDS)
    def test_from_a_cell(self, tmp_path, size, cell):
        start = start_at(size, cell)
        self.compare(tmp_path, FAMILY.from_text(size, start=start, goal=start))

    @pytest.mark.parametrize("goal", ["first", "last"])
    @pytest.mark.parametrize("size", ["2x2", "2x3", "3x2", "2x4", "4x2", "3x3"])
    def test_from_a_goal(self, tmp_path, size, goal):
        found = self.compare(tmp_path, FAMILY.from_text(size, goal=goal), size != "3x3")
        columns, rows = sorted(map(int, size.split("x")), reverse=True)
        name = f"{columns}x{rows} sliding, single-tile, blank corner"
        assert found == TABLES[name]["counts"]

    @pytest.mark.parametrize(("size", "cell"), LARGER)
    def test_the_8_puzzle(self, tmp_path, size, cell):
        start = start_at(size, cell)
        found = self.compare(tmp_path, FAMILY.from_text(size, start=start, goal=start))
        blank = {0: "corner", 1: "edge", 4: "center"}[cell]
        assert found == TABLES[f"3x3 sliding, single-tile, blank {blank}"]["counts"]

    @pytest.mark.slow
    @pytest.mark.parametrize(("size", "cell"), [("2x5", 0), ("5x2", 3), ("2x5", 2)])
    def test_a_million_states(self, tmp_path, size, cell):
        start = start_at(size, cell)
        self.compare(tmp_path, FAMILY.from_text(size, start=start, goal=start), False)


TOKENS: dict[str, Any] = {
    "a few places": random_tokens(1),
    "many edges": random_tokens(2, places=(5, 6), edges=16, many=3),
    "ten places a side": random_tokens(3, places=(10, 10), edges=12, many=2),
    "ten and six places, 16 edges": random_tokens(5, places=(10, 6), edges=16, many=2),
    "one place a side": random_tokens(6, places=(1, 1), edges=3, many=40),
    "edges of one span": random_tokens(7, spans=(1, 6), edges=8, many=100),
    "no free steps": Tokens(
        840, (2, 2), [], [Edge(0, 0, 840, 11), Edge(0, 1, 28, 3), Edge(1, 1, 4), Edge(1, 0, 840)]
    ),
    "edges that leave the number alone": Tokens(
        60, (2, 2), [(0, 0), (1, 1)], [Edge(0, 0, 1), Edge(0, 1, 60), Edge(0, 1, 60), Edge(1, 0, 1)]
    ),
    "several starts": Tokens(
        360,
        (3, 2),
        [(0, 0), (1, 1)],
        [Edge(0, 1, 360, 7, 5), Edge(2, 0, 30, 1, 4), Edge(1, 0, 6)],
        starts=[0, 2, 5, 6, 777, 1000],
    ),
    "every state of a side is a start": Tokens(
        4, (2, 2), [(0, 0)], [Edge(1, 1, 4)], starts=[h * 4 + s for h in range(4) for s in (0, 1)]
    ),
}


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    known = {name: oracle.layers(puzzle) for name, puzzle in TOKENS.items()}
    return {**known, "tiles": oracle.layers(resolve("tiles:4x2"))}


class TestTokens:
    """The algebra knows nothing of tiles."""

    @pytest.mark.parametrize("name", TOKENS)
    def test_the_same_layers(self, tmp_path, expected, name):
        puzzle = TOKENS[name]
        outcome = search(puzzle, tmp_path / "run")
        assert outcome.reason == "exhausted"
        assert algebra_of(tmp_path / "run") == "fibre"
        assert_same_layers(layers(tmp_path / "run", puzzle), expected[name])
        assert_sound(tmp_path / "run")

    @pytest.mark.parametrize("seed", range(100, 118))
    def test_random_ones(self, tmp_path, monkeypatch, seed):
        names = [name for name in SETTINGS if name != "as in production"]
        SETTINGS[names[seed % len(names)]].install(monkeypatch)
        luck = np.random.default_rng(seed)
        sides = int(luck.integers(1, 7)), int(luck.integers(1, 7))
        puzzle = random_tokens(seed, places=sides, edges=int(luck.integers(1, 9)), many=6)
        search(puzzle, tmp_path / "run")
        assert_same_layers(layers(tmp_path / "run", puzzle), oracle.layers(puzzle))

    def test_keys_of_60_bits(self, tmp_path, monkeypatch):
        span = 2**58
        puzzle = Tokens(
            2**59,
            (2, 2),
            [(0, 0), (1, 1)],
            [Edge(0, 1, 2**59, 3**30, 2**57 + 1), Edge(1, 0, span, 5, 77), Edge(0, 1, 16, 3, 5)],
            starts=[(2**59 - 1) * 4],
        )
        depth = 16
        known = oracle.layers(puzzle, depth)
        assert sum(map(len, known)) > 1000
        for name in ("as in production", "many buckets", "combined in parts"):
            with monkeypatch.context() as patch:
                SETTINGS[name].install(patch)
                search(puzzle, tmp_path / name, max_depth=depth)
            assert_same_layers(layers(tmp_path / name, puzzle), known)


@pytest.mark.parametrize(("threads", "keep"), [(1, "frontier"), (3, "all")])
@pytest.mark.parametrize("setting", SETTINGS)
class TestSizes:
    """What a search finds depends neither on sizes nor on threads."""

    @pytest.mark.parametrize(
        "name", ["tiles", "a few places", "many edges", "ten and six places, 16 edges"]
    )
    def test_the_same_layers(self, tmp_path, monkeypatch, expected, name, setting, threads, keep):
        SETTINGS[setting].install(monkeypatch)
        puzzle = resolve("tiles:4x2") if name == "tiles" else TOKENS[name]
        search(puzzle, tmp_path / "run", threads=threads, keep=keep, algebra="fibre")
        assert counts(tmp_path / "run") == [len(layer) for layer in expected[name]]
        assert_sound(tmp_path / "run")
        if keep == "all":
            assert_same_layers(layers(tmp_path / "run", puzzle), expected[name])


class TestTheSizesDoWhatTheySay:
    """Else the tests above would compare nothing."""

    def run(self, tmp_path, monkeypatch, setting, puzzle="tiles:2x4"):
        SETTINGS[setting].install(monkeypatch)
        search(puzzle, tmp_path / "run", threads=1, algebra="fibre")
        return tmp_path / "run"

    @pytest.mark.parametrize("setting", ["pieces spill inside", "every piece spills"])
    def test_pools_spill(self, tmp_path, monkeypatch, setting):
        run = self.run(tmp_path, monkeypatch, setting)
        assert spilled(run) > 10

    def test_pieces_spill_inside(self, tmp_path, monkeypatch):
        calls = []
        inner = Worker.make_room

        def make_room(worker, records):
            if not worker.pool.has_room(records):
                calls.append(len(worker.pieces))
            inner(worker, records)

        monkeypatch.setattr(Worker, "make_room", make_room)
        self.run(tmp_path, monkeypatch, "pieces spill inside")
        assert len(calls) > 5

    @pytest.mark.parametrize(
        "setting", ["combined in parts", "one bucket in parts", "wide records in parts"]
    )
    def test_buckets_are_combined_in_parts(self, tmp_path, monkeypatch, setting):
        parts = Seen(monkeypatch, fibre_merge.FibreMerge, "_merge_parts")
        self.run(tmp_path, monkeypatch, setting)
        assert parts.calls > 10

    def test_arrivals_past_memory_are_read_in_chunks(self, tmp_path, monkeypatch):
        from extbfs.engine.arrivals import StoredArrivals

        read = Seen(monkeypatch, StoredArrivals, "chunks")
        self.run(tmp_path, monkeypatch, "parts from spill files", TOKENS["many edges"])
        assert read.calls > 10

    def test_nothing_is_routed_where_all_edges_are_local(self, tmp_path):
        search("tiles:3x3", tmp_path / "run", algebra="fibre")
        with extbfs.open_run(tmp_path / "run") as opened:
            assert {row["routed"] for row in opened.ledger.depths()[1:]} == {0}

    def test_a_bucket_with_just_as_many_arrivals_as_memory_ends(self, tmp_path, monkeypatch):
        """Once it halved its ranges for ever: all of a bucket had to fit for any part of it."""
        Cramped(arrivals=34, bucket_arrivals=1 << 30, part=1 << 15).install(monkeypatch)
        puzzle = TOKENS["many edges"]
        search(puzzle, tmp_path / "run", threads=1)
        assert counts(tmp_path / "run") == oracle.counts(puzzle)


class TestStopping:
    """Stopped anywhere and resumed, with other sizes even, it finds the same."""

    @pytest.mark.parametrize(
        ("name", "setting"),
        [
            ("tiles", "every piece spills"),
            ("tiles", "parts from spill files"),
            ("tiles", "many buckets"),
            ("many edges", "parts from spill files"),
        ],
    )
    def test_after_any_number_of_pieces_and_buckets(
        self, tmp_path, monkeypatch, expected, name, setting
    ):
        from extbfs.engine.control import Control

        SETTINGS[setting].install(monkeypatch)
        puzzle = resolve("tiles:4x2") if name == "tiles" else TOKENS[name]
        luck = np.random.default_rng(1)
        left = [0]

        def go_on(control):
            left[0] -= 1
            return left[0] > 0

        monkeypatch.setattr(Control, "go_on", property(go_on))
        monkeypatch.setattr(Control, "checkpoint_due", property(lambda _: luck.random() < 0.3))
        left[0] = 2
        search(puzzle, tmp_path / "run", algebra="fibre", threads=2)
        stops = 0
        with extbfs.open_run(tmp_path / "run") as opened:
            ended = opened.status()["reason"]
        while ended != "exhausted":
            stops += 1
            left[0] = int(luck.integers(1, 40 if name == "tiles" else 6))
            ended = resume(tmp_path / "run", puzzle, threads=1 + stops % 3).reason
            assert stops < 2000
        assert stops > (5 if name == "tiles" else 1)
        assert_same_layers(layers(tmp_path / "run", puzzle), expected[name])
        assert_sound(tmp_path / "run")

    def test_a_depth_begun_cramped_ends_with_ample_sizes(self, tmp_path, monkeypatch, expected):
        with monkeypatch.context() as patch:
            SETTINGS["parts from spill files"].install(patch)
            outcome = search(
                "tiles:4x2", tmp_path / "run", algebra="fibre", threads=1, max_depth=15
            )
            assert outcome.depth == 15
        resume(tmp_path / "run", max_depth=float("inf"))
        assert_same_layers(layers(tmp_path / "run"), expected["tiles"])
        assert algebra_of(tmp_path / "run") == "fibre"


class TestGoals:
    @pytest.mark.parametrize("setting", ["as in production", "combined in parts", "many buckets"])
    @pytest.mark.parametrize("seed", range(30, 34))
    def test_goals_are_found_at_their_depth_and_counted(self, tmp_path, monkeypatch, seed, setting):
        """Of goal states on both sides, those on the layer's side count and no others."""
        SETTINGS[setting].install(monkeypatch)
        puzzle = random_tokens(seed, goals=60)
        known = oracle.layers(puzzle)
        hits = [len(layer & puzzle.goal) for layer in known]
        outcome = search(puzzle, tmp_path / "all")
        assert outcome.reason == "exhausted"
        with extbfs.open_run(tmp_path / "all", puzzle=puzzle) as opened:
            rows = opened.ledger.depths()
        assert [row["goals"] for row in rows] == hits
        for row in rows:
            if row["goals"]:
                assert row["goal_key"] in known[row["depth"]] & puzzle.goal
        first = oracle.goal_depth(puzzle)
        outcome = search(puzzle, tmp_path / "goal", exhaust=False)
        assert (outcome.reason, outcome.depth) == (
            ("exhausted", len(known) - 1) if first is None else ("goal", first)
        )

    def test_is_goal_sees_every_state_once_and_no_others(self, tmp_path):
        puzzle = random_tokens(31, goals=1)
        seen: list[int] = []
        inner = puzzle.is_goal

        def is_goal(keys):
            seen.extend(keys.tolist())
            return inner(keys)

        puzzle.is_goal = is_goal
        known = oracle.layers(puzzle)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("puzzles.check.quick_check", lambda puzzle: None)
            search(puzzle, tmp_path / "run", threads=1)
        assert sorted(seen) == sorted(key for layer in known for key in layer)

    @pytest.mark.parametrize("where", range(6))
    def test_tiles_reach_a_goal_of_either_side(self, tmp_path, where):
        puzzle = FAMILY.from_text("2x3", start=start_at("2x3", where), goal=start_at("2x3", where))
        far = max(oracle.layers(puzzle), key=len)
        for key in sorted(far)[:3]:
            run = tmp_path / str(key)
            goal = str(puzzle.decode(key))
            puzzle_to = FAMILY.from_text("2x3", start=start_at("2x3", where), goal=goal)
            outcome = search(puzzle_to, run, exhaust=False)
            assert outcome.reason == "goal"
            with extbfs.open_run(run, puzzle=puzzle_to) as opened:
                assert opened.status()["goal"]["states"] == 1
                assert len(opened.path()) == outcome.depth + 1


class TestStarts:
    def test_on_both_sides_are_refused_in_one_sentence(self, tmp_path):
        both = Tokens(60, (2, 2), [(0, 0), (1, 1)], [Edge(0, 1, 60)], starts=[0, 2])
        with pytest.raises(PuzzleError, match="do not all stand on one side") as error:
            search(both, tmp_path / "run")
        assert "\n" not in str(error.value)
        assert not (tmp_path / "run" / "catalogue").exists()

    def test_on_both_sides_go_to_the_set_algebra_if_the_puzzle_says_so(self, tmp_path):
        both = Tokens(60, (2, 2), [(0, 0), (1, 1)], [Edge(0, 1, 60)], starts=[0, 2])
        both.bipartite = False
        search(both, tmp_path / "run")
        assert algebra_of(tmp_path / "run") == "set"
        assert counts(tmp_path / "run") == oracle.counts(both)

    def test_choice(self):
        puzzle = adapt(random_tokens(1))
        assert choose(puzzle) == "fibre"
        assert choose(puzzle, "set") == "set"
        assert choose(resolve("tiles:4x4", metric="multi")) == "set"
        with pytest.raises(extbfs.errors.UsageError, match="has no fibre"):
            choose(resolve("tiles:4x4", metric="multi"), "fibre")
        with pytest.raises(extbfs.errors.UsageError, match="is one of auto, set, fibre"):
            choose(puzzle, "fast")


class TestReading:
    @pytest.fixture(scope="class", params=["tiles:2x4", "a few places", "several starts"])
    @staticmethod
    def read(request, tmp_path_factory):
        run = tmp_path_factory.mktemp("read") / "run"
        puzzle = TOKENS.get(request.param) or resolve(request.param)
        with pytest.MonkeyPatch.context() as patch:
            SETTINGS["many buckets"].install(patch)
            search(puzzle, run, algebra="fibre")
        with extbfs.open_run(run, puzzle=puzzle) as opened:
            yield opened, puzzle, oracle.layers(puzzle)

    def test_depth_of_every_state(self, read):
        opened, puzzle, known = read
        luck = np.random.default_rng(2)
        for depth, layer in enumerate(known):
            for key in luck.choice(sorted(layer), min(3, len(layer)), replace=False).tolist():
                assert opened.depth_of(key) == depth
        reached = set().union(*known)
        rest = [key for key in range(puzzle.key_space) if key not in reached]
        for key in rest[:5]:
            assert opened.depth_of(key) is None

    def test_contains_every_state_of_the_layer_and_no_other(self, read):
        opened, puzzle, known = read
        everything = np.random.default_rng(3).permutation(
            np.arange(puzzle.key_space, dtype=np.uint64)
        )
        for depth, layer in enumerate(known):
            here = opened.contains(depth, everything)
            assert set(everything[here].tolist()) == layer

    def test_contains_takes_states_twice_and_from_beyond(self, read):
        opened, puzzle, known = read
        key = min(known[1])
        states = np.array([key, puzzle.key_space, key, 2**64 - 1, min(known[0])], np.uint64)
        assert opened.contains(1, states).tolist() == [True, False, True, False, False]

    def test_paths_are_shortest(self, read):
        opened, puzzle, known = read
        for depth in (0, 1, len(known) // 2, len(known) - 1):
            path = opened.path(to=max(known[depth]))
            assert len(path) == depth + 1
            assert oracle.is_path(puzzle, path)


def test_the_journal_tells_what_was_sent(tmp_path):
    search("tiles:3x3", tmp_path / "run", algebra="fibre")
    rows = events(tmp_path / "run", "depth")
    for before, row in pairwise(rows):
        assert row["arrivals"] == before["pending"]
        assert 0 <= row["routed"] <= row["arrivals"]


@pytest.mark.slow
class TestLarge:
    @pytest.mark.parametrize("algebra", ["set", "fibre"])
    def test_3x4_to_the_end(self, tmp_path, algebra):
        search("tiles:3x4", tmp_path / "run", algebra=algebra, memory="1GiB", keep="frontier")
        name = "4x3 sliding, single-tile, blank corner"
        assert counts(tmp_path / "run") == TABLES[name]["counts"]
        assert_sound(tmp_path / "run")

    @pytest.mark.parametrize(("algebra", "depth"), [("set", 24), ("fibre", 24)])
    def test_the_15_puzzle(self, tmp_path, algebra, depth):
        search(
            "tiles:4x4",
            tmp_path / "run",
            algebra=algebra,
            memory="512MiB",
            keep="frontier",
            max_depth=depth,
        )
        known = TABLES["4x4 sliding, single-tile, blank corner"]["counts"]
        assert counts(tmp_path / "run") == known[: depth + 1]
        assert_sound(tmp_path / "run")


@pytest.mark.parametrize("lie", LIES)
def test_no_search_begins_with_a_false_fibre(tmp_path, lie):
    with pytest.raises(PuzzleError) as error:
        search(lying(lie), tmp_path / "run")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run" / "catalogue").exists()
