"""Reading a run: counts, states, depths and paths, from any process, while it is written or not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from extbfs.errors import NotFound, NotKept
from extbfs.status import read_status

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from extbfs.algebra.contract import LayerAlgebra
    from extbfs.engine.ledger import Ledger
    from puzzles.contract import Puzzle
    from store.layer import Layer
    from store.source import FileSource

    Keys = npt.NDArray[np.uint64]


class Watcher(Protocol):
    """Is told how far a long reading has come."""

    def on_event(self, event: Mapping[str, Any]) -> None:
        """event["event"] is "message", with "text"."""


def open_run(run: str | os.PathLike[str], *, puzzle: str | Puzzle | None = None) -> Run:
    """Open a run for reading; nothing is written, and a live writer is not disturbed.

    puzzle: needed, where states are read or printed, if the puzzle is a Python object: its
    module:attribute, or the object. Raises NotARun, UnknownVersion, IntegrityError, NoPermission.
    """
    opened = Run(os.fspath(run), puzzle)
    opened.status()
    return opened


class Run:
    """A run directory, read-only. What it says is true for all depths complete at the moment."""

    def __init__(self, path: str, puzzle: str | Puzzle | None = None) -> None:
        self.directory = path
        self._named = puzzle
        self._ledger: Ledger | None = None
        self._puzzle: Puzzle | None = None
        self._algebra: LayerAlgebra | None = None
        self._layers: dict[int, Layer] = {}
        self._source: FileSource | None = None

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the catalogue and the files that were opened."""
        if self._ledger is not None:
            self._ledger.catalogue.close()
            self._ledger = None
        if self._source is not None:
            self._source.close()
            self._source = None
        self._layers = {}

    # What needs no catalogue

    def status(self) -> dict[str, Any]:
        """State, depth, rates, limits and the depth table; see extbfs.status for the schema."""
        return read_status(self.directory)

    @property
    def depths(self) -> list[dict[str, Any]]:
        """A row a complete depth: depth, states, cumulative, seconds, bytes, and more."""
        return list(self.status()["depths"])

    @property
    def counts(self) -> Keys:
        """States per depth: uint64[complete depths]."""
        import numpy as np

        return np.array([row["states"] for row in self.depths], np.uint64)

    # What the catalogue says

    @property
    def ledger(self) -> Ledger:
        """The records of the run."""
        if self._ledger is None:
            from extbfs.engine.ledger import Ledger
            from store.catalogue import Catalogue

            self._ledger = Ledger(Catalogue.open(self.directory, readonly=True))
        return self._ledger

    @property
    def meta(self) -> dict[str, Any]:
        """What made the run: versions of program and formats, puzzle spec and parameters."""
        return {**self.ledger.catalogue.meta, **self.ledger.get_json("run/spec")}

    @property
    def puzzle(self) -> Puzzle:
        """The puzzle, rebuilt from its stored spec and compared with the stored samples."""
        if self._puzzle is None:
            from extbfs.identity import compare_samples, rebuild

            found = rebuild(self.ledger.get_json("run/spec")["puzzle"], self._named)
            compare_samples(found, self.ledger.get_json("run/samples"))
            self._puzzle = found
        return self._puzzle

    @property
    def algebra(self) -> LayerAlgebra:
        """What the records of the run's layers mean."""
        if self._algebra is None:
            from extbfs.algebra.choice import make

            self._algebra = make(self.ledger.catalogue.meta["algebra"], self.puzzle)
        return self._algebra

    def layer(self, depth: int) -> Layer:
        """The layer of a complete depth. Raises NotFound, or NotKept when it was not kept."""
        if depth in self._layers:
            return self._layers[depth]
        from store import fs
        from store.layer import Layer
        from store.source import FileSource

        if self.ledger.depth(depth) is None:  # reading the whole table takes time at each depth
            last = len(self.ledger.depths()) - 1
            raise NotFound(f"depth {depth} is not complete: the run has depths 0 to {last}")
        runs = self.ledger.runs("layer", depth)
        if not runs:
            raise NotKept(
                f"layer {depth} is gone: this run keeps only what the search needs "
                "(--keep frontier), so paths, depths and states of earlier layers cannot be told"
            )
        if self._source is None:
            self._source = FileSource(self.directory, fs.current())
        inline = {i: run.inline for i, run in enumerate(runs) if not run.meta.file}
        layer = Layer(self._source, depth, [run.meta for run in runs], inline)
        self._layers[depth] = layer
        return layer

    # States, depths, paths

    def states(self, depth: int) -> Iterator[Keys]:
        """The keys of a depth, ascending, in blocks: uint64[n], each an array of its own."""
        from store.layer import Scratch

        layer = self.layer(depth)
        scratch = Scratch()
        if self.algebra.payload_bits:
            for keys, payload in layer.read_records(0, layer.blocks, scratch):
                yield self.algebra.states(depth, keys, payload)
        else:
            for keys in layer.read_blocks(0, layer.blocks, scratch):
                yield keys.copy()

    def contains(self, depth: int, states: Keys) -> npt.NDArray[np.bool_]:
        """Which of some states, uint64[n], lie in the layer of a depth: bool[n]."""
        return self.algebra.contains(self.layer(depth), states)

    def depth_of(self, state: str | int) -> int | None:
        """The depth of a state, as text or key; None if it is in no complete layer.

        Raises PuzzleError for text that is no state, NotKept for a run without its layers.
        """
        import numpy as np

        key = np.array([self.key_of(state)], np.uint64)
        wanted = self.puzzle.canonical(key)
        for depth in range(len(self.ledger.depths())):
            if bool(self.contains(depth, wanted)[0]):
                return depth
        return None

    def key_of(self, state: str | int) -> int:
        """The key of a state given as text, or a key as it is."""
        return self.puzzle.encode(state) if isinstance(state, str) else int(state)

    def no_solution(self) -> dict[str, int] | None:
        """{"states", "depth"}, how many were searched and how deep, if no state is a goal.

        None while that is not proved: without a goal, with one reached, or with more to search.
        """
        rows = self.ledger.depths()
        if (
            not self.puzzle.has_goal
            or any(row.get("goals") for row in rows)
            or self.ledger.get_json("run/exhausted") is None
        ):
            return None
        return {"states": rows[-1]["cumulative"], "depth": rows[-1]["depth"]}

    def path(self, to: str | int | None = None) -> list[int]:
        """The keys of a shortest path from a start to a state, or to the goal; both ends included.

        With symmetry the states are real ones again, from a real start on; the path may end at an
        image of the state that was asked for.
        Raises NotFound when the state is in no complete layer, or the run has reached no goal.
        """
        import numpy as np

        from extbfs.path import unfold, walk_back

        if to is None:
            row = next((row for row in self.ledger.depths() if row.get("goals")), None)
            if row is None:
                raise NotFound(self._goalless())
            key, depth = int(row["goal_key"]), int(row["depth"])
            wanted = None
        else:
            wanted = self.key_of(to)
            key = int(self.puzzle.canonical(np.array([wanted], np.uint64))[0])
            found = self.depth_of(wanted)
            if found is None:
                last = len(self.ledger.depths()) - 1
                raise NotFound(f"{to} is not among the states of depths 0 to {last}")
            depth = found
        return unfold(self.puzzle, walk_back(self, key, depth), wanted)

    def _goalless(self) -> str:
        """Why there is no path to a goal, in a sentence."""
        if not self.puzzle.has_goal:
            return f"{self.puzzle.name} has no goal; name a state with --to"
        if self.no_solution() is not None:
            return "there is no solution: no state that can be reached is the goal"
        return (
            f"the run has reached no goal up to depth {len(self.ledger.depths()) - 1}; search on, "
            "or name a state with --to"
        )

    def solutions(self) -> dict[str, Any]:
        """How many shortest solutions and goal states there are; see extbfs.solutions."""
        from extbfs.solutions import count_solutions

        return count_solutions(self)

    def verify(self, *, quick: bool = False, observer: Watcher | None = None) -> dict[str, Any]:
        """Check everything that the run records; see extbfs.verify for the report."""
        from extbfs.verify import verify_run_directory

        return verify_run_directory(self, quick=quick, observer=observer)
