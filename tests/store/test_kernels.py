"""What holds for every kernel of the store: no floating point, and warm() leaves none cold."""

from __future__ import annotations

import subprocess
import sys

import pytest

from store.kernels import (
    bitmap,
    bits,
    codec,
    column,
    fingerprint,
    merge,
    octaves,
    route,
    sort,
    warm,
)
from tests import helpers_numba

MODULES = (bitmap, bits, codec, column, fingerprint, merge, octaves, route, sort)
NAMES = [(module, name) for module in MODULES for name in sorted(helpers_numba.kernels_of(module))]

pytestmark = pytest.mark.skipif(not helpers_numba.JIT, reason="nothing is typed without the JIT")


@pytest.fixture(scope="module", autouse=True)
def warmed() -> None:
    warm.warm()


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_no_kernel_computes_with_floating_point(module: object, name: str) -> None:
    kernel = getattr(module, name)
    if kernel.signatures:  # else it is only called by others, which are searched with it
        assert helpers_numba.floating(kernel) == []


def test_building_and_reading_a_run_compiles_nothing_more() -> None:
    program = """
import numpy as np
import extbfs  # so that the kernels come from its cache
from store.kernels import codec, column, fingerprint, warm
from store.run import RunBuilder
from tests.store.run_bytes import build, layer_of
from store.layer import Scratch, verify_run
kernels = (
    *(codec.encode, codec.encode_swift, codec.decode, codec.encode_varint),
    fingerprint.fingerprint_ascending,
    *(column.encode_column, column.decode_column),
    *(fingerprint.survey_records, fingerprint.fingerprint_records),
)
warm.warm()
before = [len(kernel.signatures) for kernel in kernels]
for profile in ("fast", "swift", "compact"):
    layer = layer_of(build(range(0, 90000, 3), block_keys=1000, profile=profile))
    verify_run(layer, 0, Scratch())
keys = np.arange(5000, dtype=np.uint64)
for bits in (8, 16, 32):
    builder = RunBuilder(block_keys=1000, payload_bits=bits)
    builder.append(keys[:2500], (keys[:2500] % 9).astype(np.uint32))
    builder.append(keys[2500:], (keys[2500:] % 9).astype(f"u{bits // 8}"))
    meta, view = builder.finish()
    verify_run(layer_of((meta, bytes(view))), 0, Scratch())
assert before == [len(kernel.signatures) for kernel in kernels] == [1, 1, 1, 1, 1, 2, 2, 3, 3]
"""
    subprocess.run([sys.executable, "-c", program], check=True)
