"""The family `python`: a user's own object, named module:attribute."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from puzzles.adapter import AdaptedPuzzle, adapt
from puzzles.errors import PuzzleError


class PythonFamily:
    """Puzzles that are Python objects; parameters MODULE:ATTRIBUTE."""

    def from_text(
        self,
        parameters: str,
        *,
        start: str | None = None,
        goal: str | None = None,
        metric: str | None = None,
        symmetry: bool = True,
    ) -> AdaptedPuzzle:
        """Import the object and adapt it; a class or function without arguments is called.

        start and goal are read by the object's own `encode`. Raises PuzzleError.
        """
        del symmetry
        puzzle = adapt(_imported(parameters), name=parameters)
        if metric is not None and metric != puzzle.metric:
            raise PuzzleError(
                f"{parameters} counts {puzzle.metric}, and cannot be asked for {metric!r}"
            )
        return puzzle.with_ends(
            None if start is None else puzzle.encode(start),
            None if goal is None else puzzle.encode(goal),
        )

    def from_spec(self, spec: Mapping[str, Any]) -> AdaptedPuzzle:
        """The puzzle of a spec; only for callers who know that the user named this object."""
        name = spec.get("object")
        if not isinstance(name, str):
            raise PuzzleError("the stored puzzle names no Python object")
        ends = spec.get("start"), spec.get("goal")
        if any(key is not None and type(key) is not int for key in ends):
            raise PuzzleError("the stored puzzle's start and goal should be keys")
        return adapt(_imported(name), name=name).with_ends(*ends)


def _imported(name: str) -> Any:
    module_name, _, attribute = name.partition(":")
    try:
        with _current_directory_importable():
            found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise PuzzleError(
            f"{name} cannot be imported: there is no module {error.name!r} here or installed"
        ) from error
    except Exception as error:
        raise PuzzleError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise PuzzleError(f"the module {module_name} has no {attribute!r}")
        found = getattr(found, part)
    is_maker = isinstance(found, type) or (callable(found) and not hasattr(found, "successors"))
    if not is_maker:
        return found
    try:
        return found()
    except Exception as error:
        raise PuzzleError(
            f"{name}() did not make a puzzle: {type(error).__name__}: {error}"
        ) from error


@contextmanager
def _current_directory_importable() -> Iterator[None]:
    """Look for modules in the current directory as well, last, as `python FILE` users expect."""
    sys.path.append("")
    try:
        yield
    finally:
        sys.path.remove("")


FAMILY = PythonFamily()
