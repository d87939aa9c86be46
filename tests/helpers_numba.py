"""What numba made of a kernel: for the test that no kernel computes with floating point.

A division, or max() of an unsigned and a signed integer, becomes float64 without a word, and loses
the low bits of a key.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numba
from numba.core import config, types
from numba.core.dispatcher import Dispatcher

# Whether kernels are compiled at all in this process (NUMBA_DISABLE_JIT is off).
JIT = not vars(config)["DISABLE_JIT"]


def kernels_of(module: ModuleType) -> dict[str, Dispatcher]:
    """The kernels defined in `module`, by name (none with the JIT switched off)."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__
    }


def typed_variables(kernel: Dispatcher, signature: Any) -> dict[str, Any]:
    """The numba type of every variable of the kernel compiled for `signature`.

    Compiled anew, since what comes from numba's cache has lost its types.
    """
    fresh = numba.njit(nogil=True, error_model="numpy")(kernel.py_func)
    fresh.compile(signature)
    compiled: Any = fresh.overloads[fresh.signatures[0]]
    return dict(compiled.type_annotation.typemap)


def floating(kernel: Dispatcher) -> list[str]:
    """Variables with a floating-point type in any signature of the kernel and those it calls.

    The kernel must have been called once with the types used in production (see `warm`). Raises
    AssertionError when it has not.
    """
    assert kernel.signatures, f"{kernel.py_func.__name__} was never called"
    found: list[str] = []
    seen: set[int] = set()
    todo = [kernel]
    while todo:
        current = todo.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        for signature in list(current.signatures):
            for name, kind in typed_variables(current, signature).items():
                if _is_floating(kind):
                    found.append(f"{current.py_func.__name__}: {name} is {kind}")
        todo += [
            value
            for name, value in current.py_func.__globals__.items()
            if isinstance(value, Dispatcher) and name in current.py_func.__code__.co_names
        ]
    return found


def _is_floating(kind: Any) -> bool:
    if isinstance(kind, types.Array):
        kind = kind.dtype
    if isinstance(kind, types.BaseTuple):
        parts: Any = kind
        return any(_is_floating(part) for part in parts)
    return isinstance(kind, (types.Float, types.Complex))
