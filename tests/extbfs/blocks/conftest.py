"""Every search of a library puzzle is made once and shared by the tests that read it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.extbfs.blocks.searches import Searches
from tests.sandbox import open_directory


@pytest.fixture(scope="session")
def searches() -> Iterator[Searches]:
    """Exhaustive searches by name, metric and symmetry; the small ones are kept to the end."""
    with open_directory(in_memory=True) as directory:
        yield Searches(directory)
