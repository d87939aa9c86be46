"""How this package compiles its kernels: one decorator, a few machine instructions.

The instructions work on uint64. Under NUMBA_DISABLE_JIT they are plain Python functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

import store.kernels

__all__ = ["U64", "clz64", "ctz64", "full_bytes", "kernel", "load64", "popcount64", "store64"]

U64 = np.uint64
config: Any = numba.config
ir: Any = vars(cgutils)["ir"]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on its first call: no GIL, no division checks, kept where possible."""
    made = numba.njit(nogil=True, error_model="numpy")(function)
    if store.kernels.keep is not None:
        store.kernels.keep(made)
    return made


_WORD = ir.IntType(64)
_BIT = ir.Constant(ir.IntType(1), 0)


@intrinsic
def _popcount64(typing_context: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def _ctz64(typing_context: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], _BIT)

    return types.uint64(types.uint64), codegen


@intrinsic
def _clz64(typing_context: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], _BIT)

    return types.uint64(types.uint64), codegen


def _word_pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _WORD.as_pointer())


@intrinsic
def _load64(typing_context: Any, array: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _word_pointer(context, builder, signature.args[0], *args)
        word = builder.load(pointer)
        word.align = 1
        return word

    return types.uint64(array, types.uint64), codegen


@intrinsic
def _store64(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _word_pointer(context, builder, signature.args[0], *args[:2])
        builder.store(args[2], pointer).align = 1
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.uint64), codegen


@intrinsic
def _full_bytes(typing_context: Any, array: Any, index: Any) -> Any:
    # One comparison of 64 bytes: LLVM cuts it into what the machine's vectors can do.
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = ir.VectorType(ir.IntType(8), 64)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        vector = builder.load(builder.bitcast(builder.gep(data, [args[1]]), lanes.as_pointer()))
        vector.align = 1
        full = ir.Constant(lanes, [ir.Constant(ir.IntType(8), 255)] * 64)
        return builder.bitcast(builder.icmp_unsigned("==", vector, full), _WORD)

    return types.uint64(array, types.uint64), codegen


def _plain_full_bytes(array: Any, index: Any) -> Any:
    few = array[int(index) : int(index) + 64]
    return U64(sum(1 << i for i in np.flatnonzero(few == 255).tolist()))


def _plain_popcount64(value: Any) -> Any:
    return U64(int(value).bit_count())


def _plain_ctz64(value: Any) -> Any:
    return U64((int(value) & -int(value)).bit_length() - 1 if value else 64)


def _plain_clz64(value: Any) -> Any:
    return U64(64 - int(value).bit_length())


def _plain_load64(array: Any, index: Any) -> Any:
    return array[int(index) : int(index) + 8].view(np.uint64)[0]


def _plain_store64(array: Any, index: Any, value: Any) -> None:
    array[int(index) : int(index) + 8].view(np.uint64)[0] = value


_compiled = not config.DISABLE_JIT

# The number of one bits of a uint64.
popcount64: Any = _popcount64 if _compiled else _plain_popcount64
# The number of zero bits below the lowest one bit; 64 for 0.
ctz64: Any = _ctz64 if _compiled else _plain_ctz64
# The number of zero bits above the highest one bit; 64 for 0.
clz64: Any = _clz64 if _compiled else _plain_clz64
# full_bytes(bytes uint8[n], i uint64): bit k is set when bytes[i + k] is 255, 0 <= k < 64. Any i,
# no bounds check.
full_bytes: Any = _full_bytes if _compiled else _plain_full_bytes
# load64(bytes uint8[n], i uint64): the eight bytes from i on as a uint64. Any i, no bounds check.
load64: Any = _load64 if _compiled else _plain_load64
# store64(bytes uint8[n], i uint64, value uint64): writes eight bytes at i. No bounds check.
store64: Any = _store64 if _compiled else _plain_store64
