"""How this package compiles its kernels: one decorator, a few machine instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core import config as numba_config
from numba.extending import intrinsic

import puzzles

__all__ = ["U64", "bit_plane", "ctz64", "kernel", "mulhi"]

U64 = np.uint64
config: Any = numba_config  # its attributes come and go at run time
ir: Any = vars(cgutils)["ir"]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on its first call: no GIL, no division checks, kept where possible."""
    made = numba.njit(nogil=True, error_model="numpy")(function)
    if puzzles.keep is not None:
        puzzles.keep(made)
    return made


def _mulhi(a: Any, b: Any) -> Any:
    return np.uint64((int(a) * int(b)) >> 64)


@intrinsic
def _mulhi_compiled(typing_context: Any, a: Any, b: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        high = builder.lshr(product, ir.Constant(wide, 64))
        return builder.trunc(high, ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), codegen


def _ctz64(value: Any) -> Any:
    return U64((int(value) & -int(value)).bit_length() - 1 if value else 64)


@intrinsic
def _ctz64_compiled(typing_context: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), codegen


def _bit_plane(words: Any, start: Any, bit: Any) -> Any:
    chosen = words[int(start) : int(start) + 64] & np.uint32(1 << int(bit))
    return U64(sum(1 << i for i in np.flatnonzero(chosen).tolist()))


@intrinsic
def _bit_plane_compiled(typing_context: Any, words: Any, start: Any, bit: Any) -> Any:
    # One comparison of 64 numbers: LLVM cuts it into what the machine's vectors can do.
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number, lanes = ir.IntType(32), ir.VectorType(ir.IntType(32), 64)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(data, [args[1]]), lanes.as_pointer())
        vector = builder.load(pointer)
        vector.align = 4
        mask = builder.shl(ir.Constant(number, 1), builder.trunc(args[2], number))
        one = builder.insert_element(ir.Constant(lanes, ir.Undefined), mask, ir.Constant(number, 0))
        zeros = ir.Constant(ir.VectorType(number, 64), [ir.Constant(number, 0)] * 64)
        masks = builder.shuffle_vector(one, ir.Constant(lanes, ir.Undefined), zeros)
        found = builder.icmp_unsigned("!=", builder.and_(vector, masks), zeros)
        return builder.bitcast(found, ir.IntType(64))

    return types.uint64(words, types.uint64, types.uint64), codegen


_interpreted = bool(config.DISABLE_JIT)

# The upper 64 bits of the 128-bit product of two uint64.
mulhi: Any = _mulhi if _interpreted else _mulhi_compiled
# The number of zero bits below the lowest one bit of a uint64; 64 for 0.
ctz64: Any = _ctz64 if _interpreted else _ctz64_compiled
# bit_plane(words uint32[n], start, bit): a uint64 whose bit i is bit `bit` of words[start + i], for
# 0 <= i < 64. Needs start + 64 <= n and bit < 32; no bounds check.
bit_plane: Any = _bit_plane if _interpreted else _bit_plane_compiled
