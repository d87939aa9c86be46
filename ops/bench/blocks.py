"""The benchmark of sliding blocks: kernels, a whole search on disk, and other means beside it.

    python -m ops.bench.blocks --help

Prints one JSON object; ops/bench/README.md tells how to read it. Exit code 1 when a count of states
is wrong or a search fails.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from extbfs.sizes import parse_size
from ops.bench import block_rivals, child, machine, rivals, search, table
from ops.bench.command import Progress, run_benchmark
from ops.bench.figures import medians, ratio
from puzzles.blocks import index
from puzzles.blocks.family import FAMILY

SCHEMA = 1
PUZZLE = "hakoiri-hard"
METRIC = "steps"
MEMORY = 512 << 20
MOST_STATES = 10_000_000
"""How many states the hash set is given at most: it takes some seconds for them."""
QUICK_DEPTH = 30
SOLVED = ["hakoiri-basic", "klotski", "century", "shogi"]
QUICK_SOLVED = ["simplicity"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark as a command; its exit code."""
    return run_benchmark(benchmark, parse(arguments))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options, with the defaults filled in that depend on others."""
    parser = argparse.ArgumentParser(prog="python -m ops.bench.blocks", description=__doc__)
    add = parser.add_argument
    add("--max-depth", type=int, help=f"search {PUZZLE} only so deep, for a trial (all of it)")
    add("--memory", type=lambda text: parse_size(text, "--memory"), help="its budget (512MiB)")
    add("--threads", type=int, default=machine.cores(), help="worker threads (all cores)")
    add("--directory", type=Path, help="where to search, on the disk that is meant (here)")
    add("--repeat", type=int, default=1, help="repetitions; medians are reported (1)")
    add("--no-rivals", action="store_true", help="leave out the search by C++")
    add("--program", metavar="COMMAND", help="a solver to race, with {xml} for the puzzle's file")
    add(
        "--puzzle",
        action="append",
        metavar="NAME",
        help=f"what it solves, can be given often ({', '.join(SOLVED)})",
    )
    add("--metric", default=METRIC, help="what it counts as a move, as `extbfs start` (steps)")
    add("--output", type=Path, help="write the JSON to this file as well")
    add("--quick", action="store_true", help=f"a trial in seconds: to depth {QUICK_DEPTH}")
    options = parser.parse_args(arguments)
    options.counts = table.blocks(PUZZLE, METRIC)
    if options.max_depth is None and options.quick:
        options.max_depth = QUICK_DEPTH
    options.memory = options.memory or MEMORY
    options.directory = (options.directory or Path.cwd()).resolve()
    asked = options.puzzle or (QUICK_SOLVED if options.quick else SOLVED)
    options.puzzle = [index.called(name) for name in asked]
    unknown = [name for name, own in zip(asked, options.puzzle, strict=True) if own is None]
    if unknown:
        parser.error(f"{unknown[0]} is no puzzle of the library: `extbfs puzzles` lists it")
    if options.program is not None and block_rivals.PLACEHOLDER not in options.program:
        parser.error("--program has to say with {xml} where the puzzle's file goes")
    if options.max_depth is not None and not 1 <= options.max_depth <= options.counts.last:
        parser.error(f"--max-depth is from 1 to {options.counts.last}")
    if min(options.repeat, options.threads) < 1:
        parser.error("--repeat and --threads are at least 1")
    if not options.directory.is_dir():
        parser.error(f"{options.directory} is no directory")
    return options


def benchmark(options: argparse.Namespace, tell: Progress) -> dict[str, Any]:
    """Everything, the searches repeated; medians, with the rates of every repetition.

    Raises WrongCounts, ChildFailed or JournalFault.
    """
    tell("the kernels, one by one")
    kernels = _kernels(options)
    samples = []
    for turn in range(options.repeat):
        prefix = f"repetition {turn + 1} of {options.repeat}: "
        samples.append(_sample(options, kernels["key_spaces"][PUZZLE], _prefixed(tell, prefix)))
    return {
        "schema": SCHEMA,
        "benchmark": "blocks",
        "puzzle": PUZZLE,
        "metric": METRIC,
        "symmetry": False,
        "max_depth": options.max_depth,
        "memory_bytes": options.memory,
        "threads": options.threads,
        "repeat": options.repeat,
        "counts_are_right": True,
        "machine": machine.machine(options.directory),
        "versions": machine.versions(),
        **medians(samples),
        "repetitions": [_rates(sample) for sample in samples],
        "kernels": kernels["kernels"],
        "benchmark_peak_resident_bytes": child.own_peak(),
    }


def _prefixed(tell: Progress, prefix: str) -> Progress:
    return lambda text: tell(prefix + text)


def _kernels(options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, "-m", "ops.bench.block_kernels", *["--quick"] * options.quick]
    found: dict[str, Any] = json.loads(child.run(command, machine.ROOT).output)
    return found


def _sample(options: argparse.Namespace, key_space: int, tell: Progress) -> dict[str, Any]:
    """One repetition: all measurements, one after the other, and their ratios."""
    depth = options.max_depth
    tell(f"{PUZZLE} on disk, {'all of it' if depth is None else f'depths 0 to {depth}'}")
    found = _search(options, key_space)
    rows = found["search"].pop("depths")
    if options.no_rivals:
        found["cpp"] = {"skipped": "--no-rivals"}
    else:
        depth = rivals.depth_for(options.counts, rows[-1]["depth"], MOST_STATES)
        tell(f"depths 0 to {depth} by a hash set in C++")
        found["cpp"] = block_rivals.hash_set(FAMILY.model(PUZZLE), depth, options.counts)
    found["ratios"] = ratios(found, rows, options.threads)
    found["program"] = []
    if options.program is not None:
        how = block_rivals.Race(options.program, options.metric, options.memory, options.threads)
        for name in options.puzzle:
            tell(f"{name} by {options.program}")
            found["program"].append(block_rivals.race(how, name, options.directory))
    return found


def _search(options: argparse.Namespace, key_space: int) -> dict[str, Any]:
    """The search on disk. Its figures begin with depth 1, depth 0 having cost nothing."""
    counts, last = options.counts, options.max_depth
    how = ("--metric", METRIC, "--no-symmetry", "--exhaust")
    job = search.Job(PUZZLE, key_space, 1, last, options.memory, options.threads, options=how)
    found = search.measure(job, options.directory, counts)
    states = [1, *(row["states"] for row in found["depths"])]
    if last is None:
        counts.compare_whole(states, "the engine")
    return {
        "search": {
            **found,
            "largest_depth": max(found["depths"], key=lambda row: row["states"]),
            "states": sum(states),
            "eccentricity": len(states) - 1 if last is None else None,
            "peak_resident_to_memory": ratio(found["peak_resident_bytes"], options.memory),
        }
    }


def ratios(found: dict[str, Any], rows: list[dict[str, Any]], threads: int) -> dict[str, Any]:
    """Rates against rates; those per core divide by the cores that each side uses.

    The hash set is compared with the whole search, and with the depths that it has searched; by_cpu
    is of processor time instead, which what else runs on the machine disturbs less.
    """
    cpp = found["cpp"]
    theirs, ours = cpp.get("states_per_second"), found["search"]["range"]["states_per_second"]
    cpu = 1e9 * cpp["cpu_seconds"] / cpp["states"] if "states" in cpp else None
    shared = [row for row in rows if row["depth"] <= cpp.get("depth", -1)]
    seconds = sum(row["seconds"] for row in shared)
    same = sum(row["states"] for row in shared) / seconds if seconds > 0 else None
    return {
        "engine_to_cpp": ratio(ours, theirs),
        "engine_to_cpp_per_core": ratio(ours / threads, theirs),
        "engine_to_cpp_by_cpu": ratio(cpu, found["search"]["range"]["cpu_ns_per_state"]),
        "engine_to_cpp_same_depths": ratio(same, theirs),
        "engine_to_cpp_same_depths_per_core": ratio(same and same / threads, theirs),
    }


def _rates(sample: dict[str, Any]) -> dict[str, Any]:
    """The few figures of one repetition by which to judge how far they scatter."""
    return {
        "search": sample["search"]["range"]["states_per_second"],
        "cpp": sample["cpp"].get("states_per_second"),
        "program_to_extbfs": {
            row["puzzle"]: row.get("program_to_extbfs") for row in sample["program"]
        },
    }


if __name__ == "__main__":
    sys.exit(main())
