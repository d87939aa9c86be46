"""Sliding blocks as a puzzle: a model in, dense keys inside, successors from the kernels."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from puzzles.blocks import kernels, keys, render, story, symmetry
from puzzles.blocks.bounds import most_moves, most_steps
from puzzles.blocks.model import Cell, Model
from puzzles.blocks.moves import moves
from puzzles.blocks.render import Placement
from puzzles.contract import BasePuzzle
from puzzles.errors import PuzzleError
from puzzles.jit import U64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from puzzles.contract import Flags, Keys

METRICS = ("steps", "moves")


class BlocksPuzzle(BasePuzzle):
    """Blocks on a board, like ones not told apart.

    metric: `steps`, one piece one cell, or `moves`, one piece any distance along any path.
    use_symmetry: identify positions that a symmetry of the board, the shapes and the goal maps on
    each other, unless the model forbids it. Raises PuzzleError when keys need more than 64 bits.
    """

    metrics: tuple[str, ...] = METRICS
    undirected = True

    def __init__(self, model: Model, *, metric: str = "steps", use_symmetry: bool = True) -> None:
        if metric not in METRICS:
            raise PuzzleError(
                f"{model.name} counts its moves in {' or '.join(METRICS)}, not in {metric!r}"
            )
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
        self.max_successors = most_steps(model) if metric == "steps" else most_moves(model)
        self._board = keys.board_of(model, self.layout, self.symmetries)
        self._views = U64(len(self.symmetries))
        goals = [
            (self.layout.order.index(k), self._cell(place))
            for k, of_kind in enumerate(model.goal)
            for place in of_kind
        ]
        self._goal_kind = np.array([kind for kind, _ in goals], dtype=np.uint64)
        self._goal_anchor = np.array([anchor for _, anchor in goals], dtype=np.uint64)
        self._local = threading.local()

    # keys and positions

    def _cell(self, place: Cell) -> int:
        return place[0] * self.model.width + place[1]

    def _scratch(self) -> _Buffers:
        try:
            buffers: _Buffers = self._local.buffers
        except AttributeError:
            buffers = self._local.buffers = _Buffers(self._board)
        return buffers

    def plain_key_of(self, anchors: Placement) -> int:
        """The key of a position before symmetry; anchors per kind of the model."""
        work = self._scratch().work
        piece = 0
        for kind, number in enumerate(self.layout.order):
            for place in anchors[number]:
                work.kind[piece] = kind
                work.anchor[piece] = self._cell(place)
                piece += 1
        return int(kernels.key_of(self._board, work))

    def key_of(self, anchors: Placement) -> int:
        """The key of a position, canonical where symmetry is used."""
        key = self.plain_key_of(anchors)
        return int(self.canonical(np.array([key], dtype=np.uint64))[0]) if self.symmetric else key

    def anchors_of(self, key: int) -> Placement:
        """The sorted anchors of each kind of the model; PuzzleError when the key is out of range
        or, where keys are not dense, no position."""
        key = int(key)
        if not 0 <= key < self.key_space:
            raise PuzzleError(f"key {key} is not in 0 to {self.key_space - 1} of {self.name}")
        work = self._scratch().work
        kernels.state_of(self._board, U64(key), work)
        found: list[list[Cell]] = [[] for _ in self.model.kinds]
        for kind, anchor in zip(work.kind[:-1].tolist(), work.anchor[:-1].tolist(), strict=True):
            found[self.layout.order[kind]].append(divmod(anchor, self.model.width))
        anchors = tuple(tuple(sorted(of_kind)) for of_kind in found)
        if not self.layout.dense and self.plain_key_of(anchors) != key:
            raise PuzzleError(f"key {key} of {self.name} is no position: pieces overlap")
        return anchors

    # the contract

    def starts(self) -> Keys:
        return np.array([self.key_of(self.model.start)], dtype=np.uint64)

    def plain_starts(self) -> Keys:
        return np.array([self.plain_key_of(self.model.start)], dtype=np.uint64)

    def successors(self, keys: Keys, out: Keys) -> int:
        """As the contract says; fastest on sorted keys."""
        return self._successors(keys, out, self._views)

    def plain_successors(self, keys: Keys, out: Keys) -> int:
        """The successors without symmetry; room as for `successors`."""
        return self._successors(keys, out, U64(1))

    def _successors(self, keys: Keys, out: Keys, views: U64) -> int:
        if len(out) < len(keys) * self.max_successors:
            raise PuzzleError(
                f"{len(keys)} keys of {self.name} need room for"
                f" {len(keys) * self.max_successors} successors, and there is room for {len(out)}"
            )
        keys = self._checked(keys)
        buffers = self._scratch()
        if self.metric == "steps":
            return int(kernels.steps(self._board, views, keys, out, buffers.work))
        return int(
            moves(self._board, views, keys, out, buffers.work, buffers.reached, buffers.stamp)
        )

    def _checked(self, keys: Keys) -> Keys:
        """The keys as the kernels are compiled for: writable and contiguous."""
        if keys.dtype != np.uint64:
            raise PuzzleError(f"keys are uint64, and these are {keys.dtype}")
        return keys if keys.flags.carray else keys.copy()

    def canonical(self, keys: Keys) -> Keys:
        """uint64[n]: the least key among the images of each."""
        out = np.empty(len(keys), dtype=np.uint64)
        work = self._scratch().work
        kernels.canonical(self._board, self._views, self._checked(keys), out, work)
        return out

    def orbit_size(self, keys: Keys) -> NDArray[np.uint8]:
        """uint8[n]: how many positions each key stands for."""
        fixed = np.empty(len(keys), dtype=np.uint64)
        work = self._scratch().work
        kernels.stabilisers(self._board, self._views, self._checked(keys), fixed, work)
        return (np.uint64(len(self.symmetries)) // fixed).astype(np.uint8)

    def is_goal(self, keys: Keys) -> Flags:
        if not self.has_goal:
            return np.zeros(len(keys), dtype=np.bool_)
        out = np.empty(len(keys), dtype=np.bool_)
        work = self._scratch().work
        goal = self._goal_kind, self._goal_anchor
        kernels.holds(self._board, *goal, self._checked(keys), out, work)
        return out

    def warm(self) -> None:
        """Compile or load the kernels."""
        keys = self.starts()
        out = np.empty(self.max_successors, dtype=np.uint64)
        self.successors(keys, out)
        self.is_goal(keys)
        self.canonical(keys)
        self.orbit_size(keys)

    # for people

    def narrate(self, keys: Sequence[int]) -> list[dict[str, Any]]:
        """Every piece followed by the user's name; also "piece", "path" (a direction a step), and
        "from" and "to", row and column of its top left from 1."""
        model = self.model
        told = []
        for chapter in story.follow(model, [self.anchors_of(key) for key in keys]):
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
        return render.inline(self.model, self.anchors_of(key))

    def render(self, key: int) -> str:
        return render.draw(self.model, self.anchors_of(key))

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
        before = self.anchors_of(a)
        for after in self._images(b):
            try:
                way = story.slide(self.model, before, after).path
            except PuzzleError:
                continue
            if self.metric != "steps" or len(way) == 1:
                return story.describe(self.model, before, after)
        raise PuzzleError(f"no move of {self.name} leads from key {a} to key {b}")

    def _images(self, key: int) -> list[Placement]:
        """The position of a key as every symmetry shows it."""
        anchors = self.anchors_of(key)
        images = []
        for image in self.symmetries:
            moved: list[list[Cell]] = [[] for _ in anchors]
            for kind, places in enumerate(anchors):
                moved[image.kinds[kind]] += [image.anchors[kind][place] for place in places]
            images.append(tuple(tuple(sorted(places)) for places in moved))
        return images

    def describe(self) -> str:
        what = "one cell a step" if self.metric == "steps" else "one piece a move"
        return (
            f"sliding blocks, {self.model.height} rows x {self.model.width} columns,"
            f" {self.model.piece_count} pieces, {what}, {self.key_space:,} keys"
        )


class _Buffers:
    """The scratch of one thread."""

    def __init__(self, board: kernels.Board) -> None:
        self.work = kernels.scratch_for(board)
        self.reached: Any = np.zeros(int(board.cells) + 1, dtype=np.uint64)
        self.stamp: Any = np.zeros(int(board.cells) + 1, dtype=np.uint64)
