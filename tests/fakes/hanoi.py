"""The towers of Hanoi with any number of pegs: all disks from the first peg to the last.

key = the pegs of the disks, the smallest one first, as digits to the base of the pegs. Plain numpy.
Undirected; not bipartite, since a disk can go round three pegs in three moves.
"""

from __future__ import annotations

import numpy as np


class Hanoi:
    undirected = True
    has_goal = True

    def __init__(self, disks, pegs=4):
        self.name = f"hanoi of {disks} disks and {pegs} pegs"
        self.disks, self.pegs = disks, pegs
        self.key_space = pegs**disks
        self.max_successors = disks * (pegs - 1)

    def starts(self):
        return np.zeros(1, dtype=np.uint64)

    def successors(self, keys, out):
        place = np.array([self.pegs**disk for disk in range(self.disks)], dtype=np.int64)
        at = keys.astype(np.int64)[:, None] // place % self.pegs
        written = 0
        for disk in range(self.disks):
            for peg in range(self.pegs):
                free = (at[:, : disk + 1] != peg).all(axis=1)
                clear = (at[:, :disk] != at[:, disk : disk + 1]).all(axis=1)
                moved = np.flatnonzero(free & clear)
                change = (peg - at[moved, disk]) * place[disk]
                children = (keys[moved].astype(np.int64) + change).astype(np.uint64)
                out[written : written + moved.size] = children
                written += moved.size
        return written

    def is_goal(self, keys):
        return keys == np.uint64(self.key_space - 1)
