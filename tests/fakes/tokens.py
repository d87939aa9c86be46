"""Tokens: a fibre puzzle without tiles. A token walks over places; some steps change a number, too.

The state is a number h below `numbers` and the token's place, key = h * places + place. Places are
on two sides. A free step joins a place with one of the other side. An edge does so too, and changes
h on the way by an affine permutation within ranges of its span, h = span * i + r:

    from side 0 to side 1:  r -> (factor * r + step) mod span,  and back.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

U64 = np.uint64


@dataclass(frozen=True)
class Edge:
    """Joins bit a of side 0 with bit b of side 1; span divides `numbers`, factor is prime to it."""

    a: int
    b: int
    span: int
    factor: int = 1
    step: int = 1


class Tokens:
    """places: the sizes of the two sides; the places of side 0 come first."""

    undirected = True
    bipartite = True

    def __init__(self, numbers, places, free, edges, starts=(0,), goal=None):
        self.numbers, self.sides, self.steps = numbers, places, sorted(set(free))
        self.edges, self.goal = list(edges), goal
        self.name = f"tokens of {numbers}"
        self.key_space = numbers * sum(places)
        self.max_successors = max(1, len(self.steps) + len(self.edges))
        self._starts = starts
        self.has_goal = goal is not None
        self.fibre = TokensFibre(self)

    def starts(self):
        return np.array(sorted(set(self._starts)), np.uint64)

    def successors(self, keys, out):
        total = sum(self.sides)
        found = []
        for key in keys.tolist():
            h, place = divmod(key, total)
            side = int(place >= self.sides[0])
            bit = place - self.sides[0] * side
            ends = [*((a, b, None) for a, b in self.steps), *((e.a, e.b, e) for e in self.edges)]
            for a, b, edge in ends:
                if (a, b)[side] != bit:
                    continue
                other = (self.sides[0] + b, a)[side]
                number = h if edge is None else through(edge, h, side)
                found.append(number * total + other)
        out[: len(found)] = found
        return len(found)

    def is_goal(self, keys):
        return np.isin(keys, np.array(sorted(self.goal or ()), np.uint64))


def through(edge, h, side):
    """Where a number goes through an edge from a side."""
    i, r = divmod(h, edge.span)
    if side == 0:
        r = (edge.factor * r + edge.step) % edge.span
    else:
        r = pow(edge.factor, -1, edge.span) * (r - edge.step) % edge.span if edge.span > 1 else 0
    return i * edge.span + r


class TokensFibre:
    """The fibres of Tokens, number by number; see puzzles.fibre.Fibre."""

    def __init__(self, puzzle):
        wide, narrow = puzzle.sides
        self.key_space, self.places, self.edges = (
            puzzle.numbers,
            wide + narrow,
            len(puzzle.edges),
        )
        self._edges = puzzle.edges
        self.side_of = np.array([0] * wide + [1] * narrow, np.uint8)
        self.bit_of = np.array([*range(wide), *range(narrow)], np.uint8)
        self.place_of = (
            np.arange(wide, dtype=np.uint8),
            np.arange(wide, wide + narrow, dtype=np.uint8),
        )
        self.edge_bit = np.array(
            [[e.a for e in puzzle.edges], [e.b for e in puzzle.edges]], np.uint8
        ).reshape(2, -1)
        self.free = tuple(
            table(n, [sum({1 << s[1 - t] for s in puzzle.steps if s[t] == i}) for i in range(n)])
            for t, n in enumerate(puzzle.sides)
        )
        ends = [[(e.a, e.b)[t] for e in puzzle.edges] for t in (0, 1)]
        self.incident = tuple(
            table(n, [sum(1 << e for e, end in enumerate(ends[t]) if end == i) for i in range(n)])
            for t, n in enumerate(puzzle.sides)
        )
        spans = sorted({1, puzzle.numbers, *(e.span for e in puzzle.edges)}, reverse=True)
        assert all(a % b == 0 for a, b in pairwise(spans))
        self.spans = np.array(spans, np.uint64)
        self.edge_span = np.array([e.span for e in puzzle.edges], np.uint64)

    def expand(self, keys, pending, n, side, out, counts):
        at = 0
        for number, edge in enumerate(self._edges):
            chosen = keys[:n][pending[:n] >> np.uint32(number) & np.uint32(1) != 0]
            moved = [through(edge, int(h), side) for h in chosen]
            out[at : at + len(moved)] = moved
            counts[number] = len(moved)
            at += len(moved)
        return at

    def warm(self):
        """Nothing to compile."""


def table(places, masks):
    """uint16[2**places]: for each mask of places the union of their masks."""
    union = np.zeros(1, np.uint16)
    for mask in masks[:places]:
        union = np.concatenate([union, union | np.uint16(mask & 0xFFFF)])
    return union


def random_tokens(seed, *, places=(4, 3), edges=5, spans=(1, 6, 12, 60), many=16, goals=0):
    """A puzzle drawn from a seed; numbers: spans[-1] * many. Some edges may be doubled."""
    luck = random.Random(seed)
    pairs = list(product(range(places[0]), range(places[1])))
    free = luck.sample(pairs, max(1, len(pairs) // 3))
    drawn = []
    for _ in range(edges):
        span = luck.choice([*spans, spans[-1] * many])
        factor = luck.choice([f for f in range(1, min(span, 999) + 1) if math.gcd(f, span) == 1])
        drawn.append(Edge(*luck.choice(pairs), span, factor, luck.randrange(span)))
    numbers = spans[-1] * many
    start = luck.randrange(numbers) * sum(places) + luck.randrange(sum(places))
    goal = {luck.randrange(numbers * sum(places)) for _ in range(goals)} or None
    return Tokens(numbers, places, free, drawn, [start], goal)


def lying(how: str) -> Tokens:
    """A puzzle whose fibre is false in one respect."""
    puzzle: Tokens = random_tokens(4)
    fibre: Any = puzzle.fibre
    if how == "free":
        fibre.free = tuple(flipped(t, 1 << i) for i, t in enumerate(fibre.free))
    elif how == "incident":
        fibre.incident = (fibre.incident[0].copy(), fibre.incident[1] * np.uint16(0))
    elif how == "edge_bit":
        fibre.edge_bit = fibre.edge_bit[::-1].copy()
    elif how == "edge_span":
        fibre.edge_span = np.ones(fibre.edges, np.uint64)
    elif how == "spans":
        fibre.spans = fibre.spans[::-1].copy()
    elif how == "key_space":
        fibre.key_space += 1
    elif how == "bit_of":
        fibre.bit_of = fibre.bit_of[::-1].copy()
    elif how == "dtype":
        fibre.incident = tuple(t.astype(np.uint32) for t in fibre.incident)
    elif how in ("expand", "outside", "count", "room", "meddle"):
        fibre.expand = Meddled(fibre.expand, how, fibre)
    elif how == "moves":
        puzzle.steps = puzzle.steps[1:]
    else:
        raise ValueError(how)
    return puzzle


LIES = (
    *("free", "incident", "edge_bit", "edge_span", "spans", "key_space", "bit_of", "dtype"),
    *("expand", "outside", "count", "room", "meddle", "moves"),
)


def flipped(array, at):
    """The table with one more free step for all masks that contain a bit."""
    other = array.copy()
    other[np.arange(len(array)) & at != 0] ^= np.uint16(1)
    return other


class Meddled:
    """An expand() that is false in one way."""

    def __init__(self, inner, how, fibre):
        self.inner, self.how, self.fibre = inner, how, fibre

    def __call__(self, keys, pending, n, side, out, counts):
        got = self.inner(keys, pending, n, side, out, counts)
        if got and self.how == "expand":
            out[0] = out[0] ^ U64(1)
        elif got and self.how == "outside":
            out[got - 1] = self.fibre.key_space
        elif got and self.how == "count":
            got -= 1
        elif self.how == "room":
            (out.base if out.base is not None else out)[n * self.fibre.edges] = 0
        elif self.how == "meddle":
            pending[0] ^= np.uint32(1)
        return got


tokens = random_tokens(1)
targeted = random_tokens(1, goals=3)
liar = lying("expand")
