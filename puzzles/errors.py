"""The one error a puzzle raises for people: a wrong name, layout, option or a broken promise."""

from __future__ import annotations


class PuzzleError(ValueError):
    """One sentence: what is wrong, where, and what would be right."""

    exit_code = 2
