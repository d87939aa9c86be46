"""Two ascending lists, the records of a layer and what arrived at keys, become the next layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels.jit import kernel, popcount64

U64 = np.uint64
ZERO = U64(0)
ONE = U64(1)
SIXTEEN = U64(16)


@kernel
def split(own: Any, i: Any, n: Any, keys: Any, j: Any, m: Any, take: Any) -> Any:
    """Where the first `take` of own[i:n] and keys[j:m] together end, by key: (end in own, in keys).

    A key that stands in both lists is not torn apart. Merge path: Odeh, Green, Mwassi, Shmueli and
    Birk (2012).
    """
    take = min(take, (n - i) + (m - j))
    low = take - min(take, m - j)
    high = min(take, n - i)
    while low < high:
        middle = (low + high) >> ONE
        if own[i + middle] < keys[j + take - middle - ONE]:
            low = middle + ONE
        else:
            high = middle
    end = i + low
    key_end = j + take - low
    if end < n and key_end > j and own[end] == keys[key_end - ONE]:
        end += ONE
    elif key_end < m and end > i and keys[key_end] == own[end - ONE]:
        key_end += ONE
    return end, key_end


@kernel
def next_record(old: Any, came: Any, widths: Any, masks: Any, full: Any) -> Any:
    """(places, payload) of a key with the payload `old` and the arrivals `came`.

    widths: (places of the old side, of the new side) in bits; masks: the same as masks of ones;
    full[places]: the payload of places from which no move is made yet.
    """
    wide, narrow = widths
    here, there = masks
    places = ((old >> wide) | came) & there
    made = ((old & here) << narrow) | (came & ~there)
    return places, U64(full[places]) & ~made


@kernel
def combine_lane(
    own: Any,
    payload: Any,
    i: Any,
    end: Any,
    keys: Any,
    bits: Any,
    j: Any,
    key_end: Any,
    widths: Any,
    full: Any,
    out: Any,
    out_payload: Any,
    at: Any,
) -> Any:
    """Merge own[i:end] with keys[j:key_end] to out[at:], as combine does, alone.

    Returns (position after the last record, states).
    """
    wide, narrow = widths
    masks = (ONE << wide) - ONE, (ONE << narrow) - ONE
    states = ZERO
    while i < end or j < key_end:
        a = own[i]
        b = keys[j]
        old = U64(payload[i]) & (ZERO - U64(a <= b))
        came = U64(bits[j]) & (ZERO - U64(b <= a))
        i += U64(a <= b)
        j += U64(b <= a)
        places, record = next_record(old, came, widths, masks, full)
        out[at] = min(a, b)
        out_payload[at] = record
        at += U64(places != ZERO)
        states += popcount64(places)
    return at, states


@kernel
def combine(
    own: Any,
    payload: Any,
    i: Any,
    n: Any,
    keys: Any,
    bits: Any,
    j: Any,
    m: Any,
    widths: Any,
    full: Any,
    half: Any,
    out: Any,
    out_payload: Any,
) -> Any:
    """Merge the records own[i:n] of a layer with what arrived at keys[j:m] into the next layer.

    Both ascend, and own[n] and keys[m] are LAST. widths, full: as next_record takes them. Takes
    about 2 * `half` records and arrivals in, in two lanes side by side, since each step waits for
    the one before; out, out_payload: room for 2 * half + 4. Returns (i, j, records written, their
    states).
    """
    wide, narrow = widths
    masks = (ONE << wide) - ONE, (ONE << narrow) - ONE
    end, key_end = split(own, i, n, keys, j, m, half)
    stop, key_stop = split(own, end, n, keys, key_end, m, half)
    k, q = end, key_end
    gap = (end - i) + (key_end - j)
    at, to = ZERO, gap
    states = ZERO
    while (i < end or j < key_end) and (k < stop or q < key_stop):
        a = own[i]
        b = keys[j]
        old = U64(payload[i]) & (ZERO - U64(a <= b))
        came = U64(bits[j]) & (ZERO - U64(b <= a))
        i += U64(a <= b)
        j += U64(b <= a)
        c = own[k]
        d = keys[q]
        old_2 = U64(payload[k]) & (ZERO - U64(c <= d))
        came_2 = U64(bits[q]) & (ZERO - U64(d <= c))
        k += U64(c <= d)
        q += U64(d <= c)
        places, record = next_record(old, came, widths, masks, full)
        out[at] = min(a, b)
        out_payload[at] = record
        at += U64(places != ZERO)
        places_2, record = next_record(old_2, came_2, widths, masks, full)
        out[to] = min(c, d)
        out_payload[to] = record
        to += U64(places_2 != ZERO)
        states += popcount64(places | (places_2 << SIXTEEN))
    at, more = combine_lane(
        own, payload, i, end, keys, bits, j, key_end, widths, full, out, out_payload, at
    )
    to, rest = combine_lane(
        own, payload, k, stop, keys, bits, q, key_stop, widths, full, out, out_payload, to
    )
    for x in range(to - gap):
        out[at + U64(x)] = out[gap + U64(x)]
        out_payload[at + U64(x)] = out_payload[gap + U64(x)]
    return stop, key_stop, at + (to - gap), states + more + rest
