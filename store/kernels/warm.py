"""Compile, or load from the cache, every kernel of the store, for the dtypes that are used."""

from __future__ import annotations

import numpy as np

from store.kernels import bitmap, codec, column, fingerprint, merge, records, route, sort

U64 = np.uint64
ONE = U64(1)


def warm() -> None:
    """Call every kernel once on tiny arrays."""
    warm_reading(None)
    warm_routing()
    warm_sets()


def warm_reading(payload_bits: int | None) -> None:
    """What reads and writes runs with that width of payload, 0 for none; None: of any width."""
    codec.warm()
    fingerprint.warm(payload_bits)
    if payload_bits is None or payload_bits > 8:
        column.warm(payload_bits)
        records.warm(payload_bits)


def warm_routing() -> None:
    """What brings the children of a layer together again by bucket."""
    lows = np.array([0, 4], np.uint64)
    keys = np.arange(4, dtype=np.uint64)
    lut = np.zeros(2, np.uint32)
    digits = np.empty(8 << 8, np.uint64)
    for dtype in (np.uint32, np.uint64):
        data = np.zeros(64, dtype)
        other = np.zeros(64, dtype)
        chain = np.zeros(4, np.uint32)
        head = np.zeros(1, np.uint32)
        cursor = np.full(1, route.NONE, np.uint64)
        counts = np.zeros(1, np.uint64)
        log = U64(2)
        route.route_keys(keys, ONE, lows, lut, U64(0), data, chain, head, cursor, U64(0), log)
        route.count_buckets(chain, head, cursor, log, counts)
        route.gather_bucket(U64(0), data, chain, head, cursor, log, other, U64(0))
        route.gather_part(U64(0), ONE, data, chain, log, other, U64(0), ONE)
        sort.radix_sort(data, other, U64(64), U64(0), U64(16), U64(8), digits)


def warm_sets() -> None:
    """What subtracts, marks and unites sets of plain keys."""
    keys = np.arange(4, dtype=np.uint64)
    wide = np.empty(16, np.uint64)
    merge.unite(keys, U64(4), keys, U64(4), wide, wide.copy())
    for dtype in (np.uint32, np.uint64):
        data = np.zeros(64, dtype)
        other = np.zeros(64, dtype)
        sort.split_duplicates(data, U64(4), other)
        merge.subtract(data, U64(0), U64(0), U64(0), keys, U64(0), U64(0), other)
        merge.move_down(data, U64(0), U64(1), U64(0))
        merge.widen(data, ONE, U64(0), wide)
        bits = np.zeros(1, np.uint64)
        bitmap.mark(bits, data, ONE, other)
        bitmap.clear_hits(bits, keys, ONE, U64(0), other)
    bitmap.sweep(np.zeros(1, np.uint64), U64(0), ONE, U64(0), wide, U64(1))
