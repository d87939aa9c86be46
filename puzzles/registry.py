"""From the text a user typed, or a stored spec, to a puzzle; and what there is to choose from.

A *family* makes puzzles. Families built in are named below; others are installed packages that
register an object with the methods of `Family` under the entry-point group `extbfs.puzzles`.
Listing imports neither numba nor any family.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol, cast

from puzzles.contract import Puzzle
from puzzles.errors import PuzzleError

GROUP = "extbfs.puzzles"


class Family(Protocol):
    """What an entry point of the group `extbfs.puzzles` names.

    Optional: `suffixes`, a tuple such as (".xml",), and `from_file(path, *, start, goal, metric,
    symmetry)` for families that read definition files.
    """

    def from_text(
        self,
        parameters: str,
        *,
        start: str | None = None,
        goal: str | None = None,
        metric: str | None = None,
        symmetry: bool = True,
    ) -> Puzzle:
        """The puzzle `family:parameters` with its options. Raises PuzzleError."""

    def from_spec(self, spec: Mapping[str, Any]) -> Puzzle:
        """The puzzle whose `spec` this is. Raises PuzzleError."""


@dataclass(frozen=True)
class FamilyInfo:
    """A family to choose: its name, how to write it, a line about it, where it comes from."""

    name: str
    usage: str
    summary: str
    source: str  # "built in", or the distribution that registers it
    suffixes: tuple[str, ...] = ()


@dataclass(frozen=True)
class LibraryEntry:
    """A puzzle with a name of its own: what it stands for and a line about it.

    also: other names it answers to. source: whose puzzle it is. known: plain data about it, such
    as its title and optimum, where somebody has found out.
    """

    name: str
    text: str
    summary: str
    also: tuple[str, ...] = ()
    source: str = ""
    known: Mapping[str, Any] = field(default_factory=dict)


_BUILT_IN = {
    "tiles": (
        "puzzles.tiles.family:FAMILY",
        FamilyInfo(
            "tiles",
            "tiles:ROWSxCOLUMNS",
            "sliding tiles on a board of any shape up to 20 cells",
            "built in",
        ),
    ),
    "blocks": (
        "puzzles.blocks.family:FAMILY",
        FamilyInfo(
            "blocks",
            "blocks:NAME",
            "sliding blocks of the library, or in a file .xml, .txt (a drawing) or .json",
            "built in",
            (".xml", ".txt", ".json"),
        ),
    ),
    "python": (
        "puzzles.python:FAMILY",
        FamilyInfo(
            "python", "MODULE:ATTRIBUTE", "a puzzle of your own, a Python object", "built in"
        ),
    ),
}

_TILES = (
    LibraryEntry("8-puzzle", "tiles:3x3", "181,440 states, at most 31 moves"),
    LibraryEntry("11-puzzle", "tiles:3x4", "239,500,800 states, at most 53 moves"),
    LibraryEntry("14-puzzle", "tiles:3x5", "653,837,184,000 states, at most 84 moves"),
    LibraryEntry("15-puzzle", "tiles:4x4", "10,461,394,944,000 states, at most 80 moves"),
)


def families() -> tuple[FamilyInfo, ...]:
    """All families, built in and installed, by name."""
    found = {name: info for name, (_, info) in _BUILT_IN.items()}
    for entry in _installed():
        if entry.name not in found:
            source = entry.dist.name if entry.dist is not None else "installed"
            found[entry.name] = FamilyInfo(
                entry.name, f"{entry.name}:PARAMETERS", f"from {source}", source
            )
    return tuple(found[name] for name in sorted(found))


@cache
def library() -> tuple[LibraryEntry, ...]:
    """The puzzles with a name of their own."""
    from puzzles.blocks import index

    blocks = (
        LibraryEntry(
            name,
            f"blocks:{name}",
            index.summary(entry),
            also=tuple(entry.get("also", ())),
            source=entry["source"],
            known=entry,
        )
        for name, entry in index.index().items()
    )
    return (*_TILES, *blocks)


def find(name: str) -> LibraryEntry | None:
    """The library's puzzle of this name, or of this other name."""
    return next((entry for entry in library() if name in (entry.name, *entry.also)), None)


def family(name: str) -> Family:
    """Import the family `name`. Raises PuzzleError when there is none or it cannot be imported."""
    if name in _BUILT_IN:
        module, _, attribute = _BUILT_IN[name][0].partition(":")
        return cast(Family, getattr(importlib.import_module(module), attribute))
    for entry in _installed():
        if entry.name == name:
            try:
                return cast(Family, entry.load())
            except Exception as error:
                raise PuzzleError(
                    f"the puzzle family {name} is registered as {entry.value},"
                    f" which cannot be imported: {error}"
                ) from error
    raise PuzzleError(f"there is no puzzle family {name!r}: there are {_names()}")


def resolve(
    text: str,
    *,
    start: str | None = None,
    goal: str | None = None,
    metric: str | None = None,
    symmetry: bool = True,
) -> Puzzle:
    """The puzzle a user means by a library name, family:parameters, a file or module:attribute.

    Raises PuzzleError.
    """
    options: dict[str, Any] = {"start": start, "goal": goal, "metric": metric, "symmetry": symmetry}
    entry = find(text)
    if entry is not None:
        return resolve(entry.text, **options)
    name, colon, parameters = text.partition(":")
    known = {info.name for info in families()}
    if colon and name in known:
        return family(name).from_text(parameters, **options)
    if Path(text).is_file():
        return _from_file(Path(text), options)
    if colon and _is_dotted(name) and _is_dotted(parameters):
        return family("python").from_text(text, **options)
    if name in known:
        usage = next(info.usage for info in families() if info.name == name)
        raise PuzzleError(f"{text!r} lacks its parameters: write {usage}")
    raise PuzzleError(_unknown(text))


def from_spec(spec: Mapping[str, Any], *, allow_import: str | None = None) -> Puzzle:
    """Rebuild a puzzle from its stored spec, plain data that may come from a stranger.

    Only a registered family is called. A puzzle of the family `python` is imported only if
    `allow_import` names the very same module:attribute. Raises PuzzleError.
    """
    name = spec.get("family") if isinstance(spec, Mapping) else None
    if not isinstance(name, str):
        raise PuzzleError("the stored puzzle names no family")
    if name == "python" and spec.get("object") != allow_import:
        if allow_import is None:
            raise PuzzleError(
                f"this run's puzzle is the Python object {spec.get('object')}, which is imported"
                f" only when you name it: add --puzzle {spec.get('object')}"
            )
        raise PuzzleError(
            f"this run's puzzle is the Python object {spec.get('object')}, not {allow_import}"
        )
    return family(name).from_spec(spec)


def _from_file(path: Path, options: dict[str, Any]) -> Puzzle:
    for name in (info.name for info in families()):
        if name == "python":
            continue
        maker: Any = family(name)
        if path.suffix.lower() in getattr(maker, "suffixes", ()):
            return cast(Puzzle, maker.from_file(str(path), **options))
    raise PuzzleError(
        f"{path} is a file that no puzzle family reads: it should end in {' or '.join(_suffixes())}"
    )


def _suffixes() -> list[str]:
    return [suffix for info in families() for suffix in info.suffixes]


def _unknown(text: str) -> str:
    """Why `text` is no puzzle, with what comes closest to it."""
    if Path(text).suffix.lower() in _suffixes():
        return f"there is no file {text}"
    names = [name for entry in library() for name in (entry.name, *entry.also)]
    close = difflib.get_close_matches(text.lower(), names, n=1)
    return (
        f"{text!r} is neither a puzzle of the library, nor family:parameters (families:"
        f" {_names()}), nor a file, nor module:attribute"
        + (f": did you mean {close[0]}?" if close else "")
    )


def _installed() -> list[metadata.EntryPoint]:
    return sorted(metadata.entry_points(group=GROUP), key=lambda entry: entry.name)


def _names() -> str:
    return ", ".join(info.name for info in families())


def _is_dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))
