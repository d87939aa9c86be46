"""The commit protocol under every fault: the N-th durable operation fails, for every N.

After SQLite's tests: N goes up from 1 until a run passes untouched; after each failure the run
directory must open, hold what was reported, and lead to the end as if nothing had happened.
"""

from __future__ import annotations

import errno
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from store import fs
from store.errors import DiskFull, IoFailure, StoreError
from store.fs import FileSystem
from tests.faults import Fault, FaultyFileSystem, PowerCut
from tests.sandbox import open_directory
from tests.store import workload

ENOUGH = 400  # more operations than the workload has


@pytest.fixture
def base() -> Iterator[Path]:
    """A directory in memory: these tests sync thousands of times."""
    with open_directory(in_memory=True) as path:
        yield path


@contextmanager
def installed(disk: FileSystem) -> Iterator[None]:
    before = fs.install(disk)
    try:
        yield
    finally:
        fs.install(before)


def _interrupted(run: Path, disk: FaultyFileSystem) -> BaseException | None:
    """Work on `run` until the fault; what was raised, None if the end was reached."""
    with installed(disk):
        try:
            workload.work(run)
        except (StoreError, PowerCut) as error:
            return error
    return None


def _reported(disk: FaultyFileSystem) -> int:
    """The last depth whose commit had returned, by the operations that followed it."""
    statuses = [name for name in disk.operations if name == "create status.json.tmp"]
    return min(len(statuses), workload.DEPTHS) - 1


def _recover(run: Path, disk: FaultyFileSystem) -> None:
    depth = workload.check(run)
    assert depth >= _reported(disk)
    workload.work(run)
    workload.check_finished(run)


def _run(base: Path, name: object) -> Path:
    run = base / str(name)
    run.mkdir()
    return run


def test_the_workload_itself(base: Path) -> None:
    disk = FaultyFileSystem(base / "run")
    assert _interrupted(_run(base, "run"), disk) is None
    workload.check_finished(base / "run")
    assert 50 < disk.count < ENOUGH
    kinds = {name.split()[0] for name in disk.operations}
    assert kinds == {
        *("create", "pwrite", "truncate", "datasync", "mkdir"),
        *("replace", "unlink", "sync_dir", "commit"),
    }


@pytest.mark.parametrize("fault", [Fault.ONCE, Fault.FROM_THEN_ON], ids=lambda fault: fault.value)
@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC], ids=errno.errorcode.get)
def test_every_operation_fails_in_turn(base: Path, code: int, fault: Fault) -> None:
    for at in range(1, ENOUGH):
        run = _run(base, at)
        disk = FaultyFileSystem(run, at=at, fault=fault, code=code)
        error = _interrupted(run, disk)
        if error is None:
            if disk.count < at:
                return
            assert workload.check(run) == workload.DEPTHS - 1
            # Nothing failed, or what can be done without.
            assert all("reserve" in name or "commit" in name for name in disk.failed)
        elif code == errno.ENOSPC and "sync" not in disk.failed[0]:
            assert isinstance(error, DiskFull), disk.failed
        else:
            assert isinstance(error, (IoFailure, DiskFull)), disk.failed
        _recover(run, disk)
    pytest.fail("the workload never passed")


@pytest.mark.parametrize("loss", ["killed", "all", 1, 2, 3, 4])
def test_the_power_goes_before_every_operation(base: Path, loss: str | int) -> None:
    for at in range(1, ENOUGH):
        run = _run(base, at)
        disk = FaultyFileSystem(run, at=at, fault=Fault.POWER_CUT)
        error = _interrupted(run, disk)
        if error is None:
            return
        assert isinstance(error, PowerCut)
        if loss == "all":
            disk.lose_unsynced()
        elif loss != "killed":
            disk.lose_unsynced(random.Random(f"{loss} {at}"))
        _recover(run, disk)
    pytest.fail("the workload never passed")


def test_a_second_failure_during_recovery(base: Path) -> None:
    rng = random.Random(20050709)
    whole = FaultyFileSystem(base / "whole")
    assert _interrupted(_run(base, "whole"), whole) is None
    for number in range(60):
        run = _run(base, number)
        first = FaultyFileSystem(run, at=rng.randint(10, whole.count), fault=Fault.POWER_CUT)
        assert isinstance(_interrupted(run, first), PowerCut)
        first.lose_unsynced(rng)
        depth = workload.check(run)
        kind = rng.choice([Fault.POWER_CUT, Fault.ONCE, Fault.FROM_THEN_ON])
        code = rng.choice([errno.EIO, errno.ENOSPC])
        second = FaultyFileSystem(
            run, at=rng.randrange(1, 30), fault=kind, code=code, remember=True
        )
        if isinstance(_interrupted(run, second), PowerCut):
            second.lose_unsynced(rng)
        assert workload.check(run) >= depth
        workload.work(run)
        workload.check_finished(run)
