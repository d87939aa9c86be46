"""A plain breadth-first search of sliding tiles in RAM, as one writes it with numpy.

A state is 4 bits a cell; a layer is one sorted array for every place of the blank. Children are
sorted, equal neighbours masked out, and those in the layer before last found by searchsorted.

    python -m ops.bench.numpy_search ROWS COLUMNS DEPTH
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]
Layer = dict[int, Keys]
NONE = np.empty(0, np.uint64)


def search(rows: int, columns: int, last: int) -> Iterator[tuple[int, int, float]]:
    """(depth, states, seconds) for depths 0 to `last`; the blank begins in the last cell."""
    cells = rows * columns
    if cells > 16:
        raise ValueError("a state has 64 bits, so a board at most 16 cells")
    start = sum((tile + 1) << 4 * tile for tile in range(cells - 1))
    before: Layer = {}
    layer: Layer = {cells - 1: np.array([start], np.uint64)}
    yield 0, 1, 0.0
    for depth in range(1, last + 1):
        begun = time.perf_counter()
        before, layer = layer, _next(layer, before, rows, columns)
        states = sum(keys.size for keys in layer.values())
        yield depth, states, time.perf_counter() - begun


def _next(layer: Layer, before: Layer, rows: int, columns: int) -> Layer:
    found: Layer = {}
    for blank in range(rows * columns):
        parts = [
            _slide(layer[cell], cell, blank)
            for cell in _neighbours(blank, rows, columns)
            if cell in layer
        ]
        if not parts:
            continue
        keys = np.concatenate(parts)
        keys.sort()
        keep = np.ones(keys.size, np.bool_)
        keep[1:] = keys[1:] != keys[:-1]
        keys = keys[keep]
        old = before.get(blank, NONE)
        if old.size:
            at = np.minimum(np.searchsorted(old, keys), old.size - 1)
            keys = keys[old[at] != keys]
        if keys.size:
            found[blank] = keys
    return found


def _slide(keys: Keys, blank: int, cell: int) -> Keys:
    """The states after the tile on `cell` has moved to `blank`, where the blank was."""
    source, target = np.uint64(4 * cell), np.uint64(4 * blank)
    tile = (keys >> source) & np.uint64(15)
    moved: Keys = keys ^ (tile << source) ^ (tile << target)
    return moved


def _neighbours(cell: int, rows: int, columns: int) -> list[int]:
    row, column = divmod(cell, columns)
    around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [r * columns + c for r, c in around if 0 <= r < rows and 0 <= c < columns]


if __name__ == "__main__":
    size = [int(word) for word in sys.argv[1:4]]
    print(json.dumps([list(row) for row in search(*size)]))
