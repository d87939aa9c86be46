"""A kernel that loses, doubles or changes a single key, anywhere: an error, never a wrong count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import store.kernels.codec
from extbfs.engine.build import DepthBuild
from extbfs.engine.control import Control
from extbfs.engine.laws import LawBroken, Tally, require
from puzzles.registry import resolve
from store import pool as pools
from store.errors import IntegrityError
from store.kernels import bitmap, merge, route, sort
from store.layer import Layer
from store.spill import SpillReader
from tests.extbfs.runs import recorded_counts, search
from tests.extbfs.tight import Tight
from tests.fakes.graphs import bundle, random_graph
from tests.puzzles.test_tiles_counts import TABLES

U64 = np.uint64
TILES = resolve("tiles:2x4")
TABLE = TABLES["4x2 sliding, single-tile, blank corner"]["counts"]
PLAIN = Tight(bucket_arrivals=64, slots=0)
DENSE = Tight(bucket_arrivals=64, slots=1 << 40)
EXTERNAL = Tight(bucket_arrivals=1 << 20, arrivals=64, slots=0)

Harm = Callable[..., Any]


class Culprit:
    """Does harm once, in the first call in which there is something to harm; `done` says so.

    habitual: in every such call, for kernels some of whose work is given up and done again.
    """

    def __init__(self, inner: Any, harm: Harm, habitual: bool = False) -> None:
        self._inner = inner
        self._harm = harm
        self._habitual = habitual
        self.done = False

    def __call__(self, *args: Any) -> Any:
        if self.done and not self._habitual:
            return self._inner(*args)
        done, result = self._harm(self._inner, *args)
        self.done = self.done or bool(done)
        return result


# Each harm returns (whether it was done, what the kernel returns).


def route_loses(inner, keys, n, *rest):
    harm = n > 5
    return harm, inner(keys, n - U64(harm), *rest)


def route_doubles(inner, keys, n, lows, lut, shift, data, chain, head, cursor, used, log):
    used = U64(inner(keys, n, lows, lut, shift, data, chain, head, cursor, used, log))
    if n < 5:
        return False, used
    return True, inner(keys, U64(1), lows, lut, shift, data, chain, head, cursor, used, log)


def route_changes(inner, keys, n, *rest):
    other = keys.copy()
    other[: int(n)][2:3] ^= U64(1)
    return n > 2, inner(other, n, *rest)


def sort_changes(inner, values, other, n, *rest):
    values[: int(n)][3:4] ^= values.dtype.type(1)
    return n > 3, inner(values, other, n, *rest)


def sort_doubles(inner, values, other, n, *rest):
    harm = n > 3 and values[3] != values[2]
    if harm:
        values[3] = values[2]
    return harm, inner(values, other, n, *rest)


def sort_does_not_sort(inner, values, other, n, *rest):
    if (values[: int(n) - 1] <= values[1 : int(n)]).all():
        return False, inner(values, other, n, *rest)
    return True, U64(0)


def split_loses(inner, values, n, duplicates):
    kept, dropped = inner(values, n, duplicates)
    return kept > 3, (kept - (kept > 3), dropped)


def split_loses_a_duplicate(inner, values, n, duplicates):
    kept, dropped = inner(values, n, duplicates)
    return dropped > 0, (kept, dropped - (dropped > 0))


def split_doubles(inner, values, n, duplicates):
    kept, dropped = inner(values, n, duplicates)
    if n < 5:
        return False, (kept, dropped)
    duplicates[int(dropped)] = values[0]
    return True, (kept, dropped + 1)


def split_changes(inner, values, n, duplicates):
    kept, dropped = inner(values, n, duplicates)
    harm = kept > 3 and values[int(kept) - 1] & 1 == 0
    if harm:
        values[int(kept) - 1] += values.dtype.type(1)
    return harm, (kept, dropped)


def subtract_loses(inner, values, n, read, write, *rest):
    harm = n - read > 5
    return harm, inner(values, n, read + U64(harm), write, *rest)


def subtract_doubles(inner, values, n, read, write, keys, m, base, hits):
    at, end, found = inner(values, n, read, write, keys, m, base, hits)
    if end - write < 2:
        return False, (at, end, found)
    hits[int(found)] = values[int(write)]
    return True, (at, end, found + 1)


def subtract_tells_of_one_too_few(inner, *args):
    at, end, found = inner(*args)
    return found > 0, (at, end, found - (found > 0))


def unite_loses(inner, a, n, b, m, out, twice):
    size, both = inner(a, n, b, m, out, twice)
    return size > 5, (size - (size > 5), both)


def unite_tells_of_one_too_few(inner, *args):
    size, both = inner(*args)
    return both > 0, (size, both - (both > 0))


def unite_doubles(inner, a, n, b, m, out, twice):
    size, both = inner(a, n, b, m, out, twice)
    if size > 5:
        out[1] = out[0]
    return size > 5, (size, both)


def unite_changes(inner, a, n, b, m, out, twice):
    size, both = inner(a, n, b, m, out, twice)
    harm = size > 5 and out[int(size) - 1] & U64(1) == 0
    if harm:
        out[int(size) - 1] += U64(1)
    return harm, (size, both)


def mark_loses(inner, bits, values, n, duplicates):
    harm = n > 5
    return harm, inner(bits, values, n - U64(harm), duplicates)


def mark_changes(inner, bits, values, n, duplicates):
    values[: int(n)][1:2] ^= values.dtype.type(1)
    return n > 1, inner(bits, values, n, duplicates)


def clear_takes_one_more(inner, bits, *rest):
    found = inner(bits, *rest)
    at = np.flatnonzero(bits)
    if at.size:
        bits[at[0]] &= bits[at[0]] - U64(1)
    return at.size > 0, found


def clear_tells_of_one_too_few(inner, *args):
    found = inner(*args)
    return found > 0, found - (found > 0)


def sweep_loses(inner, *args):
    word, n = inner(*args)
    return n > 2, (word, n - (n > 2))


def sweep_changes(inner, bits, start, words, base, out, room):
    word, n = inner(bits, start, words, base, out, room)
    if n > 2:
        out[int(n) - 1] += U64(1)
    return n > 2, (word, n)


def widen_changes(inner, values, n, base, out):
    inner(values, n, base, out)
    out[: int(n)][-1:] += U64(1)
    return n > 0, None


def move_loses(inner, *args):
    end = inner(*args)
    return end > 2, end - (end > 2)


def encode_changes(inner, keys, n, *rest):
    gaps = np.flatnonzero(keys[1 : int(n)] - keys[: int(n) - 1] > 1)
    other = keys.copy()
    other[gaps[gaps > 0][:1]] += U64(1)
    return bool((gaps > 0).any()), inner(other, n, *rest)


KERNELS: list[tuple[Any, str, Harm, Tight]] = [
    *((route, "route_keys", harm, PLAIN) for harm in (route_loses, route_doubles, route_changes)),
    *(
        (sort, "radix_sort", harm, setting)
        for harm in (sort_changes, sort_doubles, sort_does_not_sort)
        for setting in (PLAIN, EXTERNAL)
    ),
    *(
        (sort, "split_duplicates", harm, setting)
        for harm in (split_loses, split_loses_a_duplicate, split_doubles, split_changes)
        for setting in (PLAIN, EXTERNAL)
    ),
    *(
        (merge, "subtract", harm, setting)
        for harm in (subtract_loses, subtract_doubles, subtract_tells_of_one_too_few)
        for setting in (PLAIN, EXTERNAL)
    ),
    *(
        (merge, "unite", harm, EXTERNAL)
        for harm in (unite_loses, unite_tells_of_one_too_few, unite_doubles)
    ),
    *((merge, "widen", widen_changes, setting) for setting in (PLAIN, EXTERNAL)),
    (merge, "move_down", move_loses, PLAIN),
    *((bitmap, "mark", harm, DENSE) for harm in (mark_loses, mark_changes)),
    *(
        (bitmap, "clear_hits", harm, DENSE)
        for harm in (clear_takes_one_more, clear_tells_of_one_too_few)
    ),
    *((bitmap, "sweep", harm, DENSE) for harm in (sweep_loses, sweep_changes)),
    (store.kernels.codec, "encode", encode_changes, PLAIN),
]


@pytest.fixture(autouse=True)
def unwarmed(monkeypatch):
    """The first call of a kernel is one of the search, and not one that only compiles it."""
    monkeypatch.setattr("extbfs.kernels.warm", lambda *args, **kwargs: 0.0)


@pytest.mark.parametrize(
    ("module", "kernel", "harm", "setting"),
    KERNELS,
    ids=[f"{harm.__name__}-{i}" for i, (_, _, harm, _) in enumerate(KERNELS)],
)
def test_a_kernel_that_errs_once(tmp_path, monkeypatch, module, kernel, harm, setting):
    setting.install(monkeypatch)
    culprit = Culprit(getattr(module, kernel), harm)
    monkeypatch.setattr(module, kernel, culprit)
    with pytest.raises(IntegrityError) as caught:
        search(TILES, tmp_path / "run", algebra="set", threads=1)
    assert bool(culprit.done)
    assert caught.value.exit_code == 21
    assert str(caught.value).count("\n") == 0
    recorded = recorded_counts(tmp_path / "run")
    assert recorded == TABLE[: len(recorded)]


def _lose(keys: Any) -> Any:
    return keys[:-1]


def _double(keys: Any) -> Any:
    return np.concatenate([keys, keys[-1:]])


def _change(keys: Any) -> Any:
    other = keys.copy()
    other[-1] ^= other.dtype.type(1)
    return other


CHANGES = [_lose, _double, _change]


@pytest.mark.parametrize("change", CHANGES)
def test_the_old_layer_is_read_wrong(tmp_path, monkeypatch, change):
    PLAIN.install(monkeypatch)
    inner = Layer._run_blocks
    done: list[int] = []

    def harmed(layer: Layer, *args: Any) -> Iterator[Any]:
        for header, keys, payload in inner(layer, *args):
            here = not done and expanding[-1:] == [13] and layer.depth == 12 and keys.size > 3
            done.extend([1] * here)
            yield header, change(keys) if here else keys, payload

    expanding: list[int] = []
    expand = DepthBuild._expand

    def noted(build: DepthBuild) -> bool:
        expanding.append(build.plan.depth)
        return expand(build)

    monkeypatch.setattr(DepthBuild, "_expand", noted)
    monkeypatch.setattr(Layer, "_run_blocks", harmed)
    with pytest.raises(IntegrityError):
        search(TILES, tmp_path / "run", algebra="set", threads=1)
    assert done


@pytest.mark.parametrize("what", ["pool", "spill"])
@pytest.mark.parametrize("change", [_lose, _change])
@pytest.mark.parametrize("algebra", ["set", "fibre"])
def test_arrivals_are_read_wrong(tmp_path, monkeypatch, what, change, algebra):
    """Also when a spill file is written wrong: then its checksum is right."""
    Tight(piece_blocks=1, block_keys=16).install(monkeypatch)
    if what == "spill":
        monkeypatch.setattr(Control, "checkpoint_due", property(lambda control: True))
    owner = pools.Pool if what == "pool" else SpillReader
    inner = owner.gather
    done: list[int] = []

    def harmed(self: Any, bucket: int, out: Any, start: int) -> int:
        end = inner(self, bucket, out, start)
        if done or end - start < 4:
            return end
        done.append(1)
        part = change(out[start:end])
        out[start : start + part.size] = part
        return start + int(part.size)

    monkeypatch.setattr(owner, "gather", harmed)
    with pytest.raises(IntegrityError):
        search(TILES, tmp_path / "run", algebra=algebra, threads=1)
    assert done


@pytest.mark.parametrize("change", [_lose, _change])
def test_a_large_bucket_is_written_or_read_wrong(tmp_path, monkeypatch, change):
    EXTERNAL.install(monkeypatch)
    inner = SpillReader.chunks
    done: list[int] = []

    def harmed(self: SpillReader, bucket: int, out: Any) -> Iterator[int]:
        for n in inner(self, bucket, out):
            if done or n < 4:
                yield n
                continue
            done.append(1)
            part = change(out[:n])
            out[: part.size] = part
            yield int(part.size)

    monkeypatch.setattr(SpillReader, "chunks", harmed)
    with pytest.raises(IntegrityError):
        search(bundle(90, 5, 2**60), tmp_path / "run", threads=1)
    assert done


@pytest.mark.parametrize("harm", [unite_loses, unite_doubles, unite_changes])
def test_compaction_of_the_visited_keys_errs(tmp_path, monkeypatch, harm):
    PLAIN.install(monkeypatch)
    culprit = Culprit(merge.unite, harm)
    monkeypatch.setattr(merge, "unite", culprit)
    with pytest.raises(IntegrityError):
        search(random_graph(1, 1500, 2, undirected=False, key_space=2**50), tmp_path / "run")
    assert culprit.done


class TestTally:
    def test_order_does_not_matter_and_addition_wraps(self):
        a, b = Tally(3, 2**64 - 1), Tally(4, 5)
        assert a + b == b + a == Tally(7, 4)

    def test_a_broken_law_names_place_law_and_both_sides(self):
        require("depth 3", "routing", Tally(1, 2), Tally(1, 2))
        with pytest.raises(LawBroken, match=r"depth 3.*routing.*1 keys.*2 with") as caught:
            require("depth 3", "routing", Tally(1, 2), Tally(2, 2))
        assert caught.value.exit_code == 21
        with pytest.raises(LawBroken):
            require("depth 3", "routing", Tally(1, 2), Tally(1, 3))
