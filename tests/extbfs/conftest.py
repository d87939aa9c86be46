"""Fixtures of the tests of the search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox import open_directory


@pytest.fixture
def ram() -> Iterator[Path]:
    """A directory in memory, where there is such a place: for tests that sync very often."""
    with open_directory(in_memory=True) as directory:
        yield directory
