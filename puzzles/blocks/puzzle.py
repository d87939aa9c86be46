"""Sliding blocks as a puzzle: a model in, dense keys inside, successors from the kernels."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from puzzles.blocks import keys, known, render, story, symmetry, tables
from puzzles.blocks.bounds import most_moves, most_steps, most_straight
from puzzles.blocks.grouped import Grouped
from puzzles.blocks.keys import Placement
from puzzles.blocks.model import Cell, Model
from puzzles.blocks.plain import Plain
from puzzles.contract import BasePuzzle
from puzzles.errors import PuzzleError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from puzzles.contract import Flags, Keys

METRICS = ("steps", "straight", "moves")
MOST = {"steps": most_steps, "straight": most_straight, "moves": most_moves}
"""What bounds the successors of a position."""
COUNTED = {
    "steps": "one cell a step",
    "straight": "one piece in one direction a move",
    "moves": "one piece a move",
}
"""What counts as one, in words."""


class BlocksPuzzle(BasePuzzle):
    """Blocks on a board, like ones not told apart.

    metric: `steps`, one piece one cell; `straight`, one piece any distance in one direction; or
    `moves`, one piece any distance along any path.
    use_symmetry: identify positions that a symmetry of the board, the shapes and the goal maps on
    each other, unless the model forbids it. Raises PuzzleError when keys need more than 64 bits.
    """

    metrics: tuple[str, ...] = METRICS
    undirected = True

    def __init__(self, model: Model, *, metric: str = "steps", use_symmetry: bool = True) -> None:
        if metric not in METRICS:
            known_ones = f"{', '.join(METRICS[:-1])} or {METRICS[-1]}"
            raise PuzzleError(f"{model.name} counts its moves in {known_ones}, not in {metric!r}")
        self.model = model
        self.metric = metric
        self.name = model.name
        self.spec = {
            "family": "blocks",
            "model": model.to_spec(),
            "metric": metric,
            "symmetry": use_symmetry,
        }
        self.has_goal = model.has_goal
        self.layout = keys.layout_of(model)
        self.key_space = self.layout.key_space
        every = use_symmetry and model.symmetric_allowed
        self.symmetries = symmetry.symmetries(model) if every else symmetry.symmetries(model)[:1]
        self.symmetric = len(self.symmetries) > 1
        self.bipartite = metric == "steps" and all(
            symmetry.keeps_parity(model, image) for image in self.symmetries
        )
        self.max_successors = MOST[metric](model) + self._kernels.SPARE

    @cached_property
    def _kernels(self) -> Plain | Grouped:
        found = tables.build(self.model, self.layout, self.symmetries)
        if found is not None:
            return Grouped(found)
        return Plain(self.model, self.layout, self.symmetries)

    # keys and positions

    def plain_key_of(self, placement: Placement) -> int:
        """The key of a position before symmetry; placement: sorted anchors per kind of the
        model."""
        return keys.key_of(self.model, self.layout, placement)

    def key_of(self, placement: Placement) -> int:
        """The key of a position, canonical where symmetry is used."""
        return min(self.plain_key_of(image) for image in self._images(placement))

    def placement_of(self, key: int) -> Placement:
        """The sorted anchors of each kind of the model; PuzzleError when the key is out of range
        or, where keys are not dense, no position."""
        return keys.placement_of(self.model, self.layout, int(key))

    def _images(self, placement: Placement) -> list[Placement]:
        """A position as every symmetry shows it."""
        images = []
        for image in self.symmetries:
            moved: list[list[Cell]] = [[] for _ in placement]
            for kind, places in enumerate(placement):
                moved[image.kinds[kind]] += [image.anchors[kind][place] for place in places]
            images.append(tuple(tuple(sorted(places)) for places in moved))
        return images

    # the contract

    def starts(self) -> Keys:
        return np.array([self.key_of(self.model.start)], dtype=np.uint64)

    def plain_starts(self) -> Keys:
        return np.array([self.plain_key_of(self.model.start)], dtype=np.uint64)

    def successors(self, keys: Keys, out: Keys) -> int:
        """As the contract says; fastest on sorted keys."""
        return self._successors(keys, out, len(self.symmetries))

    def plain_successors(self, keys: Keys, out: Keys) -> int:
        """The successors without symmetry; room as for `successors`."""
        return self._successors(keys, out, 1)

    def _successors(self, keys: Keys, out: Keys, views: int) -> int:
        if len(out) < len(keys) * self.max_successors:
            raise PuzzleError(
                f"{len(keys)} keys of {self.name} need room for"
                f" {len(keys) * self.max_successors} successors, and there is room for {len(out)}"
            )
        kernels = self._kernels
        by_metric = {"steps": kernels.steps, "straight": kernels.straight, "moves": kernels.moves}
        return by_metric[self.metric](views, _checked(keys), out)

    def canonical(self, keys: Keys) -> Keys:
        """uint64[n]: the least key among the images of each."""
        out = np.empty(len(keys), dtype=np.uint64)
        self._kernels.canonical(len(self.symmetries), _checked(keys), out)
        return out

    def orbit_size(self, keys: Keys) -> NDArray[np.uint8]:
        """uint8[n]: how many positions each key stands for."""
        fixed = np.empty(len(keys), dtype=np.uint64)
        self._kernels.stabilisers(len(self.symmetries), _checked(keys), fixed)
        return (np.uint64(len(self.symmetries)) // fixed).astype(np.uint8)

    def is_goal(self, keys: Keys) -> Flags:
        keys = _checked(keys)
        out = np.zeros(len(keys), dtype=np.bool_)
        if self.has_goal:
            self._kernels.holds(keys, out)
        return out

    def warm(self) -> None:
        """Compile or load the kernels."""
        keys = self.starts()
        out = np.empty(self.max_successors, dtype=np.uint64)
        self.successors(keys, out)
        self.is_goal(keys)
        if self.symmetric:
            self.canonical(keys)
            self.orbit_size(keys)

    # what is known

    @cached_property
    def _known(self) -> dict[str, Any] | None:
        images = {self.plain_key_of(image) for image in self._images(self.model.start)}
        return known.known_result(self.model, self.metric, from_image=len(images) > 1)

    def known_result(self) -> dict[str, Any] | None:
        """What is kept with the library, for a puzzle of it with its own start and goal."""
        return self._known

    def known_counts(self) -> list[int] | None:
        return (self._known or {}).get("counts")

    # for people

    def narrate(self, keys: Sequence[int]) -> list[dict[str, Any]]:
        """Every piece followed by the user's name; also "piece", "path" (a direction a step), and
        "from" and "to", row and column of its top left from 1."""
        model = self.model
        told = []
        for chapter in story.follow(model, [self.placement_of(key) for key in keys]):
            slide = chapter.slide
            ends = [
                [1 + n for n in story.corner(model.kinds[slide.kind], anchor)]
                for anchor in (slide.origin, slide.target)
            ]
            told.append(
                {
                    "move": chapter.text,
                    "drawing": chapter.board,
                    "piece": chapter.piece,
                    "path": list(slide.path),
                    "from": ends[0],
                    "to": ends[1],
                }
            )
        return told

    def decode(self, key: int) -> str:
        """The rows of the board with / between, a label for each piece, . empty, # wall."""
        return render.inline(self.model, self.placement_of(key))

    def render(self, key: int) -> str:
        return render.draw(self.model, self.placement_of(key))

    def render_goal(self) -> str | None:
        """The pieces that the goal asks for where it wants them, or None without a goal."""
        return render.draw_goal(self.model)

    def encode(self, text: str) -> int:
        """The key of a board as `decode` or `render` gives it, not made canonical.

        Raises PuzzleError.
        """
        return self.plain_key_of(render.parse(self.model, text))

    def move(self, a: int, b: int) -> str:
        """The piece and its way, as in "musume down 2, left"."""
        before = self.placement_of(a)
        for after in self._images(self.placement_of(b)):
            try:
                way = story.slide(self.model, before, after).path
            except PuzzleError:
                continue
            one = {"steps": len(way) == 1, "straight": len(set(way)) == 1, "moves": True}
            if one[self.metric]:
                return story.describe(self.model, before, after)
        raise PuzzleError(f"no move of {self.name} leads from key {a} to key {b}")

    def describe(self) -> str:
        what = COUNTED[self.metric]
        model = self.model
        own = f"{model.title}: " if self._known is None and model.title != model.name else ""
        return (
            f"{own}sliding blocks, {self.model.height} rows x {self.model.width} columns,"
            f" {self.model.piece_count} pieces, {what}, {self.key_space:,} keys"
        )


def _checked(keys: Keys) -> Keys:
    """The keys as the kernels are compiled for: writable and contiguous."""
    if keys.dtype != np.uint64:
        raise PuzzleError(f"keys are uint64, and these are {keys.dtype}")
    return keys if keys.flags.carray else keys.copy()
