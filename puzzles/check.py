"""Are a puzzle's promises true? Explores its first states in RAM and compares.

A false promise gives silently wrong counts, so every search starts with `quick_check`; `check`
explores farther and reports everything. Neither proves a promise: they look at what they reach.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from puzzles.errors import PuzzleError
from puzzles.exploration import Exploration, children_of, distinct, explore, named
from puzzles.fibre_check import compare_fibre

if TYPE_CHECKING:
    from puzzles.contract import Keys, Puzzle

BLOCKS = (1, 7, 64, 4096)  # keys a call, to see whether the way a layer is cut matters
SAMPLES = 32  # states looked at one by one


@dataclass(frozen=True)
class Check:
    """One promise. ok: True kept, False broken, None not made."""

    name: str
    ok: bool | None
    detail: str


@dataclass(frozen=True)
class Report:
    """What `check` found. states: how many were expanded; depth: that of the deepest of them."""

    puzzle: str
    states: int
    depth: int
    complete: bool
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether no promise was seen broken."""
        return all(check.ok is not False for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "puzzle": self.puzzle,
            "ok": self.ok,
            "states": self.states,
            "depth": self.depth,
            "complete": self.complete,
            "checks": [
                {"name": check.name, "ok": check.ok, "detail": check.detail}
                for check in self.checks
            ],
        }

    def to_text(self) -> str:
        """One line a promise."""
        what = "all its states" if self.complete else "its first states"
        lines = [f"{self.puzzle}: {self.states:,} states, depths 0 to {self.depth} ({what})"]
        for check in self.checks:
            mark = {True: "ok", False: "BROKEN", None: "-"}[check.ok]
            lines.append(f"  {mark:<7}{check.name}: {check.detail}")
        return "\n".join(lines)


def check(puzzle: Puzzle, states: int = 20_000) -> Report:
    """Explore up to `states` states and report on every promise. Raises nothing."""
    try:
        seen = explore(puzzle, states)
    except PuzzleError as error:
        failed = Check("exploration", False, str(error))
        return Report(puzzle.name, 0, 0, False, (failed,))
    checks = tuple(_run(name, test, puzzle, seen) for name, test in _TESTS)
    return Report(puzzle.name, len(seen.keys), seen.depth, seen.complete, checks)


def quick_check(puzzle: Puzzle, states: int = 2_000) -> None:
    """The same on the first layers, for every start. Raises PuzzleError naming state and promise.

    Takes some milliseconds where successors are compiled.
    """
    seen = explore(puzzle, states)
    for name, test in _TESTS:
        result = _run(name, test, puzzle, seen)
        if result.ok is False:
            raise PuzzleError(f"{puzzle.name} breaks a promise ({name}): {result.detail}")


class _NotMade(Exception):
    """The puzzle does not make this promise."""


def _run(
    name: str, test: Callable[[Puzzle, Exploration], str], puzzle: Puzzle, seen: Exploration
) -> Check:
    """`test` returns what it saw, or raises PuzzleError with what is wrong."""
    try:
        return Check(name, True, test(puzzle, seen))
    except _NotMade as reason:
        return Check(name, None, str(reason))
    except PuzzleError as error:
        return Check(name, False, str(error))
    except Exception as error:
        return Check(name, False, f"{type(error).__name__}: {error}")


def _keys(puzzle: Puzzle, seen: Exploration) -> str:
    """What `explore` has made sure of."""
    return (
        f"{len(seen.children):,} successors below {puzzle.key_space}, at most {seen.most} of"
        f" {puzzle.max_successors} a state"
    )


def _determinism(puzzle: Puzzle, seen: Exploration) -> str:
    """The same states give the same children again, and however the block is cut."""
    total = len(seen.keys)
    for size in BLOCKS:
        step = max(size, 64)
        for start in range(0, total, step):
            stop = min(start + step, total)
            once = distinct(seen.children[seen.first[start] : seen.first[stop]])
            parts = [
                children_of(puzzle, seen.keys[low : min(low + size, stop)])
                for low in range(start, stop, size)
            ]
            again = distinct(np.concatenate(parts))
            if not np.array_equal(once, again):
                raise PuzzleError(
                    f"asked again in blocks of {size}, the {stop - start} states from"
                    f" {named(puzzle, seen.keys[start])} on give other successors: key"
                    f" {np.setxor1d(once, again)[0]} comes only sometimes"
                )
    return f"the same successors in blocks of {', '.join(map(str, BLOCKS))} keys"


def _undirected(puzzle: Puzzle, seen: Exploration) -> str:
    """Every child's children contain the parent."""
    if not puzzle.undirected:
        raise _NotMade("not promised; every earlier layer will be subtracted")
    child = seen.find_expanded(seen.children)
    inside = child >= 0
    parents, child = seen.parents[inside], child[inside]
    edges = parents * len(seen.keys) + child
    back = child * len(seen.keys) + parents
    missing = ~np.isin(back, edges)
    if missing.any():
        edge = int(np.argmax(missing))
        raise PuzzleError(
            f"a move leads from {named(puzzle, seen.keys[parents[edge]])} to"
            f" {named(puzzle, seen.keys[child[edge]])}, and none leads back, so it is not"
            " undirected"
        )
    return f"{len(edges):,} moves can be undone"


def _bipartite(puzzle: Puzzle, seen: Exploration) -> str:
    """No move stays within a colour, the colour being the parity of the depth."""
    if not puzzle.bipartite:
        raise _NotMade("not promised; a layer's own states will be subtracted from its successors")
    wrong = (seen.child_depths() - seen.depths[seen.parents]) % 2 == 0
    if wrong.any():
        edge = int(np.argmax(wrong))
        raise PuzzleError(
            f"a move leads from {named(puzzle, seen.keys[seen.parents[edge]])} to"
            f" {named(puzzle, seen.children[edge])}, whose depths have the same parity, so it is"
            " not bipartite with all starts on one side"
        )
    return f"{len(seen.children):,} moves change the parity of the depth"


def _starts(puzzle: Puzzle, seen: Exploration) -> str:
    """What `explore` has made sure of."""
    del seen
    return f"{len(puzzle.starts())}, sorted, unique and below the key space"


def _goal(puzzle: Puzzle, seen: Exploration) -> str:
    """is_goal gives flags, and the same ones key by key."""
    if not puzzle.has_goal:
        raise _NotMade("no goal; the search runs to the end")
    flags = puzzle.is_goal(seen.keys)
    if not isinstance(flags, np.ndarray) or flags.dtype != np.bool_ or len(flags) != len(seen.keys):
        raise PuzzleError(f"is_goal() returns {type(flags).__name__}, and should return bool[n]")
    for i in _sample(seen):
        if bool(puzzle.is_goal(seen.keys[i : i + 1])[0]) != bool(flags[i]):
            raise PuzzleError(
                f"is_goal() answers differently for {named(puzzle, seen.keys[i])} alone"
            )
    return f"{int(flags.sum())} goal states among those seen"


def _text(puzzle: Puzzle, seen: Exploration) -> str:
    """What is printed can be read back."""
    read = 0
    for i in _sample(seen):
        key = int(seen.keys[i])
        for text in (str(puzzle.decode(key)), puzzle.render(key)):
            try:
                back = puzzle.encode(text)
            except Exception:  # not every drawing can be read
                continue
            if back != key:
                raise PuzzleError(f"{named(puzzle, key)} is read back as key {back}")
            read += 1
            break
    if not read:
        raise _NotMade("encode() reads neither what decode() nor what render() gives")
    return f"{read} states printed and read back"


def _moves(puzzle: Puzzle, seen: Exploration) -> str:
    """Moves and boards are text."""
    for edge in np.linspace(0, len(seen.children) - 1, SAMPLES).astype(np.int64):
        if not len(seen.children):
            break
        parent, child = int(seen.keys[seen.parents[edge]]), int(seen.children[edge])
        if not all(isinstance(t, str) for t in (puzzle.move(parent, child), puzzle.render(child))):
            raise PuzzleError(
                f"move() or render() gives no text for the move from {named(puzzle, parent)} to"
                f" {named(puzzle, child)}"
            )
    return "moves and boards come as text"


def _symmetry(puzzle: Puzzle, seen: Exploration) -> str:
    """Keys are canonical, and the plain successors have the canonical ones as their classes."""
    if not puzzle.symmetric:
        raise _NotMade("not used")
    quotient: Any = puzzle
    wrong = quotient.canonical(seen.keys) != seen.keys
    if wrong.any():
        raise PuzzleError(f"{named(puzzle, seen.keys[np.argmax(wrong)])} is not canonical")
    if int(np.min(quotient.orbit_size(seen.keys))) < 1:
        raise PuzzleError("orbit_size() is below 1 for some state")
    for i in _sample(seen):
        key = seen.keys[i : i + 1]
        plain = children_of(puzzle, key, quotient.plain_successors)
        classes = distinct(quotient.canonical(plain))
        if not np.array_equal(classes, distinct(children_of(puzzle, key))):
            raise PuzzleError(
                f"the successors of {named(puzzle, key[0])} are not the classes of its plain ones"
            )
    return f"{len(seen.keys):,} keys are canonical"


def _fibre(puzzle: Puzzle, seen: Exploration) -> str:
    """Every expanded state has the same neighbours by its fibre."""
    if puzzle.fibre is None:
        raise _NotMade("none; only the set algebra can search it")
    return compare_fibre(puzzle, puzzle.fibre, seen)


def _sample(seen: Exploration) -> list[int]:
    """Positions spread evenly over the expanded states, first and last among them."""
    places: Keys = np.linspace(0, len(seen.keys) - 1, SAMPLES).astype(np.uint64)
    return sorted({int(place) for place in places})


_TESTS: tuple[tuple[str, Callable[[Puzzle, Exploration], str]], ...] = (
    ("starts", _starts),
    ("keys", _keys),
    ("determinism", _determinism),
    ("undirected", _undirected),
    ("bipartite", _bipartite),
    ("goal", _goal),
    ("round trip", _text),
    ("words", _moves),
    ("symmetry", _symmetry),
    ("fibre", _fibre),
)
