"""The puzzle contract: what the search asks of a puzzle, the defaults, and the adapter for users.

A *state* is named by its *key*, 0 <= key < key_space < 2**64, one key a state. Keys travel in
one-dimensional uint64 arrays.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from puzzles.fibre import Fibre

    Keys = NDArray[np.uint64]
    Flags = NDArray[np.bool_]
    Sizes = NDArray[np.unsignedinteger[Any]]


@runtime_checkable
class Puzzle(Protocol):
    """What the search needs of a puzzle. A false flag costs time; a false promise, the counts.

    name: how the user named it.
    spec: plain JSON data; `puzzles.registry.from_spec(spec)` rebuilds the puzzle.
    key_space: every key is below it; itself below 2**64.
    max_successors: an upper bound of the successors of one state, at least 1.
    metrics, metric: the ways to count moves that the puzzle knows, and the one in force.
    undirected: every move can be undone in one move.
    bipartite: the states have two colours, every move changes the colour, all starts have one.
    has_goal: `is_goal` means something.
    symmetric: layers hold canonical keys, one for each set of states that symmetries map to each
        other (an orbit); `starts` and `successors` give canonical keys.
    fibre: how the states lie over few keys (see `puzzles.fibre`), or None where nobody knows.
    """

    name: str
    spec: dict[str, Any]
    key_space: int
    max_successors: int
    metrics: tuple[str, ...]
    metric: str
    undirected: bool
    bipartite: bool
    has_goal: bool
    symmetric: bool
    fibre: Fibre | None

    def starts(self) -> Keys:
        """The start states: uint64, sorted, unique, at least one."""

    def successors(self, keys: Keys, out: Keys) -> int:
        """Write the successors of all `keys` to the front of `out`; return how many.

        keys: uint64[n], any order. out: uint64[>= n * max_successors], not overlapping `keys`.
        Duplicates may be written, and in any order. May be called by several threads at once.
        """

    def canonical(self, keys: Keys) -> Keys:
        """The canonical key of every state, uint64[n]; the keys themselves without symmetry."""

    def orbit_size(self, keys: Keys) -> Sizes:
        """How many states each canonical key stands for: unsigned[n]; 1 without symmetry."""

    def plain_starts(self) -> Keys:
        """The start states as they are, of which `starts` are the canonical keys."""

    def plain_successors(self, keys: Keys, out: Keys) -> int:
        """As `successors`, of states as they are and without making anything canonical."""

    def is_goal(self, keys: Keys) -> Flags:
        """bool[n]: which of `keys` (uint64[n]) are goal states."""

    def encode(self, text: str) -> int:
        """The key of the state a person wrote. Raises PuzzleError."""

    def decode(self, key: int) -> Any:
        """The state as plain Python data whose str() `encode` reads back."""

    def render(self, key: int) -> str:
        """The state drawn for a person; may have several lines."""

    def move(self, a: int, b: int) -> str:
        """The move that leads from key `a` to its successor `b`, in words."""

    def narrate(self, keys: Sequence[int]) -> Sequence[Mapping[str, Any]]:
        """The moves along a path of plain states that begins at a start, one a key but the first.

        Of each "move", in words, and "drawing", the state after it, both of which may follow a
        piece by name; a puzzle may add plain data of its own for programs.
        """

    def warm(self) -> None:
        """Compile, or load from the cache, every kernel the puzzle will need."""

    def describe(self) -> str:
        """One line for people."""

    def known_counts(self) -> Sequence[int] | None:
        """States per depth of the whole search, as published, or None.

        Never trusted: it only serves to say beforehand how large a search will be.
        """

    def known_result(self) -> Mapping[str, Any] | None:
        """What a search of this very puzzle has to find, or None; one that differs is an error.

        Any of: counts and canonical, per depth; states and eccentricity of the whole; optimum, None
        if there is no solution, and goal_states at it.
        """


class BasePuzzle:
    """The defaults of the contract; a puzzle overrides what it knows better."""

    name: str = "puzzle"
    spec: dict[str, Any]
    key_space: int
    max_successors: int
    metrics: tuple[str, ...] = ("moves",)
    metric: str = "moves"
    undirected: bool = False
    bipartite: bool = False
    has_goal: bool = False
    symmetric: bool = False
    fibre: Fibre | None = None

    def starts(self) -> Keys:
        raise NotImplementedError

    def successors(self, keys: Keys, out: Keys) -> int:
        raise NotImplementedError

    def canonical(self, keys: Keys) -> Keys:
        return keys

    def orbit_size(self, keys: Keys) -> Sizes:
        """All 1."""
        import numpy as np

        return np.ones(len(keys), dtype=np.uint8)

    def plain_starts(self) -> Keys:
        return self.starts()

    def plain_successors(self, keys: Keys, out: Keys) -> int:
        return self.successors(keys, out)

    def is_goal(self, keys: Keys) -> Flags:
        """All False: no goal."""
        import numpy as np

        return np.zeros(len(keys), dtype=np.bool_)

    def encode(self, text: str) -> int:
        """The key written as a number."""
        from puzzles.errors import PuzzleError

        try:
            key = int(text)
        except ValueError:
            raise PuzzleError(
                f"{self.name} names its states by number, and {text!r} is not one"
            ) from None
        if not 0 <= key < self.key_space:
            raise PuzzleError(f"key {key} is not in 0 to {self.key_space - 1} of {self.name}")
        return key

    def decode(self, key: int) -> Any:
        return int(key)

    def render(self, key: int) -> str:
        return str(self.decode(key))

    def move(self, a: int, b: int) -> str:
        return f"{self.decode(a)} -> {self.decode(b)}"

    def narrate(self, keys: Sequence[int]) -> Sequence[Mapping[str, Any]]:
        """Each move and state by itself."""
        return [
            {"move": self.move(a, b), "drawing": self.render(b)}
            for a, b in itertools.pairwise(keys)
        ]

    def warm(self) -> None:
        """Nothing to compile."""

    def describe(self) -> str:
        return self.name

    def known_counts(self) -> Sequence[int] | None:
        """None: nobody knows."""
        return None

    def known_result(self) -> Mapping[str, Any] | None:
        """None: nobody is sure."""
        return None


def adapt(obj: Any, name: str | None = None) -> Puzzle:
    """`obj`, which may lack every optional member, as a full puzzle; see `puzzles.adapter`."""
    from puzzles.adapter import adapt as adapt_object

    return adapt_object(obj, name)
