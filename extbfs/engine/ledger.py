"""The ledger: typed access to what a run's catalogue records.

run/spec                 puzzle and parameters, fixed at the start
run/state                last complete depth, seconds so far, why it stopped
run/samples              sample keys with their successors, compared on resume
depth/DDDDD              one row of the depth table
layer/DDDDD/BBBBBBBB.PPPP    part P of bucket B's run of layer D: the order is key order
visited/DDDDD/BBBBBBBB.PPPP  the same of the compacted visited set that reaches up to depth D
inline/KIND/...              the bytes of such a run when it is too small for a file
plan/DDDDD               buckets and pieces of the depth under way
spill/DDDDD/NNNNNN       a durable spill file of the depth under way, with its pieces
books/DDDDD/BBBBBBBB     what merging bucket B consumed, dropped and kept
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extbfs.engine.laws import NOTHING, Tally
from store.buckets import Buckets
from store.catalogue import Catalogue
from store.errors import IntegrityError
from store.index import RunIndex
from store.names import classify
from store.run import RunMeta
from store.spill import SpillMeta

BOOKS = struct.Struct("<12Q")
PLAN = struct.Struct("<QQQ")


@dataclass(frozen=True, slots=True)
class Books:
    """What merging one bucket, or many added up, consumed, kept and did with the rest.

    arrivals: records routed to it. kept: records of the new layer; states: the states they stand
    for. first, second: two tallies whose meaning is the algebra's. pending: what its records will
    send on. goals: goal states among the kept, one of them goal_key.
    """

    arrivals: Tally = NOTHING
    kept: Tally = NOTHING
    first: Tally = NOTHING
    second: Tally = NOTHING
    states: int = 0
    pending: int = 0
    goals: int = 0
    goal_key: int = 0

    def __add__(self, other: Books) -> Books:
        return Books(
            self.arrivals + other.arrivals,
            self.kept + other.kept,
            self.first + other.first,
            self.second + other.second,
            self.states + other.states,
            self.pending + other.pending,
            self.goals + other.goals,
            self.goal_key if self.goals else other.goal_key,
        )

    def pack(self) -> bytes:
        """Little-endian bytes for the catalogue."""
        tallies = (self.arrivals, self.kept, self.first, self.second)
        numbers = [number for tally in tallies for number in (tally.count, tally.fingerprint)]
        return BOOKS.pack(*numbers, self.states, self.pending, self.goals, self.goal_key)

    @classmethod
    def unpack(cls, data: bytes) -> Books:
        """The inverse of pack."""
        f = BOOKS.unpack(data)
        arrivals, kept, first, second = (Tally(f[i], f[i + 1]) for i in range(0, 8, 2))
        return cls(arrivals, kept, first, second, *f[8:])


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run where it lies: in the file its meta names, or here in `inline` when it names none.

    index: its index, where it need not be read from there.
    """

    meta: RunMeta
    inline: bytes = b""
    index: RunIndex | None = None


@dataclass(frozen=True, slots=True)
class DepthPlan:
    """How a depth is cut up, fixed when it begins: pieces of the layer before it, and buckets.

    Piece i is the blocks [i * piece_blocks, (i + 1) * piece_blocks) of layer depth - 1.
    """

    depth: int
    piece_blocks: int
    pieces: int
    buckets: Buckets

    def pack(self) -> bytes:
        """Little-endian bytes for the catalogue."""
        lows = self.buckets.lows.astype("<u8").tobytes()
        return PLAN.pack(self.depth, self.piece_blocks, self.pieces) + lows

    @classmethod
    def unpack(cls, data: bytes) -> DepthPlan:
        """The inverse of pack."""
        depth, piece_blocks, pieces = PLAN.unpack_from(data)
        lows = np.frombuffer(data, "<u8", offset=PLAN.size).astype(np.uint64)
        return cls(depth, piece_blocks, pieces, Buckets.of(lows))


class Ledger:
    """Stages typed records in a catalogue; nothing is durable before commit()."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    def commit(self) -> None:
        """Make everything staged durable in one transaction."""
        self.catalogue.commit()

    def put_json(self, key: str, value: Any) -> None:
        """Stage a JSON value."""
        self.catalogue.stage_json(key, value)

    def get_json(self, key: str) -> Any:
        """The JSON value of a key, or None."""
        return self.catalogue.get_json(key)

    # the depth table

    def put_depth(self, row: dict[str, Any]) -> None:
        """Stage the row of a complete depth."""
        self.put_json(f"depth/{row['depth']:05d}", row)

    def depth(self, depth: int) -> dict[str, Any] | None:
        """The row of a depth, or None while it is not complete."""
        row: dict[str, Any] | None = self.get_json(f"depth/{depth:05d}")
        return row

    def depths(self) -> list[dict[str, Any]]:
        """The rows of all complete depths, in order."""
        return [row for _, row in self.catalogue.scan_json("depth/")]

    # layers

    def put_runs(self, kind: str, depth: int, bucket: int, runs: Sequence[StoredRun]) -> None:
        """Stage the runs of one bucket of a layer (kind "layer") or visited set ("visited")."""
        puts = {}
        for part, run in enumerate(runs):
            key = f"{kind}/{depth:05d}/{bucket:08d}.{part:04d}"
            puts[key] = run.meta.pack()
            if not run.meta.file:
                puts[f"inline/{key}"] = run.inline
        self.catalogue.stage(puts)

    def runs(self, kind: str, depth: int) -> list[StoredRun]:
        """The runs recorded for a layer, in key order."""
        return [run for runs in self.runs_by_bucket(kind, depth).values() for run in runs]

    def runs_by_bucket(self, kind: str, depth: int) -> dict[int, list[StoredRun]]:
        """The runs recorded for a layer by bucket, in key order."""
        prefix = f"{kind}/{depth:05d}/"
        inline = dict(self.catalogue.scan(f"inline/{prefix}"))
        found: dict[int, list[StoredRun]] = {}
        for key, data in self.catalogue.scan(prefix):
            bucket = int(key[len(prefix) :].split(".")[0])
            run = StoredRun(RunMeta.unpack(data), inline.get(f"inline/{key}", b""))
            found.setdefault(bucket, []).append(run)
        return found

    def depths_of(self, kind: str) -> list[int]:
        """The depths that have runs of a kind, ascending."""
        return sorted({int(key.split("/")[1]) for key, _ in self.catalogue.scan(f"{kind}/")})

    def drop_runs(self, kind: str, depth: int) -> None:
        """Stage the removal of a layer's runs."""
        self._drop(f"{kind}/{depth:05d}/")
        self._drop(f"inline/{kind}/{depth:05d}/")

    # the depth under way

    def put_plan(self, plan: DepthPlan) -> None:
        """Stage the plan of a depth."""
        self.catalogue.stage({f"plan/{plan.depth:05d}": plan.pack()})

    def plan(self, depth: int) -> DepthPlan | None:
        """The plan of a depth, if it has begun."""
        data = self.catalogue.get(f"plan/{depth:05d}")
        return None if data is None else DepthPlan.unpack(data)

    def put_spill(self, depth: int, meta: SpillMeta) -> None:
        """Stage a durable spill file: from now on its pieces are finished."""
        self.put_json(f"spill/{depth:05d}/{file_number(meta.file):06d}", meta.to_json())

    def spills(self, depth: int) -> list[SpillMeta]:
        """The recorded spill files of a depth."""
        scan = self.catalogue.scan_json(f"spill/{depth:05d}/")
        return [SpillMeta.from_json(data) for _, data in scan]

    def put_books(self, depth: int, bucket: int, books: Books) -> None:
        """Stage what a bucket's merge recorded."""
        self.catalogue.stage({f"books/{depth:05d}/{bucket:08d}": books.pack()})

    def books(self, depth: int) -> dict[int, Books]:
        """The books of the finished buckets of the depth under way."""
        prefix = f"books/{depth:05d}/"
        return {
            int(key[len(prefix) :]): Books.unpack(data) for key, data in self.catalogue.scan(prefix)
        }

    def drop_progress(self, depth: int) -> None:
        """Stage the removal of plan, spill records and books of a depth that is complete."""
        self.catalogue.stage({}, [f"plan/{depth:05d}"])
        self._drop(f"spill/{depth:05d}/")
        self._drop(f"books/{depth:05d}/")

    def _drop(self, prefix: str) -> None:
        self.catalogue.stage({}, _keys(self.catalogue.scan(prefix)))


def _keys(items: Iterable[tuple[str, bytes]]) -> list[str]:
    return [key for key, _ in items]


def file_number(file: str) -> int:
    """The number in the name of a layer or spill file."""
    name = classify(file)
    if name is None or name.number is None:
        raise IntegrityError(file, "all", "no layer or spill file has such a name")
    return name.number
