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
    bits, digit = digits_of(n, width, ignored)
    swapped = sort.radix_sort(first, second, U64(n), ignored, bits, digit, table)
    return (second, first) if int(swapped) else (first, second)


def digits_of(n: int, width: int, ignored: np.uint64 = ZERO) -> tuple[np.uint64, np.uint64]:
    """(bits, bits a pass) by which radix_sort sorts n records below `width`, as sort_records does.

    Passes of equal digits, and narrow ones where a wide table would cost more than it saves.
    """
    bits = max(1, (width - 1).bit_length() - int(ignored))
    widest = NARROW_DIGIT if n < NARROW_BELOW else WIDE_DIGIT
    return U64(bits), U64(-(-bits // -(-bits // widest)))
