"""Nanoseconds of the kernels of sliding blocks on one core, on layers that the engine has made.

    python -m ops.bench.block_kernels [--quick] [--output FILE]

`ops.bench.blocks` runs this in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ops.bench import machine
from ops.bench.kernels import SLICE, Keys, Row, layers, measure, slices, successor_row
from puzzles.contract import Puzzle
from puzzles.registry import resolve

MOST_KEYS = 1 << 18
SAMPLES = {  # puzzle, metric, symmetry: a depth, and one for a trial
    ("hakoiri-hard", "steps", False): (52, 24),
    ("hakoiri-hard", "steps", True): (52, 24),
    ("hakoiri-hard", "moves", False): (28, 10),
    ("hakoiri-hard", "moves", True): (28, 10),
    ("hakoiri-hard", "straight", False): (36, 14),
    ("klotski", "steps", False): (57, 20),
    ("klotski", "moves", False): (41, 12),
    ("sliding-digits", "steps", False): (50, 20),
    ("sliding-digits", "moves", False): (16, 5),
}
"""Of hakoiri-hard a million states and more, of klotski, which is small, its largest layers;
sliding-digits has more than 64 cells, which only the plain kernels serve."""


def rows(quick: bool) -> Iterator[Row]:
    """The figures of all samples."""
    for (name, metric, symmetry), depths in SAMPLES.items():
        depth = depths[quick]
        puzzle, layer, _ = layers(name, depth, metric=metric, symmetry=symmetry)
        keys = middle(layer, MOST_KEYS)
        about = {"puzzle": name, "metric": metric, "symmetry": symmetry, "depth": depth}
        for row in (successor_row("successors", puzzle, keys), *by_key(puzzle, keys)):
            yield {**about, **row}


def middle(layer: Keys, most: int) -> Keys:
    """At most so many keys of a layer that follow each other."""
    first = max(0, layer.size - most) // 2
    return layer[first : first + most]


def by_key(puzzle: Puzzle, keys: Keys) -> Iterator[Row]:
    """The kernels of one answer a key. Without symmetry a canonical key is the key itself, decoded
    and numbered again."""

    def measured(name: str, call: Any) -> Row:
        return measure(name, keys.size, lambda: [call(part) for part in slices(keys, SLICE)])

    yield measured("goal test", puzzle.is_goal)
    yield measured("canonical" if puzzle.symmetric else "unrank and rank", puzzle.canonical)
    if puzzle.symmetric:
        yield measured("orbit size", puzzle.orbit_size)


def kernels(quick: bool) -> dict[str, Any]:
    """All rows, with what they were measured on."""
    names = dict.fromkeys(name for name, _, _ in SAMPLES)
    return {
        "schema": 1,
        "benchmark": "block_kernels",
        "key_spaces": {name: resolve(name).key_space for name in names},
        "machine": machine.machine(Path(tempfile.gettempdir())),
        "versions": machine.versions(),
        "kernels": list(rows(quick)),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as a command; its exit code."""
    parser = argparse.ArgumentParser(prog="python -m ops.bench.block_kernels", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a trial on small layers")
    parser.add_argument("--output", type=Path, help="write the JSON to this file as well")
    options = parser.parse_args(arguments)
    text = json.dumps(kernels(options.quick), indent=1)
    if options.output is not None:
        options.output.write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
