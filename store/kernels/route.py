"""Routing: append records to the bucket of their key, in blocks chained inside one pool.

A pool is one flat array cut into blocks of ``1 << log_block`` records. Every bucket owns a chain of
blocks; ``cursor[b]`` is the position its next record goes to (``NONE`` while it has no block). The
bucket under the hand keeps its cursor and bounds in registers, since sorted parents send long
streaks of children to one bucket.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels.jit import kernel

U64 = np.uint64
ZERO = U64(0)
ONE = U64(1)
NONE = U64(0xFFFFFFFFFFFFFFFF)
NO_BLOCK = np.uint32(0xFFFFFFFF)


@kernel
def find_bucket(key: Any, lows: Any, lut: Any, shift: Any) -> Any:
    """Index of the bucket whose half-open range [lows[b], lows[b + 1]) holds `key`.

    lows: uint64[buckets + 1] ascending, lows[0] == 0; lut: uint32[cells + 1], lut[c] the bucket of
    key c << shift and lut[cells] the last bucket.
    """
    cell = key >> shift
    low = U64(lut[cell])
    high = U64(lut[cell + ONE])
    while low < high:
        middle = (low + high + ONE) >> ONE
        if lows[middle] <= key:
            low = middle
        else:
            high = middle - ONE
    return low


@kernel
def route_keys(
    keys: Any,
    n: Any,
    lows: Any,
    lut: Any,
    shift: Any,
    data: Any,
    chain: Any,
    head: Any,
    cursor: Any,
    used: Any,
    log_block: Any,
) -> Any:
    """Append keys[:n] to their buckets as residuals key - lows[bucket]; the blocks now in use.

    keys: uint64[>= n], all below lows[-1]; data: uint32 or uint64[blocks << log_block]; chain:
    uint32[blocks]; head: uint32[buckets]; cursor: uint64[buckets]. The caller guarantees room for
    every bucket to open one block more than its records fill.
    """
    if n == ZERO:
        return used
    mask = (ONE << log_block) - ONE
    bucket = find_bucket(keys[ZERO], lows, lut, shift)
    low = lows[bucket]
    width = lows[bucket + ONE] - low
    at = cursor[bucket]
    for i in range(n):
        key = keys[U64(i)]
        if key - low >= width:
            cursor[bucket] = at
            bucket = find_bucket(key, lows, lut, shift)
            low = lows[bucket]
            width = lows[bucket + ONE] - low
            at = cursor[bucket]
        if at == NONE:
            head[bucket] = used
            chain[used] = NO_BLOCK
            at = used << log_block
            used += ONE
        data[at] = key - low
        at += ONE
        if at & mask == ZERO:
            chain[(at - ONE) >> log_block] = used
            chain[used] = NO_BLOCK
            at = used << log_block
            used += ONE
    cursor[bucket] = at
    return used


@kernel
def count_bucket(bucket: Any, chain: Any, head: Any, cursor: Any, log_block: Any) -> Any:
    """Number of records the pool holds for `bucket`."""
    at = cursor[bucket]
    if at == NONE:
        return ZERO
    last = at >> log_block
    block = U64(head[bucket])
    full = ZERO
    while block != last:
        full += ONE
        block = U64(chain[block])
    return (full << log_block) + (at - (last << log_block))


@kernel
def count_buckets(chain: Any, head: Any, cursor: Any, log_block: Any, counts: Any) -> Any:
    """counts[b] = records of bucket b, for every bucket; returns their sum."""
    total = ZERO
    for bucket in range(U64(cursor.size)):
        n = count_bucket(U64(bucket), chain, head, cursor, log_block)
        counts[U64(bucket)] = n
        total += n
    return total


@kernel
def gather_bucket(
    bucket: Any, data: Any, chain: Any, head: Any, cursor: Any, log_block: Any, out: Any, start: Any
) -> Any:
    """Copy the records of `bucket` to out[start:]; the position after the last one.

    out: same dtype as data, with room for count_bucket(...) records from `start`.
    """
    at = cursor[bucket]
    if at == NONE:
        return start
    size = ONE << log_block
    last = at >> log_block
    block = U64(head[bucket])
    while block != last:
        base = block << log_block
        for i in range(size):
            out[start + U64(i)] = data[base + U64(i)]
        start += size
        block = U64(chain[block])
    base = last << log_block
    for i in range(at - base):
        out[start + U64(i)] = data[base + U64(i)]
    return start + (at - base)


@kernel
def gather_part(
    at: Any, end: Any, data: Any, chain: Any, log_block: Any, out: Any, start: Any, room: Any
) -> Any:
    """Copy up to `room` records of a chain to out[start:]; (where the rest begins, number copied).

    at: where in data to begin: the first record of a bucket's first block, or what the call before
    returned. end: the bucket's cursor; the chain is used up when the first result is `end`.
    """
    last = end >> log_block
    copied = ZERO
    while at != end and copied < room:
        block = at >> log_block
        stop = end
        if block != last:
            stop = (block + ONE) << log_block
        n = min(stop - at, room - copied)
        for i in range(n):
            out[start + copied + U64(i)] = data[at + U64(i)]
        copied += n
        at += n
        if at == stop and block != last:
            at = U64(chain[block]) << log_block
    return at, copied
