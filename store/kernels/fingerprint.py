"""Order-independent fingerprints: the sum of a 64-bit mix of every key, modulo 2**64.

The mix is the finaliser of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
generators, OOPSLA 2014). The fingerprint of a disjoint union is the sum of the fingerprints.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from store.kernels.jit import kernel

U64 = np.uint64
ZERO = U64(0)
ONE = U64(1)
GOLDEN = U64(0x9E3779B97F4A7C15)
FIRST = U64(0xBF58476D1CE4E5B9)
SECOND = U64(0x94D049BB133111EB)
S30 = U64(30)
S27 = U64(27)
S31 = U64(31)


@kernel
def mix64(key: Any) -> Any:
    """The 64-bit mix of one uint64 key; a bijection."""
    z = key + GOLDEN
    z = (z ^ (z >> S30)) * FIRST
    z = (z ^ (z >> S27)) * SECOND
    return z ^ (z >> S31)


@kernel
def fingerprint(keys: Any) -> Any:
    """The sum of mix64 over keys uint64[n], as uint64; 0 for no keys."""
    total = ZERO
    for i in range(U64(keys.size)):
        total += mix64(keys[i])
    return total


@kernel
def survey_keys(keys: Any) -> Any:
    """(fingerprint, the greatest) of keys uint64[n] in any order; 0 and 0 for no keys."""
    total = most = ZERO
    for i in range(U64(keys.size)):
        key = keys[i]
        total += mix64(key)
        most = max(most, key)
    return total, most


@kernel
def fingerprint_offset(residuals: Any, base: Any) -> Any:
    """The fingerprint of the keys base + residuals; residuals: uint32 or uint64[n]."""
    total = ZERO
    for i in range(U64(residuals.size)):
        total += mix64(base + U64(residuals[i]))
    return total


@kernel
def fingerprint_ascending(keys: Any) -> Any:
    """(fingerprint, whether strictly ascending) of keys uint64[n], in one pass."""
    n = U64(keys.size)
    if n == ZERO:
        return ZERO, True
    total = mix64(keys[ZERO])
    bad = ZERO
    for i in range(ONE, n):
        key = keys[i]
        bad |= U64(key <= keys[i - ONE])
        total += mix64(key)
    return total, bad == ZERO


@kernel
def mix_record(key: Any, payload: Any) -> Any:
    """The 64-bit mix of a uint64 key and a payload of at most 32 bits; mix64(key) for payload 0."""
    return mix64(key ^ (U64(payload) * GOLDEN))


@kernel
def fingerprint_records(keys: Any, payload: Any) -> Any:
    """The sum of mix_record over keys uint64[n] and payload uint8, uint16 or uint32[n]."""
    total = ZERO
    for i in range(U64(keys.size)):
        total += mix_record(keys[i], payload[i])
    return total


@kernel
def survey_records(keys: Any, payload: Any) -> Any:
    """(fingerprint, fingerprint_records, whether keys ascend strictly), in one pass."""
    n = U64(keys.size)
    if n == ZERO:
        return ZERO, ZERO, True
    total = mix64(keys[ZERO])
    both = mix_record(keys[ZERO], payload[ZERO])
    bad = ZERO
    for i in range(ONE, n):
        key = keys[i]
        bad |= U64(key <= keys[i - ONE])
        total += mix64(key)
        both += mix_record(key, payload[i])
    return total, both, bad == ZERO


def warm(payload_bits: int | None = None) -> None:
    """Compile or load every kernel of this module, for one payload width (0: none) or for all."""
    keys = np.arange(3, dtype=np.uint64)
    for width in (8, 16, 32):
        if payload_bits not in (None, width):
            continue
        payload = np.arange(3, dtype=f"u{width // 8}")
        fingerprint_records(keys, payload)
        survey_records(keys, payload)
    fingerprint(keys)
    survey_keys(keys)
    fingerprint_offset(keys, U64(1))
    fingerprint_offset(keys.astype(np.uint32), U64(1))
    fingerprint_ascending(keys)
