"""A fibre search in which one arrival or record is lost, doubled or changed: an error, always.

What no second path computes, and so no law sees: where a move leads, which moves pend, and the keys
that the merge writes, as long as they ascend. There the puzzle's expand(), select_*, tag and
next_record are held to their twins alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extbfs.algebra import fibre_edges, fibre_kernels
from extbfs.algebra.fibre_merge import FibreMerge
from extbfs.algebra.window import Window
from puzzles.errors import PuzzleError
from puzzles.tiles.fibre import TilesFibre
from store.errors import IntegrityError
from store.kernels import records, route
from store.layer import Layer
from tests.extbfs.algebra.cramped import SETTINGS, Cramped
from tests.extbfs.runs import recorded_counts, search
from tests.extbfs.test_laws import (
    Culprit,
    encode_changes,
    route_changes,
    route_doubles,
    route_loses,
    sort_changes,
    sort_does_not_sort,
    sort_doubles,
)
from tests.fakes.tokens import random_tokens
from tests.puzzles.test_tiles_counts import TABLES

U64 = np.uint64
TABLE = TABLES["4x2 sliding, single-tile, blank corner"]["counts"]
PLAIN = Cramped(bucket_arrivals=60, part=16)
PARTS = SETTINGS["combined in parts"]
ONE_BUCKET = SETTINGS["one bucket in parts"]
ROUTED = Cramped(widest=97, bucket_arrivals=80, part=64)
SPILLS = Cramped(widest=97, bucket_arrivals=80, part=32, pool_records=200, piece_blocks=1)


@pytest.fixture(autouse=True)
def unwarmed(monkeypatch):
    """The first call of a kernel is one of the search, and not one that only compiles it."""
    monkeypatch.setattr("extbfs.kernels.warm", lambda *args, **kwargs: 0.0)
    monkeypatch.setattr("puzzles.check.quick_check", lambda puzzle: None)


# Each harm returns (whether it was done, what the kernel returns).


def expand_loses(inner, self, keys, pending, n, side, out, counts):
    got = inner(self, keys, pending, n, side, out, counts)
    if got < 3:
        return False, got
    counts[np.flatnonzero(counts)[-1]] -= U64(1)
    return True, got - 1


def expand_doubles(inner, self, keys, pending, n, side, out, counts):
    got = inner(self, keys, pending, n, side, out, counts)
    if not 3 < got < out.size:
        return False, got
    counts[np.flatnonzero(counts)[-1]] += U64(1)
    out[got] = out[got - 1]
    return True, got + 1


def select_loses(inner, payload, n, shift, wanted, out):
    total = inner(payload, n, shift, wanted, out)
    at = np.flatnonzero(out[: int(n)])
    if at.size:
        out[at[0]] &= out[at[0]] - np.uint32(1)
    return at.size > 0, int(total) - (at.size > 0)


def select_adds(inner, payload, n, shift, wanted, out):
    total = inner(payload, n, shift, wanted, out)
    free = out[: int(n)] & np.uint32(wanted) != np.uint32(wanted)
    at = np.flatnonzero(free)
    if at.size:
        missing = int(wanted) & ~int(out[at[0]])
        out[at[0]] |= np.uint32(missing & -missing)
    return at.size > 0, int(total) + (at.size > 0)


def select_remote_loses(inner, keys, payload, n, shift, lows, remote, bucket, out):
    total, last = inner(keys, payload, n, shift, lows, remote, bucket, out)
    at = np.flatnonzero(out[: int(n)])
    if at.size:
        out[at[0]] &= out[at[0]] - np.uint32(1)
    return at.size > 0, (int(total) - (at.size > 0), last)


def append_loses(inner, arrivals, n, low, out, at):
    end = int(inner(arrivals, n, low, out, at))
    harm = n > 2
    if harm:
        out[end - 1] = out[end - 2]
    return harm, end


def append_changes(inner, arrivals, n, low, out, at):
    end = inner(arrivals, n, low, out, at)
    out[int(at)] ^= out.dtype.type(1)
    return True, end


def convert_changes(inner, values, n, base, bits, edges, low, out, at):
    end = inner(values, n, base, bits, edges, low, out, at)
    harm = n > U64(0)
    if harm:
        out[int(at)] ^= out.dtype.type(1)
    return harm, end


def convert_doubles(inner, values, n, base, bits, edges, low, out, at):
    end = inner(values, n, base, bits, edges, low, out, at)
    harm = n > U64(1) and out[int(at)] != out[int(at) + 1]
    if harm:
        out[int(at)] = out[int(at) + 1]
    return harm, end


def within_loses(inner, arrivals, n, width, low, out, at):
    end = inner(arrivals, n, width, low, out, at)
    return end > at + U64(1), int(end) - (end > at + U64(1))


def within_doubles(inner, arrivals, n, width, low, out, at):
    end = inner(arrivals, n, width, low, out, at)
    if end == at:
        return False, end
    out[int(end)] = out[int(end) - 1]
    return True, int(end) + 1


def collect_loses_a_key(inner, arrivals, n, low, table, keys, bits):
    m = inner(arrivals, n, low, table, keys, bits)
    return m > 3, int(m) - (m > 3)


def collect_loses_an_edge(inner, arrivals, n, low, table, keys, bits):
    m = int(inner(arrivals, n, low, table, keys, bits))
    if m > 3:
        bits[1] &= np.uint32(0xFF)
    return m > 3, m


def collect_changes_a_key(inner, arrivals, n, low, table, keys, bits):
    m = int(inner(arrivals, n, low, table, keys, bits))
    gaps = np.flatnonzero(np.diff(keys[:m]) > 1)
    keys[gaps[:1]] += U64(1)
    return gaps.size > 0, m


def collect_changes_an_edge(inner, arrivals, n, low, table, keys, bits):
    m = int(inner(arrivals, n, low, table, keys, bits))
    edges = bits[:m] >> np.uint32(8)
    at = np.flatnonzero(edges == 1)
    bits[at[:1]] ^= np.uint32(3 << 8)
    return at.size > 0, m


def combine_loses(inner, *args):
    i, j, written, *sums = inner(*args)
    harm = written > 3
    return harm, (i, j, int(written) - harm, *sums)


def combine_doubles(inner, *args):
    i, j, written, *sums = inner(*args)
    out, payload = args[-2:]
    if written > 3:
        out[int(written)], payload[int(written)] = (
            out[int(written) - 1],
            payload[int(written) - 1],
        )
    return written > 3, (i, j, int(written) + (written > 3), *sums)


def combine_changes_places(inner, *args):
    i, j, written, *sums = inner(*args)
    args[-1][0] ^= np.uint32(1)
    return written > 0, (i, j, written, *sums)


def combine_changes_edges(inner, *args):
    i, j, written, *sums = inner(*args)
    args[-1][0] ^= np.uint32(1 << 8)
    return written > 0, (i, j, written, *sums)


def combine_skips_one(inner, own, payload, i, n, *rest):
    harm = n > i + U64(3)
    return harm, inner(own, payload, i + U64(harm), n, *rest)


def combine_oversteps(inner, own, payload, i, n, *rest):
    at, *more = inner(own, payload, i, n, *rest)
    harm = int(at) == int(n)
    return harm, (int(at) + harm, *more)


def column_changes(inner, payload, n, *rest):
    other = payload.copy()
    other[1:2] ^= payload.dtype.type(n > 3)
    return n > 3, inner(other, n, *rest)


def does_not_sort(inner, values, other, n, *rest):
    return sort_does_not_sort(inner, values, other, n, *rest) if n > 1 else (False, U64(0))


KERNELS: list[tuple[Any, str, Any, Cramped]] = [
    *((TilesFibre, "expand", harm, PLAIN) for harm in (expand_loses, expand_doubles)),
    *((fibre_edges, "select_edges", harm, PLAIN) for harm in (select_loses, select_adds)),
    (fibre_edges, "select_remote", select_remote_loses, PLAIN),
    *((fibre_edges, "append", harm, PLAIN) for harm in (append_loses, append_changes)),
    *((fibre_edges, "append_within", harm, PARTS) for harm in (within_loses, within_doubles)),
    *(
        (fibre_kernels, "convert", harm, setting)
        for harm in (convert_changes, convert_doubles)
        for setting in (ROUTED, SPILLS)
    ),
    *(
        (fibre_kernels, "collect", harm, setting)
        for harm in (
            collect_loses_a_key,
            collect_loses_an_edge,
            collect_changes_a_key,
            collect_changes_an_edge,
        )
        for setting in (PLAIN, PARTS)
    ),
    *(
        (fibre_kernels, "combine", harm, setting)
        for harm in (
            combine_loses,
            combine_doubles,
            combine_changes_places,
            combine_changes_edges,
            combine_oversteps,
        )
        for setting in (PLAIN, PARTS)
    ),
    *(
        (route, "route_keys", harm, setting)
        for harm in (route_loses, route_doubles, route_changes)
        for setting in (ROUTED, SPILLS)
    ),
    *(
        (fibre_kernels, "radix_sort", harm, PLAIN)
        for harm in (sort_changes, sort_doubles, does_not_sort)
    ),
    *((records, "encode_swift", encode_changes, setting) for setting in (PLAIN, SPILLS)),
    *((records, "encode_column", column_changes, setting) for setting in (PLAIN, SPILLS)),
]


def open_up(patch: pytest.MonkeyPatch) -> None:
    """Let the compositions of kernels run as Python, so that they call what is put in place."""
    for module, name in (
        (fibre_edges, "stay"),
        (fibre_edges, "leave"),
        (fibre_edges, "land"),
        (fibre_kernels, "take_routed"),
        (fibre_kernels, "arrange"),
        (fibre_kernels, "make_block"),
        (fibre_kernels, "make_blocks"),
        (fibre_kernels, "encode_records"),
    ):
        composition = getattr(module, name)
        patch.setattr(module, name, getattr(composition, "py_func", composition))


@pytest.mark.parametrize(
    ("module", "kernel", "harm", "setting"),
    KERNELS,
    ids=[f"{harm.__name__}-{i}" for i, (_, _, harm, _) in enumerate(KERNELS)],
)
def test_a_kernel_that_errs_once(tmp_path, monkeypatch, module, kernel, harm, setting):
    setting.install(monkeypatch)
    open_up(monkeypatch)
    culprit = Culprit(getattr(module, kernel), harm, habitual=kernel == "append_within")
    if isinstance(module, type):
        monkeypatch.setattr(module, kernel, lambda *args: culprit(*args))
    else:
        monkeypatch.setattr(module, kernel, culprit)
    with pytest.raises(IntegrityError) as caught:
        search("tiles:2x4", tmp_path / "run", algebra="fibre", threads=1)
    assert bool(culprit.done)
    assert caught.value.exit_code == 21
    assert "\n" not in str(caught.value)
    recorded = recorded_counts(tmp_path / "run")
    assert recorded == TABLE[: len(recorded)]


def _lose(keys: Any, payload: Any) -> Any:
    return keys[:-1], payload[:-1]


def _double(keys: Any, payload: Any) -> Any:
    return np.concatenate([keys, keys[-1:]]), np.concatenate([payload, payload[-1:]])


def _change(keys: Any, payload: Any) -> Any:
    other = keys.copy()
    other[-1] ^= U64(1)
    return other, payload


def _change_places(keys: Any, payload: Any) -> Any:
    other = payload.copy()
    other[-1] ^= other.dtype.type(1)
    return keys, other


def _change_free(keys: Any, payload: Any) -> Any:
    other = payload.copy()
    other[0] ^= other.dtype.type(1 << 4)
    return keys, other


CHANGES = [_lose, _double, _change, _change_places, _change_free]


@pytest.mark.parametrize(
    ("method", "setting"),
    [("read_records", SPILLS), ("read_records", PARTS), ("read_range_records", ONE_BUCKET)],
)
@pytest.mark.parametrize("change", CHANGES)
def test_records_are_read_wrong(tmp_path, monkeypatch, change, method, setting):
    """In stage 1 (read_records) or in stage 2 of a bucket in parts (read_range_records)."""
    setting.install(monkeypatch)
    inner = getattr(Layer, method)
    done: list[int] = []

    def harmed(layer: Layer, *args: Any) -> Any:
        for keys, payload in inner(layer, *args):
            here = layer.depth == 12 and keys.size > 3
            done.extend([1] * here)
            yield change(keys, payload) if here else (keys, payload)

    monkeypatch.setattr(Layer, method, harmed)
    fails_at_depth_13(tmp_path / "run", done)


@pytest.mark.parametrize("setting", [PLAIN, SPILLS], ids=["plain", "spills"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_window_holds_what_was_not_read(tmp_path, monkeypatch, change, setting):
    setting.install(monkeypatch)
    inner = Window.load
    done: list[int] = []

    def load(window: Window, layer: Layer, *args: Any) -> tuple[int, int]:
        begin, end = inner(window, layer, *args)
        if not done and layer.depth == 12 and end - begin > 3:
            done.append(1)
            keys, payload = change(window.keys[begin:end].copy(), window.payload[begin:end].copy())
            end = begin + keys.size
            window.keys[begin:end], window.payload[begin:end] = keys, payload
        return begin, end

    monkeypatch.setattr(Window, "load", load)
    fails_at_depth_13(tmp_path / "run", done)


def fails_at_depth_13(run: Path, done: list[int]) -> None:
    with pytest.raises(IntegrityError) as caught:
        search("tiles:2x4", run, algebra="fibre", threads=1)
    assert done
    assert caught.value.exit_code == 21
    assert recorded_counts(run) == TABLE[:13]


def test_a_bucket_that_is_not_merged(tmp_path, monkeypatch):
    from extbfs.algebra.fibre import FibreAlgebra

    PLAIN.install(monkeypatch)
    inner = FibreAlgebra.work

    def work(algebra, layer, arrivals, buckets):
        found = inner(algebra, layer, arrivals, buckets)
        if layer.depth == 12:
            found[-1] = 0
        return found

    monkeypatch.setattr(FibreAlgebra, "work", work)
    with pytest.raises(IntegrityError):
        search("tiles:2x4", tmp_path / "run", algebra="fibre", threads=1)
    assert recorded_counts(tmp_path / "run") == TABLE[:13]


@pytest.mark.parametrize("what", ["key space", "span"])
def test_an_edge_that_leads_astray_is_refused(tmp_path, monkeypatch, what):
    """Far from the start, where no check before the search has looked."""
    Cramped(widest=4, bucket_arrivals=80).install(monkeypatch)
    puzzle = random_tokens(7, spans=(1, 6), edges=8, many=100)
    fibre: Any = puzzle.fibre
    inner = fibre.expand
    done: list[int] = []
    stage: list[str] = []

    def expand(keys, pending, n, side, out, counts):
        got = inner(keys, pending, n, side, out, counts)
        local = what == "span"
        edges = np.repeat(np.arange(fibre.edges), counts.astype(np.int64))
        spans = fibre.edge_span[edges]
        wanted = spans == 6 if local else spans == fibre.key_space
        if got and wanted.any() and not done and (stage or not local):
            done.append(1)
            at = int(np.flatnonzero(wanted)[0])
            out[at] = (int(out[at]) + 300) % 600 if local else fibre.key_space + 5
        return got

    fibre.expand = expand
    own = FibreMerge._own

    def merging(merge: FibreMerge, *args: Any) -> Any:
        stage.append("merge")
        try:
            return own(merge, *args)
        finally:
            stage.pop()

    monkeypatch.setattr(FibreMerge, "_own", merging)
    known = puzzle_counts(7)
    error = (PuzzleError, IntegrityError) if what == "span" else PuzzleError
    with pytest.raises(error, match="out of the range" if what == "key space" else None):
        search(puzzle, tmp_path / "run", threads=1)
    assert done
    recorded = recorded_counts(tmp_path / "run")
    assert recorded == known[: len(recorded)]


def puzzle_counts(seed: int) -> list[int]:
    from tests import oracle

    return oracle.counts(random_tokens(seed, spans=(1, 6), edges=8, many=100))
