"""How this package compiles its kernels: one decorator, one cache, a few machine instructions.

The cache lives in a directory named by a hash of this package's sources and of numba's version,
because numba itself does not notice a change in a function imported from another module.
Where no cache can be written the kernels are compiled anew in every process.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core import config as numba_config
from numba.extending import intrinsic

__all__ = ["U64", "bit_plane", "ctz64", "kernel", "mulhi"]

U64 = np.uint64
config: Any = numba_config  # its attributes come and go at run time
ir: Any = vars(cgutils)["ir"]


@cache
def cache_directory() -> str | None:
    """The directory for this package's compiled kernels, or None where none can be written."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return None  # the user has chosen; numba obeys by itself
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parent
    for source in sorted(package.rglob("*.py")):
        digest.update(str(source.relative_to(package)).encode() + b"\0")
        digest.update(source.read_bytes())
    versions = numba.__version__, np.__version__, platform.python_version()
    # numba would hand kernels compiled without bounds checks to a process that asks for them.
    digest.update(f"{versions} {config.BOUNDSCHECK}".encode())
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    directory = Path(base) / "extbfs" / f"puzzles-{digest.hexdigest()[:16]}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return str(directory) if os.access(directory, os.W_OK) else None


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on its first call: no GIL, no division checks, cached where possible."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    previous = config.CACHE_DIR
    try:
        directory = cache_directory()
        if directory is not None:
            config.CACHE_DIR = directory
        return numba.njit(cache=True, **options)(function)
    except (RuntimeError, OSError):  # no directory numba could write to
        return numba.njit(**options)(function)
    finally:
        config.CACHE_DIR = previous


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
