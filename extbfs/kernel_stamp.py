"""What the machine code of a kernel depends on: its module and all that this imports, by content.

numba compiles called kernels and the values of globals into the code, wherever they come from. So
the stamp follows the import statements at the top of modules, through every module but those of
the standard library and of the libraries whose versions are part of the stamp.
"""

from __future__ import annotations

import ast
import hashlib
import platform
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np

config: Any = numba.config
BY_VERSION = ("numba", "numpy", "llvmlite")


@cache
def stamp(module: str) -> str:
    """A hash for the kernels of a module that is being imported, wherever its sources lie.

    Raises OSError, SyntaxError or LookupError when the module has no source to be found.
    """
    digest = hashlib.sha256()
    for name in sorted(closure(module)):
        digest.update(f"{name} {hashlib.sha256(_source(sys.modules[name])).hexdigest()} ".encode())
    versions = numba.__version__, np.__version__, platform.python_version()
    digest.update(f"{versions} {config.BOUNDSCHECK} {config.OPT}".encode())
    return digest.hexdigest()


def closure(module: str) -> set[str]:
    """The names of the module and of all that it imports, directly or not."""
    found: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo.extend(_imports(name))
    return found


@cache
def _imports(name: str) -> tuple[str, ...]:
    return tuple(_named(sys.modules[name]))


def _named(module: ModuleType) -> Iterator[str]:
    """The loaded modules that the top-level import statements of a module name."""
    for node in ast.parse(_source(module)).body:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), module.__package__)
            names = [origin, *(f"{origin}.{alias.name}" for alias in node.names)]
        for name in names:
            top = name.partition(".")[0]
            if top not in BY_VERSION and top not in sys.stdlib_module_names and name in sys.modules:
                yield name


def _source(module: ModuleType) -> bytes:
    if module.__file__ is None or not module.__file__.endswith(".py"):
        raise LookupError(f"{module.__name__} has no source")
    return Path(module.__file__).read_bytes()
