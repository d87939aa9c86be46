"""What is known of a search of an untouched library puzzle, for later searches to agree with."""

from __future__ import annotations

from functools import cache
from typing import Any

from puzzles.blocks import index
from puzzles.blocks.definition import build
from puzzles.blocks.model import Model
from puzzles.blocks.xml_format import read_xml


def known_result(model: Model, metric: str, *, from_image: bool) -> dict[str, Any] | None:
    """As the puzzle contract says; None unless `model` is a puzzle of the library as it is there.

    from_image: mirror images are identified and the start has others than itself, so that a search
    counts distances from all of them: then only the optimum is known.
    """
    entry = index.index().get(model.name)
    if entry is None or _essence(model) != _essence(_library_model(model.name)):
        return None
    found = entry.get(metric, {})
    known: dict[str, Any] = {}
    if entry.get("solvable") is False:
        known["optimum"] = None
    elif "optimum" in found:
        known["optimum"] = found["optimum"]
    if not from_image:
        known |= {k: found[k] for k in ("eccentricity", "goal_states") if k in found}
        known |= {k: entry[k] for k in ("states",) if k in entry}
        known |= index.table(model.name, metric) or {}
    return known


@cache
def _library_model(name: str) -> Model:
    return build(read_xml(index.read(name), name))


def _essence(model: Model) -> tuple[Any, ...]:
    """All that counts depend on; names do not matter."""
    kinds = tuple((kind.cells, kind.count) for kind in model.kinds)
    return model.height, model.width, model.walls, kinds, model.start, model.goal
