"""Makes a full puzzle of a user's object that has only the members that matter."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from puzzles.contract import BasePuzzle
from puzzles.errors import PuzzleError
from puzzles.fibre import Fibre

if TYPE_CHECKING:
    from puzzles.contract import Flags, Keys

KEY_LIMIT = 2**64

_FLAGS = ("undirected", "bipartite", "has_goal", "symmetric")
_OPTIONAL_METHODS = (
    *("is_goal", "encode", "decode", "render", "move", "narrate", "warm", "describe"),
)
_SYMMETRY_METHODS = ("canonical", "orbit_size", "plain_successors")


class AdaptedPuzzle(BasePuzzle):
    """A user's object with the contract's defaults for what it lacks.

    What the object returns is checked for type and shape, since numpy and numba would convert it
    silently. `inner` is the object itself.
    """

    def __init__(self, inner: Any, name: str) -> None:
        self.inner = inner
        self.name = name
        self.spec = {"family": "python", "object": name}
        self.key_space = _whole(inner, name, "key_space", 1, KEY_LIMIT - 1)
        self.max_successors = _whole(inner, name, "max_successors", 1, 1 << 32)
        for flag in _FLAGS:
            value = getattr(inner, flag, False)
            if not isinstance(value, (bool, np.bool_)):
                raise PuzzleError(f"{name}.{flag} is {value!r}, and should be True or False")
            setattr(self, flag, bool(value))
        self.metric = str(getattr(inner, "metric", BasePuzzle.metric))
        self.metrics = tuple(getattr(inner, "metrics", (self.metric,)))
        fibre = getattr(inner, "fibre", None)
        if fibre is not None and not isinstance(fibre, Fibre):
            raise PuzzleError(
                f"{name}.fibre is {fibre!r}, and should be None or what puzzles.fibre.Fibre says"
            )
        self.fibre = fibre
        for method in ("starts", "successors", *_SYMMETRY_METHODS * self.symmetric):
            if not callable(getattr(inner, method, None)):
                raise PuzzleError(f"{name} has no method {method}(), which a puzzle needs")
        for method in (*_OPTIONAL_METHODS, "predecessors", *_SYMMETRY_METHODS):
            if callable(getattr(inner, method, None)) and method != "is_goal":
                setattr(self, method, getattr(inner, method))
        if self.has_goal and not callable(getattr(inner, "is_goal", None)):
            raise PuzzleError(f"{name} says that it has a goal, but has no method is_goal()")
        if not hasattr(inner, "has_goal"):
            self.has_goal = callable(getattr(inner, "is_goal", None))
        self._start_key: int | None = None
        self._goal_key: int | None = None

    def with_ends(self, start: int | None, goal: int | None) -> AdaptedPuzzle:
        """This puzzle, from one given start key to one given goal key (None: its own)."""
        for what, key in (("start", start), ("goal", goal)):
            if key is not None and not 0 <= key < self.key_space:
                raise PuzzleError(
                    f"the {what} of {self.name} is key {key}, not in 0 to {self.key_space - 1}"
                )
        if start is not None:
            self._start_key = self.spec["start"] = int(start)
        if goal is not None:
            self._goal_key = self.spec["goal"] = int(goal)
            self.has_goal = True
        return self

    def starts(self) -> Keys:
        """Sorted and unique, whatever the object gives; PuzzleError when they are no keys."""
        if self._start_key is not None:
            return np.array([self._start_key], dtype=np.uint64)
        given = self.inner.starts()
        try:
            keys = [int(key) for key in given]
        except (TypeError, ValueError):
            raise PuzzleError(f"{self.name}.starts() gives {given!r}, and not keys") from None
        if not keys:
            raise PuzzleError(f"{self.name}.starts() gives no start")
        for key in keys:
            if not 0 <= key < self.key_space:
                raise PuzzleError(
                    f"the start {key} of {self.name} is not in 0 to {self.key_space - 1}"
                )
        return np.array(sorted(set(keys)), dtype=np.uint64)

    def known_counts(self) -> Sequence[int] | None:
        """The object's own, unless the search begins elsewhere."""
        own = getattr(self.inner, "known_counts", None)
        if self._start_key is not None or not callable(own):
            return None
        return cast("Sequence[int] | None", own())

    def successors(self, keys: Keys, out: Keys) -> int:
        count = self.inner.successors(keys, out)
        if not isinstance(count, Integral) or not (
            0 <= int(count) <= len(keys) * self.max_successors
        ):
            raise PuzzleError(
                f"{self.name}.successors() returned {count!r} for {len(keys)} keys, and should"
                f" return how many it wrote, at most {len(keys) * self.max_successors}"
            )
        return int(count)

    def is_goal(self, keys: Keys) -> Flags:
        if self._goal_key is not None:
            return cast("Flags", keys == np.uint64(self._goal_key))
        if not self.has_goal:
            return np.zeros(len(keys), dtype=np.bool_)
        flags = np.asarray(self.inner.is_goal(keys))
        if flags.dtype != np.bool_ or flags.shape != keys.shape:
            raise PuzzleError(
                f"{self.name}.is_goal() returned {flags.dtype}{list(flags.shape)} for {len(keys)}"
                f" keys, and should return bool[{len(keys)}]"
            )
        return cast("Flags", flags)


def adapt(obj: Any, name: str | None = None) -> AdaptedPuzzle:
    """`obj` as a puzzle; PuzzleError names what it lacks or has of the wrong type.

    Needed: key_space, max_successors, starts(), successors(keys, out). name: what messages call
    it, and what its spec records as module:attribute; by default the object's own name.
    """
    if name is None:
        name = str(getattr(obj, "name", type(obj).__name__))
    return AdaptedPuzzle(obj, name)


def _whole(inner: Any, name: str, field: str, least: int, most: int) -> int:
    value: Any = getattr(inner, field, None)
    if value is None:
        raise PuzzleError(f"{name} has no {field}, which a puzzle needs")
    if type(value) is bool or not isinstance(value, Integral) or not least <= int(value) <= most:
        raise PuzzleError(f"{name}.{field} is {value!r}, and should be a number {least} to {most}")
    return int(value)
