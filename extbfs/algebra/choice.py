"""Which algebra a search runs on."""

from __future__ import annotations

from extbfs.algebra.contract import LayerAlgebra
from extbfs.algebra.fibre import FibreAlgebra
from extbfs.algebra.sets import SetAlgebra
from extbfs.errors import UsageError
from puzzles.contract import Puzzle

ALGEBRAS = ("auto", "set", "fibre")


def choose(puzzle: Puzzle, wanted: str = "auto") -> str:
    """The name of the algebra that a new search uses."""
    if wanted not in ALGEBRAS:
        raise UsageError(f"--algebra is one of {', '.join(ALGEBRAS)}, not {wanted!r}")
    if wanted == FibreAlgebra.name and not has_fibre(puzzle):
        raise UsageError(f"{puzzle.name} has no fibre: it can only be searched with --algebra set")
    if wanted == "auto":
        return FibreAlgebra.name if has_fibre(puzzle) else SetAlgebra.name
    return wanted


def has_fibre(puzzle: Puzzle) -> bool:
    """Whether the fibre algebra can search a puzzle."""
    return puzzle.fibre is not None and puzzle.undirected and puzzle.bipartite


def make(name: str, puzzle: Puzzle) -> LayerAlgebra:
    """The algebra of that name for a puzzle."""
    if name == SetAlgebra.name:
        return SetAlgebra(puzzle)
    if name == FibreAlgebra.name and puzzle.fibre is not None:
        return FibreAlgebra(puzzle, puzzle.fibre)
    raise UsageError(f"this run was made by the algebra {name!r}, which this program does not have")
