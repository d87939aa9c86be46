"""The family `blocks`: from a library name, a file or a stored spec to a puzzle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from puzzles.blocks import index, markup, render
from puzzles.blocks.definition import Definition, build
from puzzles.blocks.drawing import read_drawing
from puzzles.blocks.gnome import is_map, read_json, read_map
from puzzles.blocks.model import Model
from puzzles.blocks.xml_format import read_xml
from puzzles.errors import PuzzleError

if TYPE_CHECKING:
    from puzzles.blocks.puzzle import BlocksPuzzle


class BlocksFamily:
    """Sliding blocks; parameters NAME of the library, FILE, or FILE:NAME of a map in it."""

    suffixes = (".xml", ".txt", ".json")

    def from_text(
        self,
        parameters: str,
        *,
        start: str | None = None,
        goal: str | None = None,
        metric: str | None = None,
        symmetry: bool = True,
    ) -> BlocksPuzzle:
        """`blocks:PARAMETERS` with the options of the command line. Raises PuzzleError."""
        return self._puzzle(self.model(parameters), start, goal, metric, symmetry)

    def from_file(
        self,
        path: str,
        *,
        start: str | None = None,
        goal: str | None = None,
        metric: str | None = None,
        symmetry: bool = True,
    ) -> BlocksPuzzle:
        """The puzzle of a definition file. Raises PuzzleError, which names the file."""
        return self._puzzle(model_of_file(Path(path)), start, goal, metric, symmetry)

    def from_spec(self, spec: Mapping[str, Any]) -> BlocksPuzzle:
        """The puzzle that wrote `spec`. Raises PuzzleError on anything else."""
        metric, symmetry = spec.get("metric"), spec.get("symmetry")
        if not isinstance(metric, str) or not isinstance(symmetry, bool):
            raise PuzzleError(
                "the stored puzzle should have a metric, a text, and symmetry, true or false"
            )
        stored = spec.get("model")
        if not isinstance(stored, Mapping):
            raise PuzzleError("the stored puzzle has no model")
        return self._puzzle(Model.from_spec(stored), None, None, metric, symmetry)

    def model(self, parameters: str) -> Model:
        """The model of `blocks:PARAMETERS`. Raises PuzzleError."""
        parameters = parameters.strip()
        own = index.called(parameters)
        if own is not None:
            entry = index.index()[own]
            definition = read_xml(index.read(own), own)
            return build(replace(definition, title=entry["title"], source=entry["source"]))
        if Path(parameters).is_file():
            return model_of_file(Path(parameters))
        file, colon, wanted = parameters.rpartition(":")
        if colon and Path(file).is_file():
            return model_of_file(Path(file), wanted)
        raise PuzzleError(
            f"blocks:{parameters[:100]} is neither a puzzle of the library nor a file: `extbfs"
            " puzzles` lists the library"
        )

    def _puzzle(
        self,
        model: Model,
        start: str | None,
        goal: str | None,
        metric: str | None,
        symmetry: bool,
    ) -> BlocksPuzzle:
        from puzzles.blocks.puzzle import BlocksPuzzle

        for option, text, changed in (
            ("--start", start, render.with_start),
            ("--goal", goal, render.with_goal),
        ):
            if text is not None:
                try:
                    model = changed(model, text)
                except PuzzleError as error:
                    raise PuzzleError(f"{option}: {error}") from None
        return BlocksPuzzle(model, metric=metric or "steps", use_symmetry=symmetry)


def model_of_file(path: Path, wanted: str | None = None) -> Model:
    """The model in a definition file: XML, a drawing, a map of GNOME Klotski, or maps in JSON.

    wanted: the name of one of several maps in one file. Raises PuzzleError naming the file.
    """
    try:
        with path.open("rb") as file:
            data = file.read(markup.LARGEST + 1)
    except OSError as error:
        raise PuzzleError(f"{path} cannot be read: {error.strerror}") from None
    name = "".join(sign if sign.isprintable() else "?" for sign in path.stem.strip())[:100]
    try:
        return build(_definition(data, name or "blocks", path.suffix.lower(), wanted))
    except PuzzleError as error:
        raise PuzzleError(f"{path}: {error}") from None


def _definition(data: bytes, name: str, suffix: str, wanted: str | None) -> Definition:
    if suffix != ".json" and wanted is not None:
        raise PuzzleError("the file holds one puzzle, so leave the name after it out")
    if suffix == ".xml":
        return read_xml(data, name)
    if len(data) > markup.LARGEST:
        raise PuzzleError(f"the file is larger than {markup.LARGEST // 1024} KiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PuzzleError(f"byte {error.start} is not valid UTF-8") from None
    if suffix == ".json":
        return read_json(text, name, wanted)
    if text.lstrip().startswith("<"):
        return read_xml(data, name)
    return read_map(text, name) if is_map(text) else read_drawing(text, name)


FAMILY = BlocksFamily()
