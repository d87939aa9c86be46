"""Graphs given by a table of neighbours, whose states lie anywhere in a key space of any size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


class Graph:
    """A puzzle whose moves are listed: successors of every key; undirected where that is true."""

    def __init__(
        self,
        moves: Mapping[int, Sequence[int]],
        starts: Sequence[int],
        *,
        key_space: int | None = None,
        goals: Sequence[int] | None = None,
        undirected: bool = False,
        bipartite: bool = False,
    ) -> None:
        self.name = f"graph of {len(moves)} states"
        self.undirected = undirected
        self.bipartite = bipartite
        self._keys = np.array(sorted(moves), np.uint64)
        children = [list(moves[int(key)]) for key in self._keys]
        sizes = [len(some) for some in children]
        self._ends = np.cumsum([0, *sizes])
        self._children = np.array([key for some in children for key in some], np.uint64)
        self.key_space = key_space or int(self._keys[-1]) + 1
        self.max_successors = max(1, *sizes)
        self._starts = np.array(sorted(starts), np.uint64)
        self.has_goal = goals is not None
        self._goals = np.array(sorted(goals or []), np.uint64)

    def starts(self):
        return self._starts

    def successors(self, keys, out):
        at = np.searchsorted(self._keys, keys)
        begins, ends = self._ends[at], self._ends[at + 1]
        parts = [self._children[b:e] for b, e in zip(begins, ends, strict=True)]
        found = np.concatenate([np.empty(0, np.uint64), *parts])
        out[: found.size] = found
        return int(found.size)

    def is_goal(self, keys):
        return np.isin(keys, self._goals)


def random_graph(
    seed: int,
    states: int,
    degree: float,
    *,
    undirected: bool,
    key_space: int | None = None,
    starts: int = 1,
    goals: int | None = None,
) -> Graph:
    """A graph of random moves between states with random keys, the same for the same seed."""
    rng = np.random.default_rng(seed)
    key_space = key_space or states
    keys = list(range(states))
    if key_space > states:
        drawn: set[int] = set()
        while len(drawn) < states:
            drawn.add(int(rng.integers(0, key_space, dtype=np.uint64)))
        keys = sorted(drawn)
    moves: dict[int, set[int]] = {key: set() for key in keys}
    for _ in range(int(states * degree)):
        a, b = (keys[int(i)] for i in rng.integers(0, states, 2))
        if a != b:
            moves[a].add(b)
            if undirected:
                moves[b].add(a)
    chosen = [keys[int(i)] for i in rng.choice(states, starts, replace=False)]
    wanted = None
    if goals is not None:
        wanted = [keys[int(i)] for i in rng.choice(states, goals, replace=False)]
    listed = {key: sorted(some) for key, some in moves.items()}
    return Graph(listed, chosen, key_space=key_space, goals=wanted, undirected=undirected)


def bundle(width: int, layers: int, key_space: int) -> Graph:
    """Layers of `width` states each that all lead to the whole next layer; all keys but the first
    lie in one tiny range at the end of the key space. Undirected and bipartite."""
    rows = [[0]]
    base = key_space - layers * width
    rows += [[base + row * width + i for i in range(width)] for row in range(layers)]
    moves: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        before = rows[number - 1] if number else []
        after = rows[number + 1] if number < layers else []
        for key in row:
            moves[key] = [*before, *after]
    return Graph(moves, [0], key_space=key_space, undirected=True, bipartite=True)
