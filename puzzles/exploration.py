"""A small breadth-first search in RAM that remembers every move, for `puzzles.check`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from puzzles.errors import PuzzleError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from puzzles.contract import Keys, Puzzle

    Places = NDArray[np.int64]

_GUARD = 64  # words behind the room given to successors(), to see whether it writes past it
_MARK = np.uint64(0xA5A5A5A5A5A5A5A5)


@dataclass(frozen=True)
class Exploration:
    """The expanded states, their depths and their moves.

    keys: uint64[n], by depth and then ascending; depths: int64[n]. children: uint64[m], those of
    keys[i] at first[i] .. first[i+1]-1; parents: int64[m], positions in `keys`. known and
    known_depths: all states found, by key, expanded or not. most: the largest number of successors
    of a state.
    complete: nothing was left to expand.
    """

    keys: Keys
    depths: Places
    first: Places
    children: Keys
    parents: Places
    known: Keys
    known_depths: Places
    most: int
    complete: bool

    @property
    def depth(self) -> int:
        """The depth of the deepest expanded state."""
        return int(self.depths[-1])

    def find_expanded(self, wanted: Keys) -> Places:
        """Positions of `wanted` in `keys`, -1 for those not expanded."""
        order = np.argsort(self.keys, kind="stable")
        found = _find(self.keys[order], wanted)
        places: Places = np.where(found >= 0, order[found], -1)
        return places

    def child_depths(self) -> Places:
        """int64[m]: the depths of the children."""
        return self.known_depths[_find(self.known, self.children)]


def explore(puzzle: Puzzle, limit: int) -> Exploration:
    """Expand up to `limit` states, whole layers but for a sample of the last one.

    Raises PuzzleError when starts or successors are no keys, or are too many.
    """
    layer = _checked_starts(puzzle)
    known, known_depths = layer, np.zeros(len(layer), dtype=np.int64)
    keys: list[Keys] = []
    depths: list[Places] = []
    children: list[Keys] = []
    left, depth = max(limit, 1), 0
    while len(layer) and left > 0:
        if len(layer) > left:
            layer = layer[np.linspace(0, len(layer) - 1, left).astype(np.int64)]
        of_each = [children_of(puzzle, layer[i : i + 1]) for i in range(len(layer))]
        keys.append(layer)
        depths.append(np.full(len(layer), depth, dtype=np.int64))
        children += of_each
        left -= len(layer)
        found = distinct(np.concatenate(of_each))
        layer = found[_find(known, found) < 0]
        depth += 1
        known = np.concatenate([known, layer])
        known_depths = np.concatenate([known_depths, np.full(len(layer), depth, dtype=np.int64)])
        order = np.argsort(known, kind="stable")
        known, known_depths = known[order], known_depths[order]
    counts = np.array([len(of_one) for of_one in children], dtype=np.int64)
    return Exploration(
        keys=np.concatenate(keys),
        depths=np.concatenate(depths),
        first=np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)]),
        children=np.concatenate(children),
        parents=np.repeat(np.arange(len(counts), dtype=np.int64), counts),
        known=known,
        known_depths=known_depths,
        most=int(counts.max()),
        complete=len(known) == sum(len(part) for part in keys),
    )


def children_of(
    puzzle: Puzzle, keys: Keys, successors: Callable[[Keys, Keys], int] | None = None
) -> Keys:
    """What successors() (or another method like it) writes for `keys`, checked key by key.

    Raises PuzzleError on a key outside the key space, a write past the room given, a count that is
    none, changed input, or any error of the puzzle's own.
    """
    room = len(keys) * puzzle.max_successors
    buffer = np.full(room + _GUARD, _MARK, dtype=np.uint64)
    given = keys.copy()

    def wrong(what: str) -> PuzzleError:
        asked = named(puzzle, keys[0]) if len(keys) == 1 else f"{len(keys)} states"
        return PuzzleError(f"successors() of {asked} {what}")

    try:
        count: Any = (successors or puzzle.successors)(given, buffer[:room])
    except PuzzleError:
        raise
    except Exception as error:
        raise wrong(f"fails: {type(error).__name__}: {error}") from error
    if not isinstance(count, Integral):
        raise wrong(f"returns {count!r}, and should return a count")
    if not 0 <= int(count) <= room or (buffer[room:] != _MARK).any():
        raise wrong(f"writes more than max_successors = {puzzle.max_successors} a state")
    if not np.array_equal(given, keys):
        raise wrong("changes the keys it is given")
    children = buffer[: int(count)].copy()
    outside = children >= np.uint64(puzzle.key_space)
    if outside.any():
        raise wrong(
            f"gives key {children[np.argmax(outside)]}, and keys are below key_space ="
            f" {puzzle.key_space}"
        )
    return children


def distinct(keys: Keys) -> Keys:
    """The keys sorted, each once."""
    ordered = np.sort(keys)
    first = np.ones(len(ordered), dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def named(puzzle: Puzzle, key: Any) -> str:
    """A state in one line: its key, and what it decodes to where that is short."""
    try:
        text = str(puzzle.decode(int(key)))
    except Exception:  # a puzzle under suspicion may fail here as well
        text = ""
    if "\n" in text or len(text) > 200 or text in ("", str(int(key))):
        return f"key {int(key)}"
    return f"key {int(key)} {text}"


def _checked_starts(puzzle: Puzzle) -> Keys:
    starts = puzzle.starts()
    if not isinstance(starts, np.ndarray) or starts.dtype != np.uint64 or starts.ndim != 1:
        raise PuzzleError("starts() should return a one-dimensional array of uint64")
    if not len(starts):
        raise PuzzleError("starts() returns no start")
    if (starts[1:] <= starts[:-1]).any():
        raise PuzzleError("starts() should be sorted, each key once")
    if int(starts[-1]) >= puzzle.key_space:
        raise PuzzleError(
            f"the start with key {starts[-1]} is not below key_space = {puzzle.key_space}"
        )
    return starts


def _find(ordered: Keys, wanted: Keys) -> Places:
    """Positions of `wanted` in the sorted array, -1 for those that are not there."""
    place = np.searchsorted(ordered, wanted)
    place[place == len(ordered)] = 0
    return np.where(ordered[place] == wanted, place, -1)
