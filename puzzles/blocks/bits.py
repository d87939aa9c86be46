"""Bits of a word gathered, spread and counted, and kernels that melt into those that call them.

Gathering and spreading are single instructions (pext, pdep) where the processor has fast ones, and
loops over the mask's bits elsewhere. The same results either way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba import types
from numba.core import cgutils
from numba.core import config as numba_config
from numba.core.registry import cpu_target
from numba.extending import intrinsic

import puzzles
from puzzles.jit import U64, ctz64

__all__ = ["deposit", "extract", "inlined", "popcount"]

config: Any = numba_config
ir: Any = vars(cgutils)["ir"]
SLOW_PEXT = ("znver1", "znver2")
"""Processors whose pext and pdep are microcode, slower than a loop."""

_0, _1 = U64(0), U64(1)


def inlined(function: Callable[..., Any]) -> Any:
    """As `puzzles.jit.kernel`, but inlined wherever it is called.

    A call passes seven words an array, which costs more than most of these functions do.
    """
    made = numba.njit(nogil=True, error_model="numpy", forceinline=True)(function)
    if puzzles.keep is not None:
        puzzles.keep(made)
    return made


def _has_fast_pext() -> bool:
    codegen: Any = cpu_target.target_context.codegen()
    _, name, features = codegen.magic_tuple()
    return "+bmi2" in features.split(",") and name not in SLOW_PEXT


@inlined
def extract_loop(value: U64, mask: U64) -> U64:
    """The bits of `value` at the bits of `mask`, side by side from bit 0 on."""
    found = _0
    place = _0
    while mask:
        found |= ((value >> ctz64(mask)) & _1) << place
        place += _1
        mask &= mask - _1
    return found


@inlined
def deposit_loop(value: U64, mask: U64) -> U64:
    """The lowest bits of `value` at the bits of `mask`, in their order."""
    found = _0
    while mask:
        found |= (value & _1) << ctz64(mask)
        value >>= _1
        mask &= mask - _1
    return found


def _call(builder: Any, name: str, arguments: list[Any]) -> Any:
    word = ir.IntType(64)
    kind = ir.FunctionType(word, [word] * len(arguments))
    declare: Any = cgutils.get_or_insert_function
    return builder.call(declare(builder.module, kind, name), arguments)


@intrinsic
def _extract_at_once(typing_context: Any, value: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, "llvm.x86.bmi.pext.64", list(args))

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def _deposit_at_once(typing_context: Any, value: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, "llvm.x86.bmi.pdep.64", list(args))

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def _popcount_compiled(typing_context: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


def _popcount(value: Any) -> Any:
    return U64(int(value).bit_count())


_interpreted = bool(config.DISABLE_JIT)
_fast = not _interpreted and _has_fast_pext()

# extract(value, mask): see extract_loop. deposit(value, mask): see deposit_loop.
extract: Any = _extract_at_once if _fast else extract_loop
deposit: Any = _deposit_at_once if _fast else deposit_loop
# How many bits of a uint64 are set.
popcount: Any = _popcount if _interpreted else _popcount_compiled


@inlined
def turned(value: U64, shift: U64) -> U64:
    """`value` rotated right by 1 <= shift <= 63 bits: bit i of it is bit i + shift of `value`."""
    return (value >> shift) | (value << (U64(64) - shift))
