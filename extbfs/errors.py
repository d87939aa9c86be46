"""The ways in which a search is refused or cannot go on, beyond those of the store and the puzzles.

A class attribute is its exit code; the message is one sentence for the user.
"""

from __future__ import annotations

from typing import ClassVar


class SearchError(Exception):
    """The search cannot do what was asked."""

    exit_code: ClassVar[int] = 1


class UsageError(SearchError):
    """Words of the command or arguments of the call that cannot be meant."""

    exit_code = 2


class LimitError(SearchError):
    """A memory, disk or thread limit that cannot work; the message says what would."""

    exit_code = 2


class RunExists(SearchError):
    """The directory to start in is not empty."""

    exit_code = 2


class PuzzleChanged(SearchError):
    """The puzzle is not the one the run was started with."""

    exit_code = 22


class NotKept(SearchError):
    """What was asked needs layers that the run did not keep."""

    exit_code = 1


class NotFound(SearchError):
    """The run holds no such state or depth."""

    exit_code = 1
