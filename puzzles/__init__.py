"""What a puzzle's states, keys and successors are; arrays of keys in, arrays of keys out.

A *key* is one integer that names one *state*; the *successors* of a key are the keys one move away.
This package has never heard of a disk. Importing it loads neither numba nor numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

keep: Callable[[Any], None] | None = None
"""Is given every kernel when it is defined, so that its machine code may outlive the process.

extbfs sets it. Used without, this package compiles its kernels in every process: numba's own cache
does not notice a change in a kernel that is called from another module.
"""
