"""Records in arrays: tallies, and sorting by radix."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from extbfs.engine.laws import Tally
from store.kernels import sort
from store.kernels.fingerprint import fingerprint, fingerprint_offset, fingerprint_records
from store.pool import Records

U64 = np.uint64
ZERO = U64(0)
WIDE_DIGIT = 11
NARROW_DIGIT = 8
NARROW_BELOW = 1 << 14
DIGIT_TABLE = 6 << WIDE_DIGIT

Keys = npt.NDArray[np.uint64]


def tally(keys: Keys) -> Tally:
    """The tally of an array of keys."""
    return Tally(int(keys.size), int(fingerprint(keys)))


def tally_records(keys: Keys, payload: npt.NDArray[Any]) -> Tally:
    """The tally of keys with their payload."""
    return Tally(int(keys.size), int(fingerprint_records(keys, payload)))


def tally_of(records: Records, n: int, low: int) -> Tally:
    """The tally of records[:n], residuals to `low`."""
    return Tally(n, int(fingerprint_offset(records[:n], U64(low))))


def sort_records(
    first: Records, second: Records, n: int, width: int, table: Keys, ignored: np.uint64 = ZERO
) -> tuple[Records, Records]:
    """Sort first[:n], all below `width`; (the array that holds the result, the other one).

    table: uint64[DIGIT_TABLE] scratch; ignored: low bits that do not matter to the order.
    """
    bits = max(1, (width - 1).bit_length() - int(ignored))
    widest = NARROW_DIGIT if n < NARROW_BELOW else WIDE_DIGIT
    digit = -(-bits // -(-bits // widest))
    swapped = sort.radix_sort(first, second, U64(n), ignored, U64(bits), U64(digit), table)
    return (second, first) if int(swapped) else (first, second)
