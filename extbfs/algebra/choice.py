"""Which algebra a search runs on."""

from __future__ import annotations

from extbfs.algebra.contract import LayerAlgebra
from extbfs.algebra.sets import SetAlgebra
from extbfs.errors import UsageError
from puzzles.contract import Puzzle

ALGEBRAS = ("auto", "set")


def choose(puzzle: Puzzle, wanted: str = "auto") -> str:
    """The name of the algebra that a new search uses."""
    if wanted not in ALGEBRAS:
        raise UsageError(f"--algebra is one of {', '.join(ALGEBRAS)}, not {wanted!r}")
    return SetAlgebra.name


def make(name: str, puzzle: Puzzle) -> LayerAlgebra:
    """The algebra of that name for a puzzle."""
    if name == SetAlgebra.name:
        return SetAlgebra(puzzle)
    raise UsageError(f"this run was made by the algebra {name!r}, which this program does not have")
