"""Two ascending lists, the records of a layer and what arrived at keys, become the next layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels.jit import kernel, popcount64

U64 = np.uint64
ZERO = U64(0)
ONE = U64(1)
SIXTEEN = U64(16)
SIGN = U64(63)


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
def turn(payload: Any, widths: Any) -> None:
    """Turn payloads, in place, to what they leave for the next layer: free moves become places, and
    places free moves that are made, both where a payload of that layer has them. The edges go.

    widths: (places of the old side, of the new side) in bits.
    """
    wide, narrow = widths
    here, there = (ONE << wide) - ONE, (ONE << narrow) - ONE
    for i in range(U64(payload.size)):
        old = U64(payload[i])
        payload[i] = ((old >> wide) & there) | ((old & here) << narrow)


@kernel
def next_record(masks: Any, there: Any, full: Any) -> Any:
    """(places, payload) of a key of which so much is left and arrives: turned payload | arrivals.

    there: mask of the places; full[places]: the payload of places from which no move is made yet.
    """
    places = masks & there
    return places, U64(full[places]) & ~(masks ^ places)


@kernel
def meet(own: Any, turned: Any, i: Any, keys: Any, bits: Any, j: Any) -> Any:
    """One step of a merge: (the lesser of own[i] and keys[j], its masks, how far i goes, and j).

    Which key is less is told by the sign of a difference, not by comparing: of a comparison the
    compiler makes a branch, and that is guessed wrong at every other step.
    """
    a = own[i]
    b = keys[j]
    mine = (a - b - ONE) >> SIGN
    came = (b - a - ONE) >> SIGN
    masks = (U64(turned[i]) & (ZERO - mine)) | (U64(bits[j]) & (ZERO - came))
    return min(a, b), masks, mine, came


@kernel
def combine_lane(
    own: Any,
    turned: Any,
    i: Any,
    end: Any,
    keys: Any,
    bits: Any,
    j: Any,
    key_end: Any,
    there: Any,
    full: Any,
    out: Any,
    out_payload: Any,
    at: Any,
) -> Any:
    """Merge own[i:end] with keys[j:key_end] to out[at:], as combine does, alone.

    Returns (position after the last record, states).
    """
    states = ZERO
    while i < end or j < key_end:
        key, masks, mine, came = meet(own, turned, i, keys, bits, j)
        i += mine
        j += came
        places, record = next_record(masks, there, full)
        out[at] = key
        out_payload[at] = record
        at += U64(places != ZERO)
        states += popcount64(places)
    return at, states


@kernel
def combine(
    own: Any,
    turned: Any,
    i: Any,
    n: Any,
    keys: Any,
    bits: Any,
    j: Any,
    m: Any,
    there: Any,
    full: Any,
    half: Any,
    out: Any,
    out_payload: Any,
) -> Any:
    """Merge the records own[i:n] of a layer with what arrived at keys[j:m] into the next layer.

    Both ascend, below 2**62, and own[n] and keys[m] are LAST. turned: their payload after turn();
    there, full: as next_record takes them. Takes about 2 * `half` records and arrivals in, in two
    lanes side by side, since each step waits for the one before; out, out_payload: room for
    2 * half + 4. Returns (i, j, records written, their states).

    For as many steps as the longer rest of a lane has, none of its ends can be passed.
    """
    end, key_end = split(own, i, n, keys, j, m, half)
    stop, key_stop = split(own, end, n, keys, key_end, m, half)
    k, q = end, key_end
    gap = (end - i) + (key_end - j)
    at, to = ZERO, gap
    states = ZERO
    steps = ONE
    while steps != ZERO:
        steps = min(max(end - i, key_end - j), max(stop - k, key_stop - q))
        for _ in range(steps):
            key, masks, mine, came = meet(own, turned, i, keys, bits, j)
            i += mine
            j += came
            places, record = next_record(masks, there, full)
            out[at] = key
            out_payload[at] = record
            at += U64(places != ZERO)
            key, masks, mine, came = meet(own, turned, k, keys, bits, q)
            k += mine
            q += came
            others, record = next_record(masks, there, full)
            out[to] = key
            out_payload[to] = record
            to += U64(others != ZERO)
            states += popcount64(places | (others << SIXTEEN))
    at, more = combine_lane(
        own, turned, i, end, keys, bits, j, key_end, there, full, out, out_payload, at
    )
    to, rest = combine_lane(
        own, turned, k, stop, keys, bits, q, key_stop, there, full, out, out_payload, to
    )
    for x in range(to - gap):
        out[at + U64(x)] = out[gap + U64(x)]
        out_payload[at + U64(x)] = out_payload[gap + U64(x)]
    return stop, key_stop, at + (to - gap), states + more + rest
