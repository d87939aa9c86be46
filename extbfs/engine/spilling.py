"""Spilling: a worker's pool becomes a spill file, and a job that makes the file durable."""

from __future__ import annotations

import os
from collections.abc import Callable

from extbfs.engine.context import Engine
from extbfs.engine.ledger import DepthPlan
from extbfs.engine.worker import Worker
from store import names
from store.spill import SpillMeta, spill_length, write_spill


def spill_pool(
    engine: Engine, plan: DepthPlan, worker: Worker, number: int
) -> tuple[SpillMeta, Callable[[], None]]:
    """Write what a worker's pool holds to spill file `number` of the depth under way.

    Returns what to record of it, and the job after which it is durable; the pool is left as it is.
    Raises DiskLimit before anything is written, DiskFull after.
    """
    fs = engine.fs
    worker.clock.start()
    records, width = worker.pool.records, plan.buckets.dtype.itemsize
    engine.meter.take(spill_length(plan.buckets.count, records, width))
    name = names.spill_file(plan.depth, number)
    path = os.path.join(engine.run, name)
    fd, length, checksum = write_spill(fs, path, plan.depth, worker.pool, worker.staging)
    worker.clock.lap("spill")
    meta = SpillMeta(
        name,
        length,
        checksum,
        worker.sent.count,
        worker.sent.fingerprint,
        worker.parents.count,
        worker.parents.fingerprint,
        tuple(worker.pieces),
    )

    def sync() -> None:
        try:
            fs.datasync(fd)
        finally:
            fs.close(fd)
        fs.sync_dir(os.path.join(engine.run, names.SPILL))

    return meta, sync
