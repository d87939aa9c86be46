"""Budgets: how the memory, the disk and the cores given are shared out before anything starts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from extbfs.errors import LimitError
from extbfs.sizes import format_size

MIB = 1 << 20
GIB = 1 << 30
BLOCK_KEYS = 32768
SLICE_CHILDREN = 1 << 17
"""Room for children of one kernel call. Few keys have the most that one can, so that these stay in
the second-level cache until routed."""
STAGING = 4 * MIB
BITMAP = 2 * MIB
WORKER_FIXED = 24 * MIB
"""Read buffers, decoded blocks, the encoder, its run under way and the one before."""
SMALLEST_ARRIVALS = 1 << 18
LARGEST_ARRIVALS = 1 << 22
SMALLEST_POOL = 4 * MIB
SLACK = 32 * MIB
"""Catalogue pages, file tables, interpreter objects and the allocator's waste."""
DISK_MARGIN = GIB


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Shares of the memory limit, in bytes; `arrivals`: records a worker can merge at once."""

    limit: int
    baseline: int
    threads: int
    pool: int
    arrivals: int
    slice_keys: int
    piece_keys: int

    @property
    def page_cache(self) -> int:
        """Bytes of a run directory up to which it is worth keeping in the system's page cache: as
        much again as the search may use itself."""
        return self.limit


def resident_bytes() -> int:
    """Resident memory of this process now, in bytes."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak_bytes()


def peak_bytes() -> int:
    """Peak resident memory of this process by the operating system's account, in bytes."""
    import resource
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def machine_memory() -> int:
    """Memory of the machine, or of the control group where that is less, in bytes."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(name).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit():
            total = min(total, int(text))
    return total


def default_memory() -> int:
    """Half of what the machine or its control group allows, in bytes."""
    return machine_memory() // 2


def default_threads() -> int:
    """The cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def plan_memory(
    limit: int,
    threads: int,
    worst: int,
    baseline: int,
    record_bytes: int = 16,
    most_arrivals: int = LARGEST_ARRIVALS,
) -> MemoryPlan:
    """Share out `limit` bytes; raise LimitError naming the least that works.

    worst: the most arrivals one key sends; record_bytes: memory of the merge for an arrival;
    most_arrivals: that it is worth having room for; baseline: resident bytes before any buffer of
    the engine is touched.
    """
    slice_keys = max(16, min(8192, SLICE_CHILDREN // worst))
    fixed = WORKER_FIXED + STAGING + BITMAP + slice_keys * worst * 8
    smallest = fixed + SMALLEST_ARRIVALS * record_bytes + _smallest_pool(worst)
    least = baseline + SLACK + threads * smallest
    if limit < least:
        raise LimitError(
            f"--memory {format_size(limit)} cannot work with {threads} threads: at least "
            f"{format_size(-(-least // MIB) * MIB)} is needed, {format_size(baseline)} of it for "
            "Python and the compiled kernels"
        )
    share = (limit - baseline - SLACK) // threads - fixed
    arrivals = max(SMALLEST_ARRIVALS, min(most_arrivals, share // 6 // record_bytes))
    pool = share - arrivals * record_bytes
    # a pool holds the worst case of at least four pieces
    piece_keys = max(slice_keys, min(8 * BLOCK_KEYS, pool // 4 // (8 * worst)))
    return MemoryPlan(limit, baseline, threads, pool, arrivals, slice_keys, piece_keys)


def _smallest_pool(worst: int) -> int:
    return max(SMALLEST_POOL, 2 * BLOCK_KEYS * worst * 8)
