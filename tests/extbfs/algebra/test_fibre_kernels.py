"""The kernels of the fibre algebra equal naive twins: loops over lists, dicts and sets of edges."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extbfs.algebra import fibre, fibre_combine, fibre_edges, fibre_kernels, fibre_weights
from tests import helpers_numba
from tests.store import naive_codec

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow encountered")]
U64 = np.uint64
LAST = int(fibre_kernels.LAST)
ARRIVAL_SPACE = 2**64 - 16
"""Keys are below 2**60 - 1, so that no arrival is the sentinel."""
KEY_SPACE = ARRIVAL_SPACE >> 4
JUNK = 0xDEADBEEF
NARROW = [np.uint32, np.uint64]

keys_near = st.one_of(
    st.integers(0, 40), st.integers(KEY_SPACE - 40, KEY_SPACE - 1), st.integers(0, KEY_SPACE - 1)
)
masks = st.integers(0, 2**32 - 1)


def ascending(values):
    return sorted(set(values))


def u64(values, tail=()):
    return np.array([*values, *tail], np.uint64)


def u32(values):
    return np.array(values, np.uint32)


class TestSelectEdges:
    @given(
        st.lists(masks, max_size=70),
        st.integers(0, 20),
        st.integers(0, 0xFFFF),
        st.integers(0, 3),
    )
    def test_it_shifts_masks_and_counts(self, payload, shift, wanted, behind):
        out = u32([JUNK] * (len(payload) + behind))
        total = fibre_edges.select_edges(
            u32([*payload, *[2**32 - 1] * behind]), U64(len(payload)), U64(shift), U64(wanted), out
        )
        expected = [p >> shift & wanted for p in payload]
        assert out.tolist() == expected + [JUNK] * behind
        assert int(total) == sum(edges.bit_count() for edges in expected)


class TestSelectRemote:
    @given(st.data())
    def test_every_key_has_the_edges_of_its_bucket(self, data):
        inner = data.draw(st.lists(keys_near.filter(bool), max_size=6))
        lows = ascending([0, *inner, KEY_SPACE])
        keys = ascending(data.draw(st.lists(keys_near, min_size=1, max_size=60)))
        payload = data.draw(st.lists(masks, min_size=len(keys), max_size=len(keys)))
        remote = data.draw(
            st.lists(st.integers(0, 0xFFFF), min_size=len(lows) - 1, max_size=len(lows) - 1)
        )
        shift = data.draw(st.integers(0, 20))
        buckets = [max(b for b, low in enumerate(lows[:-1]) if low <= key) for key in keys]
        begin = data.draw(st.integers(0, buckets[0]))
        out = u32([JUNK] * (len(keys) + 1))
        total, last = fibre_edges.select_remote(
            u64(keys, [0, 0]),
            u32(payload),
            U64(len(keys)),
            U64(shift),
            u64(lows),
            u32(remote),
            U64(begin),
            out,
        )
        expected = [p >> shift & remote[b] for p, b in zip(payload, buckets, strict=True)]
        assert out.tolist() == [*expected, JUNK]
        assert int(total) == sum(edges.bit_count() for edges in expected)
        assert int(last) == buckets[-1]


class TestTag:
    @given(
        st.lists(st.lists(keys_near, max_size=12), max_size=16),
        st.integers(0, 4),
        st.lists(st.integers(0, 15), min_size=16, max_size=16),
    )
    def test_keys_get_the_code_of_their_edge_as_their_low_bits(self, groups, bits, codes):
        codes = [code % (1 << bits) for code in codes]
        children = u64([key for group in groups for key in group], [JUNK])
        fibre_edges.tag(children, u64([len(group) for group in groups]), U64(bits), u64(codes))
        expected = [key << bits | codes[edge] for edge, group in enumerate(groups) for key in group]
        assert children.tolist() == [*expected, JUNK]


@pytest.mark.parametrize("into", NARROW)
@pytest.mark.parametrize("dtype", NARROW)
@given(st.data())
def test_what_was_routed_becomes_what_it_was(dtype, into, data):
    """Any edges, codes and bounds: take_routed undoes tag, and finds the fingerprint of before."""
    bits = data.draw(st.integers(0, 4))
    edges = data.draw(st.permutations(range(16)))[: 1 << bits]
    code_of, edge_of = [0] * 16, [0] * 16
    for code, edge in enumerate(edges):
        code_of[edge], edge_of[code] = code, edge
    first = data.draw(st.integers(0, KEY_SPACE - 2000))
    pair = st.tuples(st.integers(0, 1999), st.sampled_from(edges))
    pairs = data.draw(st.lists(pair, max_size=30))
    base, low = first << bits, first << 4
    routed = [((first + k) << bits | code_of[e]) - base for k, e in pairs]
    out = np.full(len(pairs) + 5, 7, into)
    mixed, weighed = fibre_kernels.take_routed(
        np.array(routed, dtype),
        U64(len(pairs)),
        U64(base),
        U64(bits),
        u64(edge_of),
        u64(code_of),
        U64(low),
        out,
        U64(3),
    )
    assert out.tolist() == [7, 7, 7, *(k << 4 | e for k, e in pairs), 7, 7]
    assert int(mixed) == naive_codec.fingerprint([r + base for r in routed])
    assert int(weighed) == weight([(first + k, e) for k, e in pairs])


@pytest.mark.parametrize("dtype", NARROW)
class TestAppend:
    @given(st.data())
    def test_residuals_go_behind_what_is_there(self, dtype, data):
        width = 2**32 if dtype is np.uint32 else ARRIVAL_SPACE
        low = data.draw(st.sampled_from([0, 1 << 40, ARRIVAL_SPACE - width]))
        low = min(low, ARRIVAL_SPACE - width)
        residual = st.one_of(st.integers(0, 9), st.integers(width - 9, width - 1))
        residuals = data.draw(st.lists(residual, max_size=40))
        at = data.draw(st.integers(0, 5))
        out = np.full(at + len(residuals) + 1, 7, dtype)
        end = fibre_edges.append(
            u64([low + r for r in residuals], [JUNK]), U64(len(residuals)), U64(low), out, U64(at)
        )
        assert int(end) == at + len(residuals)
        assert out.tolist() == [7] * at + residuals + [7]


@pytest.mark.parametrize("out_dtype", NARROW)
@pytest.mark.parametrize("dtype", NARROW)
class TestAppendWithin:
    @given(st.data())
    def test_only_what_lies_in_the_range(self, dtype, out_dtype, data):
        """values[i] + shift in [low, low + width), all of them below 2**64."""
        limit = 2**32 if dtype is np.uint32 else ARRIVAL_SPACE
        shift = data.draw(st.sampled_from([0, 160, ARRIVAL_SPACE - limit]))
        shift = min(shift, ARRIVAL_SPACE - limit)
        value = st.one_of(st.integers(0, 99), st.integers(limit - 99, limit - 1))
        values = data.draw(st.lists(value, max_size=50))
        low = shift + data.draw(st.one_of(value, st.sampled_from(values or [0])))
        most = 2**32 if out_dtype is np.uint32 else ARRIVAL_SPACE
        width = data.draw(st.sampled_from([1, 16, 99, min(most, ARRIVAL_SPACE - low)]))
        width = max(1, min(width, ARRIVAL_SPACE - low))
        at = data.draw(st.integers(0, 5))
        inside = [v + shift - low for v in values if low <= v + shift < low + width]
        out = np.full(at + len(inside) + 1, 7, out_dtype)
        end = fibre_edges.append_within(
            u64([value + shift for value in values], [0]),
            U64(len(values)),
            U64(width),
            U64(low),
            out,
            U64(at),
        )
        assert int(end) == at + len(inside)
        assert out[: int(end)].tolist() == [7] * at + inside


def collected(arrivals, table):
    """Dict of key to the bits that its arrivals bring."""
    found: dict[int, int] = {}
    for arrival in arrivals:
        found[arrival >> 4] = found.get(arrival >> 4, 0) | table[arrival & 15]
    return found


@pytest.mark.parametrize("dtype", NARROW)
class TestCollect:
    @given(st.data())
    def test_arrivals_of_one_key_become_one(self, dtype, data):
        width = 2**32 if dtype is np.uint32 else ARRIVAL_SPACE
        low = data.draw(st.sampled_from([0, 1 << 44, ARRIVAL_SPACE - width]))
        low = min(low, ARRIVAL_SPACE - width)
        end = (width >> 4) - 1
        key = st.one_of(st.integers(0, 5), st.integers(end - 5, end), st.integers(0, end))
        pair = st.tuples(key, st.integers(0, 15))
        pairs = data.draw(st.lists(pair, max_size=60, unique=True))
        # sorted by key only: the order of a key's edges is whatever the sort left
        residuals = [k << 4 | e for k, e in sorted(pairs, key=lambda p: p[0])]
        table = data.draw(st.lists(masks, min_size=16, max_size=16))
        keys = u64([JUNK] * (len(residuals) + 1))
        bits = u32([JUNK] * (len(residuals) + 1))
        n = int(
            fibre_kernels.collect(
                np.array([*residuals, 3], dtype),
                U64(len(residuals)),
                U64(low),
                u32(table),
                keys,
                bits,
            )
        )
        expected = collected([low + r for r in residuals], table)
        assert dict(zip(keys[:n].tolist(), bits[:n].tolist(), strict=True)) == expected
        assert n == len(expected)
        assert keys[:n].tolist() == sorted(expected)
        assert keys[n:].tolist() == [JUNK] * (len(residuals) + 1 - n)


@st.composite
def sides(draw):
    """(places of the layer's side, places of the next side, edges), at most 32 in all."""
    wide = draw(st.integers(0, 10))
    narrow = draw(st.integers(1, 10))
    return wide, narrow, draw(st.integers(0, min(16, 32 - wide - narrow)))


@st.composite
def merges(draw):
    """Records of a layer, arrivals at keys, and the tables of the next layer's side."""
    wide, narrow, edges = draw(sides())
    near = st.one_of(st.integers(0, 25), st.integers(KEY_SPACE - 9, KEY_SPACE - 1))
    own = ascending(draw(st.lists(near, max_size=30)))
    here, there = st.integers(0, (1 << wide) - 1), st.integers(0, (1 << narrow) - 1)
    some_edges = st.integers(0, (1 << edges) - 1)
    old = [
        (draw(here), draw(st.one_of(st.just(0), there)), draw(some_edges)) for _ in range(len(own))
    ]
    keys = ascending(draw(st.lists(st.one_of(near, st.sampled_from(own or [3])), max_size=30)))
    came = [(draw(there), draw(some_edges)) for _ in range(len(keys))]
    free = [draw(here) for _ in range(1 << narrow)] if narrow < 4 else None
    seed = draw(st.integers(0, 999))
    luck = np.random.default_rng(seed)
    if free is None:
        free = luck.integers(0, 1 << wide, 1 << narrow).tolist()
    incident = luck.integers(0, 1 << edges, 1 << narrow).tolist()
    free[0] = incident[0] = 0
    return (wide, narrow, edges), own, old, keys, came, free, incident


def merged(widths, own, old, keys, came, free, incident):
    """The next layer's records by key, and how many states they are."""
    wide, narrow, _ = widths
    before = dict(zip(own, old, strict=True))
    arrived = dict(zip(keys, came, strict=True))
    records, states = {}, 0
    for key in sorted(before.keys() | arrived.keys()):
        visited, to_visit, _ = before.get(key, (0, 0, 0))
        brought, edges = arrived.get(key, (0, 0))
        places = to_visit | brought
        if not places:
            continue
        visit, take = free[places] & ~visited, incident[places] & ~edges
        records[key] = places | visit << narrow | take << narrow + wide
        states += places.bit_count()
    return records, states


def weight(pairs):
    """The sum over pairs of key and edge that weigh() and weigh_keys() are to give."""
    golden = 0x9E3779B97F4A7C15
    return sum(key + ((key + 1) << edge) * golden for key, edge in pairs) % 2**64


@pytest.mark.parametrize("dtype", NARROW)
class TestWeights:
    @given(st.data())
    def test_the_same_before_and_after_collect_and_in_any_order(self, dtype, data):
        limit = 2**32 if dtype is np.uint32 else ARRIVAL_SPACE
        low = min(data.draw(st.sampled_from([0, 160, ARRIVAL_SPACE])), ARRIVAL_SPACE - limit)
        key = st.one_of(st.integers(0, 9), st.integers(0, (limit >> 4) - 1))
        pairs = data.draw(st.lists(st.tuples(key, st.integers(0, 15)), max_size=40, unique=True))
        n = U64(len(pairs))
        residuals = np.array([k << 4 | e for k, e in pairs], dtype)
        expected = weight([(k + (low >> 4), e) for k, e in pairs])
        assert int(fibre_kernels.weigh(residuals, n, U64(low))) == expected
        residuals.sort()
        table = u32([1 << e + 16 | 1 << e % 7 for e in range(16)])
        keys, bits = np.zeros(len(pairs), np.uint64), np.zeros(len(pairs), np.uint32)
        m = fibre_kernels.collect(residuals, n, U64(low), table, keys, bits)
        arrived, total = fibre_kernels.weigh_keys(keys, bits, U64(m), U64(16))
        assert (int(arrived), int(total)) == (len(pairs), expected)

    @given(st.data())
    def test_one_arrival_lost_doubled_or_changed_shows(self, dtype, data):
        pair = st.tuples(st.integers(0, 2**28 - 1), st.integers(0, 15))
        pairs = data.draw(st.lists(pair, min_size=1, max_size=9, unique=True))
        other = data.draw(pair.filter(lambda p: p not in pairs))
        right = fibre_kernels.weigh(
            np.array([k << 4 | e for k, e in pairs], dtype), U64(len(pairs)), U64(0)
        )
        for wrong in ([*pairs[1:], other], [*pairs, pairs[0]], pairs[1:]):
            array = np.array([k << 4 | e for k, e in wrong], dtype)
            got = int(fibre_kernels.weigh(array, U64(len(wrong)), U64(0))), len(wrong)
            assert got != (int(right), len(pairs))


@given(st.lists(masks, max_size=40), st.integers(1, 10), st.integers(10, 31))
def test_count_bits_counts_places_and_edges(payload, width, shift):
    got = fibre_kernels.count_bits(u32([*payload, JUNK]), U64(len(payload)), U64(width), U64(shift))
    states = sum((p & (1 << width) - 1).bit_count() for p in payload)
    assert (int(got[0]), int(got[1])) == (states, sum((p >> shift).bit_count() for p in payload))


@given(st.lists(masks, max_size=40), st.lists(st.integers(0, 16), min_size=10, max_size=10))
def test_count_incident_counts_the_edges_that_end_at_all_places(payload, degrees):
    """Any number of edges a place, up to four by each call."""
    edges = [(1 << degree) - 1 for degree in degrees]
    incident = [0] * (1 << 10)
    for place in range(10):
        incident[1 << place] = edges[place]
    ends = fibre._ends(np.array(incident, np.uint16))
    total = fibre_kernels.count_incident(u32([*payload, JUNK]), U64(len(payload)), ends)
    assert total == sum(degrees[place] * (p >> place & 1) for p in payload for place in range(10))


@settings(max_examples=150)
@given(st.data())
def test_split_takes_so_many_and_tears_no_key_apart(data):
    key = st.integers(0, 30)
    own = ascending(data.draw(st.lists(key, max_size=20)))
    keys = ascending(data.draw(st.lists(st.one_of(key, st.sampled_from(own or [3])), max_size=20)))
    i, j = data.draw(st.integers(0, len(own))), data.draw(st.integers(0, len(keys)))
    take = data.draw(st.integers(1, 45))
    end, key_end = map(
        int,
        fibre_combine.split(
            u64(own, [LAST]),
            U64(i),
            U64(len(own)),
            u64(keys, [LAST]),
            U64(j),
            U64(len(keys)),
            U64(take),
        ),
    )
    left, right = own[i:end] + keys[j:key_end], own[end:] + keys[key_end:]
    assert i <= end <= len(own)
    assert j <= key_end <= len(keys)
    if left and right:
        assert max(left) < min(right)
    rest = len(own) - i + len(keys) - j
    assert min(take, rest) <= len(left) <= min(take + 1, rest)


@given(st.integers(1, 10), st.integers(1, 10), st.lists(st.integers(0, 2**32 - 1)))
def test_turned_payloads_have_free_moves_for_places(wide, narrow, payload):
    turned = u32(payload)
    fibre_kernels.turn(turned, (U64(wide), U64(narrow)))
    places = [(old >> wide) % (1 << narrow) for old in payload]
    made = [old % (1 << wide) for old in payload]
    assert turned.tolist() == [p | f << narrow for p, f in zip(places, made, strict=True)]


class TestCombine:
    @settings(max_examples=200)
    @given(merges(), st.integers(1, 40))
    def test_one_call_or_many_make_the_next_layer(self, merge, half):
        widths, own, old, keys, came, free, incident = merge
        wide, narrow, _ = widths
        payload = [m | f << wide | e << wide + narrow for m, f, e in old]
        left = u32([*payload, JUNK])
        fibre_kernels.turn(left[:-1], (U64(wide), U64(narrow)))
        arrays = (u64(own, [LAST]), left)
        shift = wide + narrow
        others = (u64(keys, [LAST]), u32([p | e << shift for p, e in came] + [JUNK]))
        full = [p | free[p] << narrow | incident[p] << shift for p in range(1 << narrow)]
        room = 2 * half + 4
        out, out_payload = u64([JUNK] * room), u32([JUNK] * room)
        found: dict[int, int] = {}
        total = 0
        i = j = 0
        while i < len(own) or j < len(keys):
            before = i + j
            i, j, written, states = map(
                int,
                fibre_kernels.combine(
                    *arrays,
                    U64(i),
                    U64(len(own)),
                    *others,
                    U64(j),
                    U64(len(keys)),
                    U64((1 << narrow) - 1),
                    u32(full),
                    U64(half),
                    out,
                    out_payload,
                ),
            )
            rest = len(own) + len(keys) - before
            assert min(2 * half, rest) <= i + j - before <= min(2 * half + 2, rest)
            block = dict(zip(out[:written].tolist(), out_payload[:written].tolist(), strict=True))
            assert len(block) == written
            assert not found.keys() & block.keys()
            found.update(block)
            total += states
        records, expected = merged(*merge)
        assert found == records
        assert list(found) == sorted(found)
        assert total == expected
        assert (i, j) == (len(own), len(keys))

    def test_as_many_places_and_edges_as_there_can_be(self):
        """10 and 6 places, 16 edges: all 32 bits of a payload in use."""
        for wide, narrow in ((10, 6), (6, 10)):
            every = (1 << narrow) - 1
            payload = u32([every << wide, 0])
            fibre_kernels.turn(payload, (U64(wide), U64(narrow)))
            full = np.zeros(1 << narrow, np.uint32)
            full[every] = 2**32 - 1
            out, out_payload = u64([0] * 8), u32([0] * 8)
            i, j, written, states = fibre_kernels.combine(
                u64([5, LAST]),
                payload,
                U64(0),
                U64(1),
                u64([LAST]),
                u32([0]),
                U64(0),
                U64(0),
                U64(every),
                full,
                U64(2),
                out,
                out_payload,
            )
            assert (int(i), int(j), int(written)) == (1, 0, 1)
            assert int(states) == narrow
            assert (int(out[0]), int(out_payload[0])) == (5, 2**32 - 1)

    def test_nothing_at_all(self):
        nothing = (u64([LAST]), u32([0]), U64(0), U64(0))
        got = fibre_kernels.combine(
            *nothing, *nothing, U64(1), u32([0, 0]), U64(1), u64([0] * 6), u32([0] * 6)
        )
        assert [int(number) for number in got] == [0] * 4


def test_a_whole_step_equals_sets_of_arrivals():
    """Tag, append, sort, collect and combine in a row, against dicts."""
    luck = np.random.default_rng(3)
    many = 3000 if helpers_numba.JIT else 60
    pairs = {(int(luck.integers(0, many)), int(luck.integers(0, 5))) for _ in range(many)}
    groups = [sorted(k for k, e in pairs if e == edge) for edge in range(5)]
    children = u64([key for group in groups for key in group])
    fibre_edges.tag(children, u64([len(group) for group in groups]), U64(4), u64(range(16)))
    values = np.empty(len(pairs), np.uint32)
    n = fibre_edges.append(children, U64(len(pairs)), U64(0), values, U64(0))
    assert int(n) == len(pairs)
    values.sort()
    table = [1 << edge % 3 | 1 << edge + 16 for edge in range(16)]
    keys, bits = np.empty(len(pairs), np.uint64), np.empty(len(pairs), np.uint32)
    m = int(fibre_kernels.collect(values, U64(len(pairs)), U64(0), u32(table), keys, bits))
    expected = collected(sorted(k << 4 | e for k, e in pairs), table)
    assert list(expected.items()) == list(zip(keys[:m].tolist(), bits[:m].tolist(), strict=True))
    assert all(a < b for a, b in pairwise(keys[:m].tolist()))


KERNELS = {
    name: kernel
    for module in (fibre_edges, fibre_kernels, fibre_combine, fibre_weights)
    for name, kernel in helpers_numba.kernels_of(module).items()
}


@pytest.mark.skipif(not helpers_numba.JIT, reason="nothing is typed without the JIT")
class TestTyping:
    @pytest.mark.parametrize("name", sorted(KERNELS))
    def test_no_kernel_computes_with_floating_point(self, name):
        fibre_kernels.warm()
        kernel = KERNELS[name]
        if kernel.signatures:  # else it is only called by others, which are searched with it
            assert helpers_numba.floating(kernel) == []

    def test_a_search_compiles_nothing_more_than_warm(self, tmp_path):
        import subprocess
        import sys

        program = f"""
import extbfs
from extbfs.algebra import fibre_edges, fibre_kernels
from tests import helpers_numba
fibre_kernels.warm()
kernels = helpers_numba.kernels_of(fibre_edges) | helpers_numba.kernels_of(fibre_kernels)
before = {{name: len(kernel.signatures) for name, kernel in kernels.items()}}
extbfs.start("tiles:3x3", {str(tmp_path / "run")!r}, threads=1, algebra="fibre")
after = {{name: len(kernel.signatures) for name, kernel in kernels.items()}}
assert before == after, (before, after)
assert before["make_blocks"] == before["select_remote"] == 1
"""
        subprocess.run([sys.executable, "-c", program], check=True)
