"""Walks on simple graphs of numbers: the least a puzzle needs, and puzzles that break promises."""

from __future__ import annotations

import numpy as np


class Ring:
    """0 .. size-1 in a ring, one step either way. Bipartite when the size is even."""

    undirected = True
    bipartite = True
    max_successors = 2

    def __init__(self, size=1000):
        self.key_space = size

    def starts(self):
        return np.array([0], dtype=np.uint64)

    def successors(self, keys, out):
        n, size = len(keys), np.uint64(self.key_space)
        out[:n] = (keys + np.uint64(1)) % size
        out[n : 2 * n] = (keys + size - np.uint64(1)) % size
        return 2 * n


class OneWay(Ring):
    """Claims that moves can be undone, but only goes round one way."""

    bipartite = False
    max_successors = 1

    def successors(self, keys, out):
        out[: len(keys)] = (keys + np.uint64(1)) % np.uint64(self.key_space)
        return len(keys)


class Outside(Ring):
    """Leaves the key space at key 500."""

    def successors(self, keys, out):
        count = super().successors(keys, out)
        out[:count][np.repeat(keys[None], 2, axis=0).ravel() == 500] = self.key_space
        return count


class Moody(Ring):
    """Gives other children when asked again."""

    bipartite = False
    undirected = False

    def __init__(self):
        super().__init__()
        self.calls = 0

    def successors(self, keys, out):
        self.calls += 1
        out[: len(keys)] = (keys + np.uint64(1 + self.calls % 3)) % np.uint64(self.key_space)
        return len(keys)


class Neighbourly(Ring):
    """Its children depend on what else is in the block."""

    def successors(self, keys, out):
        count = super().successors(keys, out)
        if len(keys) > 1:
            out[0] = (keys[0] + np.uint64(3)) % np.uint64(self.key_space)
        return count


class Overfull(Ring):
    """Writes three children where it promised two."""

    def successors(self, keys, out):
        n = len(keys)
        room = out.base if out.base is not None else out
        for k in range(3):
            room[k * n : (k + 1) * n] = (keys + np.uint64(k)) % np.uint64(self.key_space)
        return 2 * n


class Meddler(Ring):
    """Changes the keys it is given."""

    def successors(self, keys, out):
        count = super().successors(keys, out)
        keys += np.uint64(1)
        return count


class Failing(Ring):
    """Divides by zero."""

    def successors(self, keys, out):
        raise ZeroDivisionError("division by zero")


class Misread(Ring):
    """Reads back another state than it printed."""

    def encode(self, text):
        return (int(text) + 1) % self.key_space


class TwoSides(Ring):
    """Two starts, one on each side."""

    def starts(self):
        return np.array([0, 5], dtype=np.uint64)


ring = Ring()
odd_ring = Ring(999)
small_odd_ring = Ring(9)
one_way = OneWay()
outside = Outside()
moody = Moody()
neighbourly = Neighbourly()
overfull = Overfull()
meddler = Meddler()
failing = Failing()
misread = Misread()
two_sides = TwoSides()
