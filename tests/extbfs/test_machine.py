"""A search treated at random, step by step, and the oracle: one of them is a few sets.

hypothesis draws a graph, an engine of some size and a series of searches that are stopped, struck,
starved, resumed, verified and damaged; whatever a run says in between must be true.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import extbfs
from extbfs.engine.control import Control
from extbfs.engine.ledger import Ledger
from extbfs.engine.recover import recorded_ends
from store import fs, names
from store.catalogue import Catalogue
from store.errors import IntegrityError, StoreError
from tests import oracle
from tests.extbfs.runs import assert_sound, recorded_counts, resume, search
from tests.extbfs.tight import Tight
from tests.fakes.graphs import Graph, random_graph
from tests.faults import Fault, FaultyFileSystem, PowerCut

PLACE = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
MEMORIES = [
    Tight(block_keys=8, bucket_arrivals=20, inline=64),
    Tight(block_keys=8, bucket_arrivals=1 << 20, arrivals=24, slots=0, inline=0, slice_keys=16),
    Tight(block_keys=8, slots=1 << 40, piece_blocks=40, inline=1 << 12),
]


class Treatment(RuleBasedStateMachine):
    """One run directory, and what must be true of it."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(prefix="extbfs-machine-", dir=PLACE))
        self.run = self.place / "run"
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(Control, "checkpoint_due", property(lambda control: True))
        self.most: int | None = 0
        self.reported: list[int] = []

    @initialize(
        seed=st.integers(0, 1 << 16),
        states=st.integers(1, 250),
        degree=st.sampled_from([0.7, 1.5, 3]),
        undirected=st.booleans(),
        key_space=st.sampled_from([None, 1 << 33, (1 << 64) - 1]),
        keep=st.sampled_from(["all", "frontier"]),
        memory=st.sampled_from(MEMORIES),
    )
    def start(
        self,
        seed: int,
        states: int,
        degree: float,
        undirected: bool,
        key_space: int | None,
        keep: str,
        memory: Tight,
    ) -> None:
        starts = 1 + seed % min(3, states)
        self.graph: Any = random_graph(
            seed, states, degree, undirected=undirected, key_space=key_space, starts=starts
        )
        self.layers = oracle.layers(self.graph)
        self.counts = [len(layer) for layer in self.layers]
        self.keep = keep
        memory.install(self.patch)
        search(self.graph, self.run, keep=keep, max_depth=0)

    def teardown(self) -> None:
        fs.install(fs.FileSystem())
        self.patch.undo()
        shutil.rmtree(self.place)

    @invariant()
    def what_it_says_is_true(self) -> None:
        if self.run.exists():
            found = recorded_counts(self.run)
            assert found == self.counts[: len(found)]
            assert found[: len(self.reported)] == self.reported, "what was reported is lost"

    def go_on(self, **options: Any) -> Any:
        outcome = resume(self.run, self.graph, **options)
        self.reported = [int(n) for n in extbfs.open_run(self.run).counts]
        return outcome

    @rule(depths=st.integers(0, 6), threads=st.integers(1, 3), memory=st.sampled_from(MEMORIES))
    def resume_so_far(self, depths: int, threads: int, memory: Tight) -> None:
        memory.install(self.patch)
        depth = len(recorded_counts(self.run)) - 1 + depths
        outcome = self.go_on(max_depth=depth, threads=threads)
        assert outcome.reason in ("max-depth", "exhausted")
        assert self.reported == self.counts[: depth + 1]
        assert_sound(self.run)

    @rule(looks=st.integers(1, 40), threads=st.integers(1, 3))
    def stop(self, looks: int, threads: int) -> None:
        left = [looks]

        def go_on(control: Control) -> bool:
            left[0] -= 1
            if left[0] <= 0:
                control.signal = signal.SIGTERM
            return control.signal is None

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Control, "go_on", property(go_on))
            outcome = self.go_on(max_depth=float("inf"), threads=threads)
        assert outcome.reason in ("signal", "exhausted")
        assert_sound(self.run)

    @rule(at=st.integers(1, 120), seed=st.integers(0, 99), threads=st.integers(1, 3))
    def cut_the_power(self, at: int, seed: int, threads: int) -> None:
        faulty = FaultyFileSystem(self.run, at=at, fault=Fault.POWER_CUT)
        fs.install(faulty)
        try:
            self.go_on(max_depth=float("inf"), threads=threads)
        except PowerCut:
            faulty.lose_unsynced(random.Random(seed))
        else:
            faulty.forget()
        finally:
            fs.install(fs.FileSystem())

    @rule(
        at=st.integers(1, 120),
        fault=st.sampled_from([Fault.ONCE, Fault.FROM_THEN_ON]),
        code=st.sampled_from([errno.ENOSPC, errno.EIO]),
    )
    def break_the_disk(self, at: int, fault: Fault, code: int) -> None:
        fs.install(FaultyFileSystem(self.run, at=at, fault=fault, code=code))
        try:
            code = resume(self.run, self.graph, max_depth=float("inf")).exit_code
        except StoreError as error:
            code = error.exit_code
        finally:
            fs.install(fs.FileSystem())
        assert code in (0, 1, 20)
        assert extbfs.open_run(self.run).verify()["ok"]

    @rule(which=st.integers(0, 99), at=st.integers(0, 1 << 20), bit=st.integers(0, 7))
    def damage_and_repair(self, which: int, at: int, bit: int) -> None:
        """A flipped bit in what is recorded is found by verify, and never makes a wrong count."""
        with Catalogue.open(self.run, readonly=True) as catalogue:
            ledger = Ledger(catalogue)
            ends = recorded_ends(ledger, len(ledger.depths()))
        if not ends:
            return
        name = sorted(ends)[which % len(ends)]
        path = self.run / name
        whole = path.read_bytes()
        damaged = bytearray(whole)
        damaged[at % ends[name]] ^= 1 << bit
        path.write_bytes(damaged)
        problems = extbfs.open_run(self.run).verify()["problems"]
        assert any(path.name in problem["file"] for problem in problems)
        copy = self.place / "copy"
        shutil.copytree(self.run, copy)
        with contextlib.suppress(IntegrityError):
            resume(copy, self.graph, max_depth=float("inf"))
        found = recorded_counts(copy)
        assert found == self.counts[: len(found)]
        shutil.rmtree(copy)
        path.write_bytes(whole)

    @precondition(lambda self: self.keep == "all")
    @rule(which=st.integers(0, 1 << 20))
    def ask_for_a_state(self, which: int) -> None:
        with extbfs.open_run(self.run, puzzle=self.graph) as run:
            depth = which % len(recorded_counts(self.run))
            layer = sorted(self.layers[depth])
            assert [key for keys in run.states(depth) for key in keys.tolist()] == layer
            key = layer[which % len(layer)]
            assert run.depth_of(key) == depth
            path = run.path(key)
        assert len(path) == depth + 1
        assert oracle.is_path(self.graph, path)

    @rule()
    def finish(self) -> None:
        assert self.go_on(max_depth=float("inf")).reason == "exhausted"
        assert self.reported == self.counts
        assert_sound(self.run)
        assert os.listdir(self.run / names.SPILL) == []


Treatment.TestCase.settings = settings(
    max_examples=20,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestTreatment = Treatment.TestCase


def test_a_graph_of_one_state_is_still_a_graph() -> None:
    assert oracle.counts(Graph({0: []}, [0])) == [1]
