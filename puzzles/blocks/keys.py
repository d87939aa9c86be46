"""Keys of a puzzle: a number for the big pieces times one for the one-cell pieces.

Big pieces are numbered by the automaton, or, where that grows too large, by the product of the
ranks of each kind's anchors among all anchors it can have; then some numbers are no placement.
Kinds are in the order of the kernels here: the big ones, then those of one cell.

What is here is plain Python, for a few keys; the kernels compute the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, prod

from puzzles.blocks import automaton, units
from puzzles.blocks.model import Cell, Model
from puzzles.blocks.symmetry import anchors_of as all_anchors
from puzzles.errors import PuzzleError

Placement = tuple[tuple[Cell, ...], ...]  # per kind of the model the sorted anchors


@dataclass(frozen=True)
class Layout:
    """What is known of a puzzle before any search.

    order: the model's number of each kind, in the kernels' order. big: how many kinds are big.
    anchors: where a piece of each kind could be alone. free: how many cells walls and big pieces
    leave. places: how many numbers the big pieces have. ways: how many the one-cell pieces have.
    machine: the automaton, where there is one. dense: every key below key_space is a position.
    """

    order: tuple[int, ...]
    big: int
    anchors: tuple[tuple[Cell, ...], ...]
    free: int
    places: int
    ways: int
    machine: automaton.Automaton | None

    @property
    def key_space(self) -> int:
        return self.places * self.ways

    @property
    def dense(self) -> bool:
        return self.machine is not None


def layout_of(model: Model, budget: int = automaton.NODE_BUDGET) -> Layout:
    """The keys of a puzzle. Raises PuzzleError when they need more than 64 bits."""
    numbers = range(len(model.kinds))
    big = [k for k in numbers if len(model.kinds[k].cells) > 1]
    small = [k for k in numbers if len(model.kinds[k].cells) == 1]
    order = tuple(big + small)
    anchors = tuple(tuple(all_anchors(model, model.kinds[k])) for k in order)
    covered = sum(len(model.kinds[k].cells) * model.kinds[k].count for k in big)
    free = model.height * model.width - len(model.walls) - covered
    ways = units.total(free, [model.kinds[k].count for k in small])
    machine = automaton.build(
        model.height * model.width,
        sum(1 << number(model, cell) for cell in model.walls),
        [
            {
                number(model, place): sum(
                    1 << number(model, (place[0] + dy, place[1] + dx))
                    for dy, dx in model.kinds[k].cells
                )
                for place in of_kind
            }
            for k, of_kind in zip(big, anchors, strict=False)
        ],
        [model.kinds[k].count for k in big],
        budget,
    )
    if machine is not None:
        places = machine.total
    else:
        places = prod(
            comb(len(of_kind), model.kinds[k].count)
            for k, of_kind in zip(big, anchors, strict=False)
        )
    if places * ways >= 1 << 64:
        raise PuzzleError(
            f"{model.name} has too many positions: its keys would need"
            f" {(places * ways).bit_length()} bits, and there are 64"
        )
    return Layout(order, len(big), anchors, free, places, ways, machine)


def number(model: Model, cell: Cell) -> int:
    """A cell's number in raster order."""
    return cell[0] * model.width + cell[1]


def key_of(model: Model, layout: Layout, placement: Placement) -> int:
    """The key of a position."""
    places = 0
    big = layout.order[: layout.big]
    covered = set(model.walls)
    column: dict[int, int] = {}
    for k, kind in enumerate(big):
        for y, x in placement[kind]:
            covered |= {(y + dy, x + dx) for dy, dx in model.kinds[kind].cells}
            column[number(model, (y, x))] = 1 + k
    if layout.machine is not None:
        machine, node = layout.machine, 0
        while int(machine.place[node]) < model.height * model.width:
            letter = column.get(int(machine.place[node]), 0)
            places += int(machine.offset[node, letter])
            node = int(machine.after[node, letter])
    else:
        for k, kind in enumerate(big):
            ordinal = {place: i for i, place in enumerate(layout.anchors[k])}
            rank = units.rank([ordinal[place] for place in sorted(placement[kind])])
            places = places * comb(len(ordinal), model.kinds[kind].count) + rank
    ways = 0
    rest = [c for c in _cells(model) if c not in covered]
    for kind in layout.order[layout.big :]:
        taken = set(placement[kind])
        ways *= comb(len(rest), len(taken))
        ways += units.rank([i for i, cell in enumerate(rest) if cell in taken])
        rest = [cell for cell in rest if cell not in taken]
    return places * layout.ways + ways


def placement_of(model: Model, layout: Layout, key: int) -> Placement:
    """The position of a key. Raises PuzzleError when there is none."""
    if not 0 <= key < layout.key_space:
        raise PuzzleError(f"key {key} is not in 0 to {layout.key_space - 1} of {model.name}")
    places, ways = divmod(key, layout.ways)
    found: list[list[Cell]] = [[] for _ in model.kinds]
    big = layout.order[: layout.big]
    if layout.machine is not None:
        machine, node = layout.machine, 0
        while int(machine.place[node]) < model.height * model.width:
            offsets = machine.offset[node].tolist()
            letter = max(i for i, offset in enumerate(offsets) if offset <= places)
            places -= offsets[letter]
            if letter:
                found[big[letter - 1]].append(divmod(int(machine.place[node]), model.width))
            node = int(machine.after[node, letter])
    else:
        for k, kind in reversed(list(enumerate(big))):
            anchors, count = layout.anchors[k], model.kinds[kind].count
            places, rank = divmod(places, comb(len(anchors), count))
            found[kind] = [anchors[i] for i in units.members(rank, count, len(anchors))]
    covered = set(model.walls)
    for kind in big:
        for y, x in found[kind]:
            body = {(y + dy, x + dx) for dy, dx in model.kinds[kind].cells}
            if covered & body:
                raise PuzzleError(f"key {key} of {model.name} is no position: pieces overlap")
            covered |= body
    rest = [c for c in _cells(model) if c not in covered]
    small = [model.kinds[kind].count for kind in layout.order[layout.big :]]
    for kind, weight in zip(
        layout.order[layout.big :], units.weights(layout.free, small), strict=True
    ):
        rank, ways = divmod(ways, weight)
        chosen = units.members(rank, model.kinds[kind].count, len(rest))
        found[kind] = [rest[i] for i in chosen]
        rest = [cell for cell in rest if cell not in found[kind]]
    return tuple(tuple(sorted(of_kind)) for of_kind in found)


def _cells(model: Model) -> list[Cell]:
    return [(y, x) for y in range(model.height) for x in range(model.width)]
