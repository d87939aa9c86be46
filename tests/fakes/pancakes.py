"""Pancakes: reverse any number of pancakes from the top. Undirected, not bipartite from n = 3 on.

key = the permutation in mixed radix n, n-1, .. of its Lehmer digits. Plain numpy, any n up to 20.
"""

from __future__ import annotations

from math import factorial

import numpy as np


class Pancakes:
    undirected = True

    def __init__(self, n):
        self.n = n
        self.name = f"pancakes {n}"
        self.key_space = factorial(n)
        self.max_successors = max(1, n - 1)

    def starts(self):
        return np.zeros(1, dtype=np.uint64)

    def successors(self, keys, out):
        stacks = self.unrank(keys)
        at = 0
        for top in range(2, self.n + 1):
            turned = stacks.copy()
            turned[:, :top] = stacks[:, :top][:, ::-1]
            out[at : at + len(keys)] = self.rank(turned)
            at += len(keys)
        return at

    def unrank(self, keys):
        rest = keys.astype(np.uint64)
        digits = np.zeros((len(keys), self.n), dtype=np.int64)
        for i in range(self.n - 1, -1, -1):
            rest, digit = np.divmod(rest, np.uint64(self.n - i))
            digits[:, i] = digit.astype(np.int64)
        for i in range(self.n - 2, -1, -1):
            later = digits[:, i + 1 :]
            later += later >= digits[:, i : i + 1]
        return digits

    def rank(self, stacks):
        keys = np.zeros(len(stacks), dtype=np.uint64)
        for i in range(self.n):
            digit = (stacks[:, i + 1 :] < stacks[:, i : i + 1]).sum(axis=1).astype(np.uint64)
            keys = keys * np.uint64(self.n - i) + digit
        return keys

    def decode(self, key):
        return tuple(int(x) + 1 for x in self.unrank(np.array([key], dtype=np.uint64))[0])

    def encode(self, text):
        stack = [int(x) - 1 for x in text.strip("() ").split(",")]
        return int(self.rank(np.array([stack]))[0])


class TargetedPancakes(Pancakes):
    """With a goal: the stack upside down."""

    has_goal = True

    def is_goal(self, keys):
        return keys == np.uint64(self.key_space - 1)


pancakes3 = Pancakes(3)
pancakes4 = Pancakes(4)
pancakes5 = Pancakes(5)
pancakes6 = Pancakes(6)
pancakes7 = Pancakes(7)
pancakes8 = Pancakes(8)
targeted7 = TargetedPancakes(7)
