"""Water jugs of 8 and 5, reach 4: a directed graph, 26 reachable states, 10 moves to the goal.

key = litres in the large jug * 6 + litres in the small one; fill, empty, pour.
"""

from __future__ import annotations

import numpy as np

LARGE, SMALL = 8, 5


class Jugs:
    name = "jugs"
    key_space = (LARGE + 1) * (SMALL + 1)
    max_successors = 6

    def starts(self):
        return np.zeros(1, dtype=np.uint64)

    def successors(self, keys, out):
        a, b = (part.astype(np.int64) for part in np.divmod(keys, np.uint64(SMALL + 1)))
        to_b, to_a = np.minimum(a, SMALL - b), np.minimum(b, LARGE - a)
        full, empty = np.full_like(a, LARGE), np.zeros_like(a)
        pairs = [
            (full, b), (a, np.full_like(b, SMALL)), (empty, b), (a, empty),
            (a - to_b, b + to_b), (a + to_a, b - to_a),
        ]  # fmt: skip
        children = np.concatenate([x * (SMALL + 1) + y for x, y in pairs]).astype(np.uint64)
        children = children[children != np.tile(keys, len(pairs))]
        out[: len(children)] = children
        return len(children)

    def is_goal(self, keys):
        a, b = np.divmod(keys, np.uint64(SMALL + 1))
        return (a == 4) | (b == 4)

    def decode(self, key):
        return divmod(int(key), SMALL + 1)

    def encode(self, text):
        a, b = text.strip("() ").split(",")
        return int(a) * (SMALL + 1) + int(b)


puzzle = Jugs()
