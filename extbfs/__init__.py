"""extbfs: breadth-first search on disk, far past RAM.

The public names below are loaded on first use, so that `import extbfs` stays light: the commands
that only report (`status`, `export`, `puzzles`) never load numba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import puzzles
import store.kernels

__version__ = "0.1.0"

__all__ = ["Outcome", "Run", "__version__", "open_run", "resume", "start"]

if TYPE_CHECKING:
    from extbfs.api import Outcome, Run, open_run, resume, start


def _keep(kernel: Any) -> None:
    from extbfs.kernel_cache import keep

    keep(kernel)


puzzles.keep = store.kernels.keep = _keep


def __getattr__(name: str) -> Any:
    if name in __all__:
        from extbfs import api

        return getattr(api, name)
    raise AttributeError(f"module 'extbfs' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
