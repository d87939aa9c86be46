"""Boards that are awkward in one way each, and random states of them."""

from __future__ import annotations

import random

import numpy as np

from puzzles.blocks import keys
from puzzles.blocks.definition import build
from puzzles.blocks.drawing import read_drawing
from puzzles.blocks.family import FAMILY
from puzzles.blocks.model import Model
from puzzles.blocks.plain import Plain
from puzzles.blocks.puzzle import BlocksPuzzle
from tests.puzzles.blocks import naive

DRAWINGS = {
    "an L and a J": "aab\na.b\n.bb",
    "an anchor right of the rest": ".a.\naa.\nb.c",
    "a ring with a piece inside": "aaa.\naba.\naaa.\n..cc",
    "walls": "#ab.\n..b#\ncc.d\n.#.d",
    "nothing but single cells": "abc\nde.\n...",
    "single cells told apart": "abcc\nd..e\nff..\n\na...\n....\n...d",
    "a whole layout": "ab.\nab.\ncd.\n\n.ab\n.ab\n.cd",
    "one row": "aab.c.",
    "one column": "a\na\n.\nb\n.",
    "one row of 64 cells": "aa.b" + "." * 58 + "cc",
    "all symmetries of a square": "aa..\naa.b\n....\nc..d",
    "turned by 90 degrees only": "#ab.\ncd..\n...e\n.f.g",
    "exchanged by the mirror": "a..b\naabb\nc...\n....",
    "one piece": "....\n.aa.\n.a..\n....",
    "full": "ab\ncc",
    "its own mirror image": ".aa.\nbaac\nb..c\nd..e\n.##.",
    "five rows high": "ab.c\nab..\nabd.\nabd.\na...",
    "many free cells": "a.......\nb.cc....\n..cc..d.\n........\ne......f\n........",
    "wide and over 64 cells": """
aab.......c..
.ab....ddd...
..b....d.d..e
.......d.....
.ff......g..h""",
    "walls over 64 cells": """
ab##.....
ab....c..
..#...cc.
....#....
.dd......
.d...e...
....fff..
#...f.f..""",
}
SMALL = ["an L and a J", "an anchor right of the rest", "walls", "a whole layout", "one row"]
SMALL += ["one column", "full", "single cells told apart", "nothing but single cells"]
LIBRARY = ["hakoiri-basic", "simplicity", "super-super-dry-3", "correct-order"]


def model_of(name: str) -> Model:
    if name in DRAWINGS:
        return build(read_drawing(DRAWINGS[name].strip("\n"), "test"))
    return FAMILY.model(name)


def puzzle_of(
    name: str, metric: str = "steps", use_symmetry: bool = False, how: str = "chosen"
) -> BlocksPuzzle:
    """how: `chosen` by the puzzle itself; `plain` kernels; `product`: keys without automaton."""
    puzzle = BlocksPuzzle(model_of(name), metric=metric, use_symmetry=use_symmetry)
    if how == "product":
        puzzle.layout = keys.layout_of(puzzle.model, budget=0)
        puzzle.key_space = puzzle.layout.key_space
        assert not puzzle.layout.dense
    if how != "chosen":
        plain = Plain(puzzle.model, puzzle.layout, puzzle.symmetries)
        puzzle.__dict__["_kernels"] = plain
    return puzzle


def walk(model: Model, steps: int, seed: int = 1) -> list:
    """Different placements on a random walk from the start."""
    luck = random.Random(seed)
    found = {model.start: None}
    at = model.start
    for _ in range(steps):
        around = sorted(naive.neighbours(model, at, "steps"))
        if not around:
            break
        at = luck.choice(around)
        found[at] = None
    return list(found)


def words(values) -> np.ndarray:
    return np.array(sorted(values), dtype=np.uint64)
