"""Whole pages of memory and of files: what the kernel wants where bytes go past its page cache."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

PAGE = 4096
"""Bytes: a multiple of the sectors of every common disk."""


def whole(size: int) -> int:
    """`size` bytes, rounded up to whole pages."""
    return -(-size // PAGE) * PAGE


def empty_pages(size: int) -> npt.NDArray[np.uint8]:
    """uint8[whole(size)] of any content that begins at the address of a page."""
    raw = np.empty(whole(size) + PAGE, np.uint8)
    begin = -raw.ctypes.data % PAGE
    return raw[begin : begin + whole(size)]
