"""Whole pages of memory."""

from __future__ import annotations

import pytest

from store.pages import PAGE, empty_pages, whole


@pytest.mark.parametrize(("size", "pages"), [(0, 0), (1, 1), (PAGE, 1), (PAGE + 1, 2)])
def test_whole(size: int, pages: int) -> None:
    assert whole(size) == pages * PAGE


@pytest.mark.parametrize("size", [1, 100, PAGE, 5 * PAGE + 1])
def test_empty_pages_begin_at_a_page(size: int) -> None:
    for _ in range(20):
        memory = empty_pages(size)
        assert memory.size == whole(size)
        assert memory.ctypes.data % PAGE == 0
        memory[:] = 1  # all of it is there
