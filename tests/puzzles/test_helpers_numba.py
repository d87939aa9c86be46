"""The search for floating point in kernels finds it, also in a kernel that another one calls."""

from __future__ import annotations

import sys

import numba
import numpy as np
import pytest

from tests import helpers_numba

pytestmark = pytest.mark.skipif(not helpers_numba.JIT, reason="nothing is typed without the JIT")


@numba.njit
def careless(a, b):
    return max(a, b)


@numba.njit
def caller(values, b):
    return np.uint64(careless(values[0], b))


@numba.njit
def careful(values):
    total = np.uint64(0)
    for value in values:
        total += value
    return total


@numba.njit
def holder(pair):
    return pair[0]


def test_the_larger_of_an_unsigned_and_a_signed_integer_is_a_float():
    careless(np.uint64(1), np.int64(1))
    assert any("float64" in line for line in helpers_numba.floating(careless))


def test_it_is_found_in_a_kernel_called():
    caller(np.ones(3, dtype=np.uint64), np.int64(1))
    assert any(line.startswith("careless") for line in helpers_numba.floating(caller))


def test_it_is_found_in_tuples():
    holder((np.uint64(1), 1.5))
    holder((1.5, 1.5))
    assert len(helpers_numba.floating(holder)) >= 2


def test_integers_pass():
    careful(np.ones(3, dtype=np.uint64))
    assert helpers_numba.floating(careful) == []


def test_a_kernel_never_called_proves_nothing():
    @numba.njit
    def idle(a):
        return a

    with pytest.raises(AssertionError, match="never called"):
        helpers_numba.floating(idle)


def test_the_kernels_of_a_module():
    found = helpers_numba.kernels_of(sys.modules[__name__])
    assert set(found) == {"careless", "caller", "careful", "holder"}
