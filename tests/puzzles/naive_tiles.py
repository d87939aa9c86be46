"""Sliding tiles the slow and obvious way: boards are tuples, a move swaps two cells."""

from __future__ import annotations

DIRECTIONS = ((0, 1), (0, -1), (1, 0), (-1, 0))


def successors(layout, rows, columns, metric):
    """The set of layouts one move away."""
    blank = layout.index(0)
    found = set()
    for down, right in DIRECTIONS:
        row, column = divmod(blank, columns)
        board = list(layout)
        while 0 <= row + down < rows and 0 <= column + right < columns:
            here, there = row * columns + column, (row + down) * columns + column + right
            board[here], board[there] = board[there], 0
            row, column = row + down, column + right
            found.add(tuple(board))
            if metric == "single":
                break
    return found


def layers(start, rows, columns, metric):
    """The layers of a breadth-first search as sets of layouts."""
    seen, layer = {start}, {start}
    while layer:
        yield layer
        layer = {n for layout in layer for n in successors(layout, rows, columns, metric)} - seen
        seen |= layer


def walk(layout, rows, columns, random, steps):
    """A random reachable layout."""
    for _ in range(steps):
        layout = random.choice(sorted(successors(layout, rows, columns, "single")))
    return layout
