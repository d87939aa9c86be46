"""The automaton row by row: what a whole row of anchors adds to the rank, in one look-up.

A *row code* is a sum of random words, one for each anchor in the row (by kind and column), so that
a moving piece changes it by a subtraction and an addition. A perfect hash makes it small, and the
edges of all states lie in one array, each state's own shifted so that none collide (Tarjan & Yao,
Storing a sparse table, 1979). A state is named by its shift:

    slot = state + small(code);   rank += offset[slot];   state = after[slot]

Only edges that exist may be looked up. The ranks are those of the automaton.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from puzzles.blocks.automaton import NO_EDGE, Automaton
from puzzles.blocks.bits import inlined
from puzzles.jit import U64, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Halves = NDArray[np.uint32]

EDGE_BUDGET = 2_000_000
SEEDS = 1 << 20
"""Seeds tried for a bucket of the hash before it is made sparser."""

_0, _1, _2, _3 = U64(0), U64(1), U64(2), U64(3)
_NO_EDGE = U64(NO_EDGE)


@dataclass(frozen=True)
class Rows:
    """The look-up tables.

    weight: uint64[kinds, 64], what an anchor of a kind at a cell adds to the code of its row; base:
    the code of an empty row. seeds: uint32[2**n], shift: see `small`. root: the state before the
    first row. offset, after: uint64 and uint32[slots]. edges: how many of the slots are used.
    """

    weight: Words
    base: int
    seeds: Halves
    shift: int
    root: int
    offset: Words
    after: Halves
    edges: int


def build(machine: Automaton, width: int, height: int, budget: int = EDGE_BUDGET) -> Rows | None:
    """The tables of a board of up to 64 cells, or None where they need more than `budget` edges."""
    kinds = machine.offset.shape[1] - 1
    luck = np.random.default_rng(20051)
    random = luck.integers(0, 1 << 64, size=kinds * width + 1, dtype=np.uint64)
    weight = np.zeros((kinds, 64), dtype=np.uint64)
    for cell in range(width * height):
        weight[:, cell] = random[: kinds * width].reshape(kinds, width)[:, cell % width]
    base = random[-1]
    found = _all_edges(machine, width, height, weight, base, budget)
    if found is None:
        return None
    first, code, offset, after = found
    seeds, shift = _hash(np.unique(code))
    number = np.empty(len(code), np.uint64)
    _smalls(code, seeds, U64(shift), number)
    shifts, slots = _shifts(first, number, 1 << (64 - shift))
    state = np.repeat(np.arange(len(first) - 1), np.diff(first.astype(np.int64)).astype(np.int64))
    slot = shifts[state] + number
    if len(np.unique(slot)) != len(slot):
        raise AssertionError("two rows of anchors have one code")
    offset_at, after_at = np.zeros(slots, np.uint64), np.zeros(slots, np.uint32)
    offset_at[slot] = offset
    after_at[slot] = shifts[after].astype(np.uint32)
    return Rows(weight, int(base), seeds, shift, int(shifts[0]), offset_at, after_at, len(code))


@inlined
def small(code: U64, seeds: Halves, shift: U64) -> U64:
    """The small number of a row code: different ones for the codes that occur."""
    seed = U64(seeds[code & U64(len(seeds) - 1)])
    return (code * (seed + seed + _1)) >> shift


@kernel
def _smalls(codes: Words, seeds: Halves, shift: U64, out: Words) -> None:
    for i in range(len(codes)):
        out[i] = small(codes[i], seeds, shift)


def _all_edges(
    machine: Automaton, width: int, height: int, weight: Words, base: np.uint64, budget: int
) -> tuple[Words, Words, Words, Words] | None:
    """By state: where its edges begin; by edge: row code, offset, the state it leads to."""
    kinds, nodes = weight.shape[0], len(machine.place)
    room = min(1 << 15, budget)
    while True:
        first = np.empty(room + 2, np.uint64)
        code, offset, after = (np.empty(room, np.uint64) for _ in range(3))
        edges, states = _edges(
            machine.place,
            machine.offset,
            machine.after,
            U64(width),
            U64(height),
            weight,
            base,
            np.zeros((2, nodes), np.uint64),
            np.zeros(nodes, np.uint64),
            np.zeros((4, 64 * (kinds + 1) + 1), np.uint64),
            first,
            code,
            offset,
            after,
        )
        if edges <= room:
            n = int(edges)
            return first[: int(states) + 1], code[:n], offset[:n], after[:n]
        if room >= budget:
            return None
        room = min(4 * room, budget)


@kernel
def _edges(
    place: Halves,
    offset_of: Words,
    after_of: Halves,
    width: U64,
    height: U64,
    weight: Words,
    base: U64,
    layer: Words,
    state_of: Words,
    stack: Words,
    first: Words,
    code: Words,
    offset: Words,
    after: Words,
) -> tuple[U64, U64]:
    """List the edges of all states; (edges, states), or more edges than there is room for.

    layer: uint64[2, nodes]; state_of: zeros, uint64[nodes]; stack: uint64[4, .]; first:
    uint64[room + 2]; code, offset, after: uint64[room].
    """
    columns = U64(offset_of.shape[1])
    room = U64(len(code))
    states, edges = _1, _0
    here = _1  # nodes of this row
    layer[_0, _0] = _0
    number = _0  # the state whose edges are listed
    for y in range(height):
        row = U64(y)
        end = (row + _1) * width
        now, then = row & _1, (row + _1) & _1
        next_first, there = states, _0
        for i in range(here):
            first[number] = edges
            number += _1
            top = _1
            stack[_0, _0] = layer[now, U64(i)]
            stack[_1, _0] = base
            stack[_2, _0] = _0
            while top:
                top -= _1
                node, sum_, rank = stack[_0, top], stack[_1, top], stack[_2, top]
                cell = U64(place[node])
                if cell >= end:
                    # state_of: 1 + the state of a node in the next row, if it is not an older one
                    if state_of[node] <= next_first:
                        states += _1
                        state_of[node] = states
                        layer[then, there] = node
                        there += _1
                    if edges >= room or states > room:
                        return room + _1, states
                    code[edges] = sum_
                    offset[edges] = rank
                    after[edges] = state_of[node] - _1
                    edges += _1
                    continue
                for j in range(columns):
                    column = U64(j)
                    more = offset_of[node, column]
                    if more != _NO_EDGE:
                        stack[_0, top] = U64(after_of[node, column])
                        stack[_1, top] = sum_
                        if column:
                            stack[_1, top] += weight[column - _1, cell]
                        stack[_2, top] = rank + more
                        top += _1
        here = there
    first[number] = edges  # the end, which has no edges
    first[number + _1] = edges
    return edges, states


def _hash(codes: Words) -> tuple[Halves, int]:
    """Seeds and shift with which `small` gives every code another number."""
    bits = max(1, (len(codes) * 5 // 4).bit_length())
    while True:
        seeds = np.zeros(1 << max(0, bits - 2), np.uint32)
        bucket = codes & np.uint64(len(seeds) - 1)
        order = np.argsort(bucket, kind="stable")
        sizes = np.bincount(bucket.astype(np.int64), minlength=len(seeds))
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)
        largest_first = np.argsort(-sizes, kind="stable").astype(np.uint64)
        used = np.zeros(1 << bits, np.uint8)
        if _seed(codes[order], first, largest_first, U64(64 - bits), seeds, used):
            return seeds, 64 - bits
        bits += 1


@kernel
def _seed(
    codes: Words, first: Words, order: Words, shift: U64, seeds: Halves, used: NDArray[np.uint8]
) -> bool:
    """Find a seed for every bucket, codes[first[b]:first[b + 1]]; False where there is none."""
    for i in range(len(order)):
        bucket = order[i]
        low, high = first[bucket], first[bucket + _1]
        seed, done = _0, low == high
        while not done:
            done = True
            for k in range(low, high):
                at = (codes[k] * (seed + seed + _1)) >> shift
                if used[at]:
                    for back in range(low, k):
                        used[(codes[back] * (seed + seed + _1)) >> shift] = np.uint8(0)
                    done = False
                    break
                used[at] = np.uint8(1)
            if done:
                seeds[bucket] = np.uint32(seed)
            else:
                seed += _1
                if seed >= U64(SEEDS):
                    return False
    return True


def _shifts(first: Words, number: Words, span: int) -> tuple[Words, int]:
    """The shift of each state, and how many slots all need."""
    degree = np.diff(first.astype(np.int64))
    order = np.argsort(-degree, kind="stable").astype(np.uint64)
    shifts = np.zeros(len(degree), np.uint64)
    slots = len(number) + 2 * span
    while True:
        used = np.zeros(slots, np.uint8)
        if _fit(first, number, order, U64(span), shifts, used):
            return shifts, int(shifts.max()) + span
        slots *= 2


@kernel
def _fit(
    first: Words,
    number: Words,
    order: Words,
    span: U64,
    shifts: Words,
    used: NDArray[np.uint8],
) -> bool:
    """Give every state, in `order`, the least shift with no slot used twice; False: no room."""
    low = _0  # all slots below are used
    last = U64(len(used)) - span
    for i in range(len(order)):
        state = order[i]
        begin, end = first[state], first[state + _1]
        if begin == end:
            continue
        while low < U64(len(used)) and used[low]:
            low += _1
        least = span
        for k in range(begin, end):
            least = min(least, number[k])
        shift = low - min(low, least)
        fits = False
        while not fits:
            if shift >= last:
                return False
            fits = True
            for k in range(begin, end):
                if used[shift + number[k]]:
                    fits = False
                    shift += _1
                    break
        for k in range(begin, end):
            used[shift + number[k]] = np.uint8(1)
        shifts[state] = shift
    return True
