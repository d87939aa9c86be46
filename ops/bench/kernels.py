"""Nanoseconds a key of every kernel, one core, on layers that the engine itself has made.

    python -m ops.bench.kernels [--depth 22] [--dense-depth 28] [--output FILE]

Sparse data come from a layer of tiles:4x4, dense ones (for the bitmaps) from one of tiles:3x4.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import extbfs
from extbfs.algebra import records
from ops.bench import machine
from puzzles.contract import Puzzle
from puzzles.registry import resolve
from store.buckets import Buckets
from store.kernels import bitmap, codec, fingerprint, merge, sort
from store.pool import Pool, Records
from store.run import BLOCK_KEYS

U64 = np.uint64
ZERO = U64(0)
SLICE = 1 << 13
SORT_SIZES = (1 << 14, 1 << 17, 1 << 20, 1 << 22)
BUCKET = 1 << 20
BITMAP_BYTES = 2 << 20
LEAST_SECONDS = 0.2
LEAST_TURNS = 3
MOST_TURNS = 200

Keys = npt.NDArray[np.uint64]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """A layer, the one before it, and the children of its keys as they come, duplicates and all."""

    puzzle: Puzzle
    keys: Keys
    older: Keys
    children: Keys

    def buckets(self, share: int) -> Buckets:
        """Ranges that hold about `share` of the children each."""
        wanted = max(1, self.children.size // share)
        ordered = np.sort(self.children)
        cuts = ordered[np.arange(1, wanted) * ordered.size // wanted]
        ends = np.array([0, self.puzzle.key_space], np.uint64)
        return Buckets.of(np.unique(np.concatenate([ends[:1], cuts, ends[1:]])))

    def older_in(self, low: int, high: int) -> Keys:
        """The keys of the layer before in a half-open range."""
        first, last = np.searchsorted(self.older, np.array([low, high], np.uint64))
        return self.older[first:last]


def sample(name: str, depth: int) -> Sample:
    """Search a puzzle to `depth` in a directory of its own; that layer, and what belongs to it."""
    puzzle, keys, older = layers(name, depth)
    return Sample(puzzle, keys, older, children_of(puzzle, keys))


def layers(name: str, depth: int, **options: Any) -> tuple[Puzzle, Keys, Keys]:
    """A puzzle, its kernels loaded, its layer `depth` >= 1 and the one before it.

    options: metric and symmetry, as `extbfs.start` takes them.
    """
    with tempfile.TemporaryDirectory(prefix="extbfs-bench-") as home:
        run = Path(home) / "run"
        extbfs.start(name, run, max_depth=depth, exhaust=True, **options)
        with extbfs.open_run(run) as opened:
            keys, older = (np.concatenate(list(opened.states(d))) for d in (depth, depth - 1))
    puzzle = resolve(name, **options)
    puzzle.warm()
    return puzzle, keys, older


def children_of(puzzle: Puzzle, keys: Keys) -> Keys:
    """All children of keys, slice by slice, in the order in which the engine routes them."""
    out = np.empty(SLICE * puzzle.max_successors, np.uint64)
    parts = [
        out[: puzzle.successors(part, out[: part.size * puzzle.max_successors])].copy()
        for part in slices(keys, SLICE)
    ]
    return np.concatenate(parts)


def slices(keys: Keys, size: int) -> Iterator[Keys]:
    """The keys, `size` at a time."""
    for start in range(0, keys.size, size):
        yield keys[start : start + size]


def measure(
    name: str,
    items: int,
    call: Callable[[], object],
    prepare: Callable[[], object] = lambda: None,
    **more: Any,
) -> Row:
    """The median nanoseconds an item of call(); prepare() restores its data outside the time."""
    turns: list[int] = []
    prepare()
    call()  # compiled, and its pages touched
    while len(turns) < LEAST_TURNS or (
        len(turns) < MOST_TURNS and sum(turns) < LEAST_SECONDS * 1e9
    ):
        prepare()
        begun = time.perf_counter_ns()
        call()
        turns.append(time.perf_counter_ns() - begun)
    nanoseconds = statistics.median(turns) / max(1, items)
    return {"kernel": name, "ns_per_item": round(nanoseconds, 3), "items": items, **more}


def successors(data: Sample) -> Iterator[Row]:
    """Computing children, single-tile and multi-tile moves; items are children."""
    multi = resolve(data.puzzle.name, metric="multi")
    for metric, puzzle in (("single", data.puzzle), ("multi", multi)):
        yield successor_row(f"successors {metric}", puzzle, data.keys[: 1 << 20])


def successor_row(name: str, puzzle: Puzzle, keys: Keys, **more: Any) -> Row:
    """Computing the children of keys, slice by slice; items are children."""
    out = np.empty(SLICE * puzzle.max_successors, np.uint64)

    def call() -> int:
        return sum(
            puzzle.successors(part, out[: part.size * puzzle.max_successors])
            for part in slices(keys, SLICE)
        )

    children = call()
    row = measure(name, children, call, **more)
    row["ns_per_parent"] = round(row["ns_per_item"] * children / keys.size, 3)
    return row


def routing(data: Sample) -> Iterator[Row]:
    """Sending children to buckets, and bringing those of a bucket together."""
    buckets = data.buckets(BUCKET)
    pool = Pool(data.children.size * 8 * 2 + (1 << 22))
    pool.open(buckets)

    def call() -> None:
        for part in slices(data.children, 1 << 15):
            pool.route(part, part.size)

    more: Row = {"buckets": buckets.count, "bytes_a_record": buckets.dtype.itemsize}
    yield measure("route", data.children.size, call, pool.clear, **more)
    out: Records = np.empty(data.children.size, buckets.dtype)
    yield measure(
        "gather",
        data.children.size,
        lambda: [pool.gather(bucket, out, 0) for bucket in range(buckets.count)],
        **more,
    )


def sorting(data: Sample) -> Iterator[Row]:
    """Radix sort of a bucket's residuals and dropping its duplicates, at several sizes."""
    digits = np.empty(records.DIGIT_TABLE, np.uint64)
    for size in [size for size in SORT_SIZES if size <= data.children.size]:
        _, width, residuals = middle_bucket(data, size)
        bits = max(1, (width - 1).bit_length())
        digit = (
            records.NARROW_DIGIT if residuals.size < records.NARROW_BELOW else records.WIDE_DIGIT
        )
        # where 32 bits are too few the low ones go: the order stays, the range shrinks
        excess = max(0, bits - 32)
        narrow: Records = (residuals >> U64(excess)).astype(np.uint32)
        yield from _sort_rows(narrow, bits - excess, digit, digits)
        yield from _sort_rows(residuals, bits, digit, digits)


def _sort_rows(values: Records, bits: int, digit: int, digits: Keys) -> Iterator[Row]:
    n = U64(values.size)
    first, second = np.empty_like(values), np.empty_like(values)
    more: Row = {"bytes_a_record": values.dtype.itemsize, "bits": bits}

    def refill() -> None:
        first[:] = values

    yield measure(
        "radix sort",
        values.size,
        lambda: sort.radix_sort(first, second, n, U64(0), U64(bits), U64(digit), digits),
        refill,
        **more,
    )
    ordered = np.sort(values)

    def reorder() -> None:
        first[:] = ordered

    yield measure(
        "split duplicates",
        values.size,
        lambda: sort.split_duplicates(first, n, second),
        reorder,
        **more,
    )


def middle_bucket(data: Sample, share: int) -> tuple[int, int, Keys]:
    """(first key, width, residuals in the order of arrival) of a bucket in the middle."""
    buckets = data.buckets(share)
    bucket = buckets.count // 2
    low, width = buckets.low(bucket), buckets.width(bucket)
    inside = (data.children >= low) & (data.children - U64(low) < width)
    return low, width, data.children[inside] - U64(low)


def merging(data: Sample) -> Iterator[Row]:
    """Subtracting the layer before from a bucket, and widening its residuals to keys."""
    low, width, residuals = middle_bucket(data, BUCKET)
    values = np.unique(residuals)
    older = data.older_in(low, low + width)
    work, hits = values.copy(), np.empty(values.size + 1, np.uint64)
    out = np.empty(values.size, np.uint64)

    def refill() -> None:
        work[:] = values

    yield measure(
        "subtract",
        values.size + older.size,
        lambda: merge.subtract(
            work, U64(work.size), ZERO, ZERO, older, U64(older.size), U64(low), hits
        ),
        refill,
        values=int(values.size),
        older=int(older.size),
    )
    yield measure(
        "widen", values.size, lambda: merge.widen(values, U64(values.size), U64(low), out)
    )


def bitmaps(data: Sample) -> Iterator[Row]:
    """Marking a dense bucket, clearing the layer before, sweeping out what is left."""
    share = data.children.size
    while data.buckets(share).count < 3 or middle_bucket(data, share)[1] > 8 * BITMAP_BYTES:
        share //= 2
    low, width, residuals = middle_bucket(data, share)
    values = residuals.astype(np.uint32)
    older = data.older_in(low, low + width)
    words = (width + 63) // 64
    bits = np.zeros(words, np.uint64)
    twice = np.empty(values.size + 1, np.uint32)
    out = np.empty(values.size + 128, np.uint64)
    n = U64(values.size)
    more: Row = {"slots_per_item": round(width / max(1, values.size), 2)}

    def mark() -> int:
        return int(bitmap.mark(bits, values, n, twice))

    def clear() -> int:
        return int(bitmap.clear_hits(bits, older, U64(older.size), U64(low), twice))

    def sweep() -> int:
        room = U64(out.size - 64)
        return int(bitmap.sweep(bits, ZERO, U64(words), U64(low), out, room)[1])

    yield measure("bitmap mark", values.size, mark, lambda: bits.fill(0), **more)
    yield measure("bitmap clear hits", older.size, clear, mark, **more)
    bits.fill(0)
    mark()
    kept = sweep()
    yield measure("bitmap sweep", kept, sweep, mark, slots_per_item=round(width / max(1, kept), 2))


def coding(data: Sample) -> Iterator[Row]:
    """Encoding and decoding the layer block by block."""
    keys = data.keys[: max(BLOCK_KEYS, 1 << 21)]
    blocks = list(slices(keys, BLOCK_KEYS))
    work = np.empty(codec.WORK, np.uint64)
    room = 10 * BLOCK_KEYS + int(codec.PAD)
    bodies = [np.zeros(room, np.uint8) for _ in blocks]
    coded: list[Any] = []

    def encode() -> None:
        coded[:] = [
            codec.encode(block, U64(block.size), body, ZERO, work)
            for block, body in zip(blocks, bodies, strict=True)
        ]

    row = measure("encode", keys.size, encode)
    size = sum(int(end) for _, _, end in coded)
    bits = {"bits_per_key": round(8 * size / keys.size, 3)}
    yield {**row, **bits}
    out = np.empty(BLOCK_KEYS, np.uint64)
    calls = [
        (U64(how), body, ZERO, U64(end), U64(block.size), U64(shift), block[0], block[-1])
        for (how, shift, end), body, block in zip(coded, bodies, blocks, strict=True)
    ]

    def decode() -> None:
        for call in calls:
            fault = codec.decode(*call, work, out)
            assert fault == codec.OK

    yield {**measure("decode", keys.size, decode), **bits}


def fingerprints(data: Sample) -> Iterator[Row]:
    """The three fingerprints, block by block."""
    keys = data.keys[: 1 << 21]
    blocks = list(slices(keys, BLOCK_KEYS))
    yield measure(
        "fingerprint", keys.size, lambda: [fingerprint.fingerprint(block) for block in blocks]
    )
    yield measure(
        "fingerprint ascending",
        keys.size,
        lambda: [fingerprint.fingerprint_ascending(block) for block in blocks],
    )
    narrow = [(block - block[0]).astype(np.uint32) for block in blocks]
    yield measure(
        "fingerprint offset",
        keys.size,
        lambda: [fingerprint.fingerprint_offset(block, U64(5)) for block in narrow],
        bytes_a_record=4,
    )


def kernels(depth: int, dense_depth: int) -> dict[str, Any]:
    """All rows, with what they were measured on."""
    sparse = sample("tiles:4x4", depth)
    dense = sample("tiles:3x4", dense_depth)
    groups = (successors, routing, sorting, merging, coding, fingerprints)
    rows = [row for group in groups for row in group(sparse)]
    rows += bitmaps(dense)
    return {
        "schema": 1,
        "benchmark": "kernels",
        "sparse": {"puzzle": sparse.puzzle.name, "depth": depth, "keys": int(sparse.keys.size)},
        "dense": {"puzzle": dense.puzzle.name, "depth": dense_depth, "keys": int(dense.keys.size)},
        "machine": machine.machine(Path(tempfile.gettempdir())),
        "versions": machine.versions(),
        "kernels": rows,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as a command; its exit code."""
    parser = argparse.ArgumentParser(prog="python -m ops.bench.kernels", description=__doc__)
    parser.add_argument("--depth", type=int, default=22, help="layer of tiles:4x4 (22)")
    parser.add_argument("--dense-depth", type=int, default=28, help="layer of tiles:3x4 (28)")
    parser.add_argument("--output", type=Path, help="write the JSON to this file as well")
    options = parser.parse_args(arguments)
    text = json.dumps(kernels(options.depth, options.dense_depth), indent=1)
    if options.output is not None:
        options.output.write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
