"""Sets and loops: an obvious breadth-first search over the placements of a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from puzzles.blocks.model import Model
from puzzles.blocks.render import Placement

AROUND = ((-1, 0), (0, -1), (0, 1), (1, 0))


def covered(model: Model, kind: int, anchor) -> set:
    return {(anchor[0] + dy, anchor[1] + dx) for dy, dx in model.kinds[kind].cells}


def neighbours(model: Model, placement: Placement, metric: str) -> Iterator[Placement]:
    board = {(y, x) for y in range(model.height) for x in range(model.width)} - model.walls
    for kind, anchors in enumerate(placement):
        for number, anchor in enumerate(anchors):
            free = set(board)
            for k, others in enumerate(placement):
                for n, other in enumerate(others):
                    if (k, n) != (kind, number):
                        free -= covered(model, k, other)
            seen, ahead = {anchor}, [anchor]
            if metric == "straight":
                seen |= {at for way in AROUND for at in along(model, kind, anchor, way, free)}
                ahead = []
            while ahead:
                y, x = ahead.pop()
                for dy, dx in AROUND:
                    at = y + dy, x + dx
                    if at not in seen and covered(model, kind, at) <= free:
                        seen.add(at)
                        if metric == "moves":
                            ahead.append(at)
            rest = anchors[:number] + anchors[number + 1 :]
            for at in seen - {anchor}:
                moved = tuple(sorted((*rest, at)))
                yield (*placement[:kind], moved, *placement[kind + 1 :])


def along(model: Model, kind: int, anchor, way, free: set) -> Iterator[Any]:
    """Where a piece comes by when it keeps going one way."""
    while True:
        anchor = anchor[0] + way[0], anchor[1] + way[1]
        if not covered(model, kind, anchor) <= free:
            return
        yield anchor


def is_goal(model: Model, placement: Placement) -> bool:
    return model.has_goal and all(
        set(wanted) <= set(anchors) for wanted, anchors in zip(model.goal, placement, strict=True)
    )


def search(model: Model, metric: str) -> tuple[dict[Placement, Placement | None], list[int]]:
    """Every placement that can be reached with one before it, and the counts per depth."""
    before: dict[Placement, Placement | None] = {model.start: None}
    layer, counts = [model.start], []
    while layer:
        counts.append(len(layer))
        ahead = []
        for placement in layer:
            for after in neighbours(model, placement, metric):
                if after not in before:
                    before[after] = placement
                    ahead.append(after)
        layer = ahead
    return before, counts


def path(before: dict[Placement, Placement | None], end: Placement) -> list[Placement]:
    steps: list[Placement] = []
    at: Placement | None = end
    while at is not None:
        steps.append(at)
        at = before[at]
    return steps[::-1]
