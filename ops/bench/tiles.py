"""The benchmark: sliding tiles on disk in a given memory, beside the same machine's other means.

    python -m ops.bench.tiles --help

Prints one JSON object; ops/bench/README.md tells how to read it. Exit code 1 when a count of states
is wrong or a search fails.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from extbfs.sizes import parse_size
from ops.bench import child, disk, machine, rivals, search
from ops.bench.command import Progress, run_benchmark
from ops.bench.figures import medians, ratio
from ops.bench.table import Board, Counts

SCHEMA = 1
RAM_DISK = Path("/dev/shm")
GIB = 1 << 30
DISK_SAMPLE = 2 * GIB
QUICK_SAMPLE = 64 << 20
QUICK_MEMORY = 512 << 20
IN_RAM, PEAK = "out of core / in RAM", "peak resident / memory"
RATE, BITS, TRAFFIC = "new states a second", "bits a state", "bytes moved a state"
LEAST = (IN_RAM, RATE)
ASKED = {
    "fibre": {IN_RAM: 0.8, PEAK: 1.1, RATE: 150e6, BITS: 16.0, TRAFFIC: 6.0},
    "set": {IN_RAM: 0.6, PEAK: 1.1, RATE: 40e6, BITS: 13.0},
}
"""What is asked of a search, by algebra."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark as a command; its exit code."""
    return run_benchmark(benchmark, parse(arguments))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options, with the defaults filled in that depend on others."""
    parser = argparse.ArgumentParser(prog="python -m ops.bench.tiles", description=__doc__)
    add = parser.add_argument
    add("--board", type=Board.parse, help="ROWSxCOLUMNS (4x4)")
    add("--from", dest="first", type=int, help="first depth that is reported (27)")
    add("--to", dest="last", type=int, help="last depth that is searched (29)")
    add("--memory", type=lambda text: parse_size(text, "--memory"), help="its budget (1GiB)")
    add("--threads", type=int, default=machine.cores(), help="worker threads (all cores)")
    add("--algebra", help="the search's own --algebra (what it chooses itself)")
    add("--directory", type=Path, help="where to search, on the disk that is meant (here)")
    add("--repeat", type=int, default=1, help="repetitions; medians are reported (1)")
    add("--no-ram", action="store_true", help="leave out the search on a RAM disk")
    add("--no-rivals", action="store_true", help="leave out the searches by numpy and C++")
    add("--output", type=Path, help="write the JSON to this file as well")
    add("--quick", action="store_true", help="a trial in seconds: 3x3, a small disk sample")
    options = parser.parse_args(arguments)
    quick = options.quick
    options.board = options.board or Board(*((3, 3) if quick else (4, 4)))
    options.counts = Counts(options.board)
    known = options.counts.last
    deepest = 29 if known is None else known if quick else min(29, known)
    options.last = deepest if options.last is None else options.last
    options.first = max(0, options.last - 2) if options.first is None else options.first
    options.memory = options.memory or (QUICK_MEMORY if quick else GIB)
    options.directory = (options.directory or Path.cwd()).resolve()
    if not 0 <= options.first <= options.last or (known is not None and options.last > known):
        parser.error("the depths asked for do not exist: 0 <= --from <= --to, and no deeper")
    if min(options.repeat, options.threads) < 1:
        parser.error("--repeat and --threads are at least 1")
    if not options.directory.is_dir():
        parser.error(f"{options.directory} is no directory")
    return options


def benchmark(options: argparse.Namespace, tell: Progress) -> dict[str, Any]:
    """Everything, repeated; the medians, with the rates of every repetition.

    Raises WrongCounts, ChildFailed or JournalFault.
    """
    tell("compiling or loading the kernels")
    _warm_up(options)
    samples = []
    for turn in range(options.repeat):
        prefix = f"repetition {turn + 1} of {options.repeat}: "
        samples.append(_sample(options, _prefixed(tell, prefix)))
    found = medians(samples)
    return {
        "schema": SCHEMA,
        "benchmark": "tiles",
        "board": str(options.board),
        "from": options.first,
        "to": options.last,
        "memory_bytes": options.memory,
        "threads": options.threads,
        "repeat": options.repeat,
        "counts_are_right": True if options.counts.counts else None,
        "machine": machine.machine(options.directory),
        "versions": machine.versions(),
        **found,
        "repetitions": [_rates(sample) for sample in samples],
        "bars": bars(found, options),
        "benchmark_peak_resident_bytes": child.own_peak(),
    }


def _prefixed(tell: Progress, prefix: str) -> Progress:
    return lambda text: tell(prefix + text)


def _job(options: argparse.Namespace, first: int, last: int, memory: int) -> search.Job:
    board = options.board
    name, key_space = f"tiles:{board}", board.states
    return search.Job(name, key_space, first, last, memory, options.threads, options.algebra)


def _warm_up(options: argparse.Namespace) -> None:
    job = _job(options, 0, min(4, options.last), options.memory)
    search.measure(job, options.directory, options.counts)


def _sample(options: argparse.Namespace, tell: Progress) -> dict[str, Any]:
    """One repetition: all measurements, one after the other, and their ratios."""
    board, counts = options.board, options.counts
    tell("rates of the disk")
    found: dict[str, Any] = {
        "disk": disk.sequential_rates(
            options.directory, QUICK_SAMPLE if options.quick else DISK_SAMPLE
        )
    }
    tell(f"depths 0 to {options.last} on disk")
    job = _job(options, options.first, options.last, options.memory)
    found["out_of_core"] = search.measure(job, options.directory, counts)
    found["in_ram"] = _in_ram(options, tell)
    found["numpy"] = found["cpp"] = {"skipped": "--no-rivals"}
    if not options.no_rivals:
        reason = rivals.why_not(board, counts)
        found["numpy"] = found["cpp"] = {"skipped": reason}
        if reason is None:
            depth = rivals.depth_for(counts, options.last)
            tell(f"depths 0 to {depth} by numpy")
            found["numpy"] = rivals.numpy_search(board, depth, counts)
            tell(f"depths 0 to {depth} by a hash set in C++")
            found["cpp"] = rivals.hash_set(board, depth, counts)
    found["ratios"] = ratios(found, options.threads)
    return found


def _in_ram(options: argparse.Namespace, tell: Progress) -> dict[str, Any]:
    """The same search with all the memory it can use, on a RAM disk; "skipped" tells why not."""
    counts = options.counts
    if options.no_ram:
        return {"skipped": "--no-ram"}
    if not RAM_DISK.is_dir():
        return {"skipped": f"there is no {RAM_DISK}"}
    if not counts.counts:
        return {"skipped": "how much memory it takes is not known for this board"}
    room = machine.available_memory() * 9 // 10
    disk_room = shutil.disk_usage(RAM_DISK).free * 9 // 10
    depth = search.deepest_in_ram(counts, options.last, room, disk_room)
    if depth is None or depth < options.first:
        return {"skipped": f"depth {options.first} does not fit {room} free bytes of memory"}
    limit, _ = search.ample_memory(counts, depth)
    tell(f"depths 0 to {depth} on a RAM disk")
    job = _job(options, options.first, depth, limit)
    with tempfile.TemporaryDirectory(prefix="extbfs-bench-", dir=RAM_DISK) as home:
        return search.measure(job, Path(home), counts)


def ratios(found: dict[str, Any], threads: int) -> dict[str, Any]:
    """Rates against rates; those per core divide by the cores that each side uses.

    out_of_core_to_in_ram is of the depths that both searches reached, all together; by_cpu is of
    processor time instead, which what else runs on the machine disturbs less.
    """
    out, ram = found["out_of_core"], found["in_ram"]
    pairs = list(zip(out["depths"], ram.get("depths", []), strict=False))
    cpu_slow = sum(ours["cpu_ns_per_state"] * ours["states"] for ours, _ in pairs)
    cpu_fast = sum(theirs["cpu_ns_per_state"] * theirs["states"] for _, theirs in pairs)
    slow = sum(ours["seconds"] for ours, _ in pairs)
    fast = sum(theirs["seconds"] for _, theirs in pairs)
    rate = out["range"]["states_per_second"]
    plain = found["numpy"].get("states_per_second")
    cpp = found["cpp"].get("states_per_second")
    per_core = None if rate is None else rate / threads
    return {
        "out_of_core_to_in_ram": ratio(fast, slow) if pairs else None,
        "out_of_core_to_in_ram_by_cpu": ratio(cpu_fast, cpu_slow) if pairs else None,
        "out_of_core_to_in_ram_by_depth": {
            str(ours["depth"]): ratio(ours["states_per_second"], theirs["states_per_second"])
            for ours, theirs in pairs
        },
        "engine_to_numpy": ratio(rate, plain),
        "engine_to_numpy_per_core": ratio(per_core, plain),
        "engine_to_cpp": ratio(rate, cpp),
        "engine_to_cpp_per_core": ratio(per_core, cpp),
        "disk_time_share": _disk_share(out, found["disk"]),
    }


def _disk_share(out: dict[str, Any], rates: dict[str, Any]) -> float | None:
    """The share of the time that the disk alone would need for the bytes that were moved."""
    moved, states = out["range"]["bytes_per_state"], out["range"]["states"]
    if moved is None:
        return None
    alone = moved["read"] / rates["read_bytes_per_second"]
    alone += moved["written"] / rates["write_bytes_per_second"]
    return ratio(states * alone, out["range"]["seconds"])


def bars(found: dict[str, Any], options: argparse.Namespace) -> list[dict[str, Any]]:
    """What is asked of the program on two cores, and whether it was met in this run."""
    out = found["out_of_core"]
    asked = ASKED["set" if options.algebra == "set" else "fibre"]
    values: dict[str, float | None] = {
        IN_RAM: found["ratios"]["out_of_core_to_in_ram"],
        PEAK: out["peak_resident_bytes"] / options.memory,
    }
    if str(options.board) == "4x4":
        moved = out["range"]["bytes_per_state"]
        values |= {
            RATE: out["range"]["states_per_second"],
            BITS: out["range"]["bits_per_state"],
            TRAFFIC: None if moved is None else moved["read"] + moved["written"],
        }
    return [
        {
            "what": what,
            "value": value if value is None else round(value, 3),
            "at_least" if what in LEAST else "at_most": asked[what],
            "met": None
            if value is None
            else (value >= asked[what] if what in LEAST else value <= asked[what]),
        }
        for what, value in values.items()
        if what in asked
    ]


def _rates(sample: dict[str, Any]) -> dict[str, Any]:
    """The few figures of one repetition by which to judge how far they scatter."""
    return {
        "disk_write": sample["disk"]["write_bytes_per_second"],
        "disk_read": sample["disk"]["read_bytes_per_second"],
        "out_of_core": sample["out_of_core"]["range"]["states_per_second"],
        "in_ram": sample["in_ram"].get("range", {}).get("states_per_second"),
        "numpy": sample["numpy"].get("states_per_second"),
        "cpp": sample["cpp"].get("states_per_second"),
        "out_of_core_to_in_ram": sample["ratios"]["out_of_core_to_in_ram"],
    }


if __name__ == "__main__":
    sys.exit(main())
