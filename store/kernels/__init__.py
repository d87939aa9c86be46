"""Compiled inner loops of the store: arrays in, counts out. Importing this package is free."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

keep: Callable[[Any], None] | None = None
"""Is given every kernel when it is defined, so that its machine code may outlive the process.

extbfs sets it. Used without, this package compiles its kernels in every process: numba's own cache
does not notice a change in a kernel that is called from another module.
"""
