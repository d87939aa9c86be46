"""What the machine code of a kernel depends on: its module and all that this imports, by content.

numba compiles called kernels and the values of globals into the code, wherever they come from. So
the stamp follows the import statements at the top of modules, through this project's, the kernel's
own package and what is not installed; other libraries have no part in kernels, but for numba and
numpy, whose versions are part of the stamp.
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
OURS = ("extbfs", "store", "puzzles")
INSTALLED = ("site-packages", "dist-packages")


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
            todo.extend(_imports(name, module.partition(".")[0]))
    return found


@cache
def _imports(name: str, own: str) -> tuple[str, ...]:
    """The modules to follow that a module imports. own: the package of the kernel."""
    return tuple(
        found
        for found in _named(sys.modules[name])
        if found.partition(".")[0] in (own, *OURS) or not _foreign(sys.modules[found])
    )


def _foreign(module: ModuleType) -> bool:
    """Whether a module belongs to Python, is installed, or has no source."""
    file = getattr(module, "__file__", None)
    top = module.__name__.partition(".")[0]
    if file is None or not file.endswith(".py") or top in sys.stdlib_module_names:
        return True
    return any(part in INSTALLED for part in Path(file).parts)


def _named(module: ModuleType) -> Iterator[str]:
    """The loaded modules that the top-level import statements of a module name."""
    for node in ast.parse(_source(module)).body:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), module.__package__)
            names = [origin, *(f"{origin}.{alias.name}" for alias in node.names)]
        yield from (name for name in names if name in sys.modules)


def _source(module: ModuleType) -> bytes:
    file = getattr(module, "__file__", None)
    if file is None or not file.endswith(".py"):
        raise LookupError(f"{module.__name__} has no source")
    return Path(file).read_bytes()
