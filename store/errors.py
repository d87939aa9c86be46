"""The closed set of ways in which the store fails, each with its own exit code.

A class's docstring is the template of its message, filled from the fields of the same names.
Corruption (`IntegrityError`), a full disk (`DiskFull`, `DiskLimit`) and a failing disk
(`IoFailure`) are kept apart, because whoever reads the message acts differently on each.
"""

# Names say what happened, in the words an operator would use; all are StoreErrors.

from __future__ import annotations

import errno as errnos
from typing import ClassVar


class _Fields(dict[str, object]):
    """The attributes of an error by name, as `str.format_map` asks for them."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def __missing__(self, name: str) -> object:
        return getattr(self._error, name)


class StoreError(Exception):
    """The store failed: {detail}."""

    exit_code: ClassVar[int] = 1

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail

    def __str__(self) -> str:
        return (type(self).__doc__ or "{detail}").format_map(_Fields(self))


class NotARun(StoreError):
    """{directory} is not a run directory: {detail}."""

    exit_code = 10

    def __init__(self, directory: str, detail: str) -> None:
        super().__init__(detail)
        self.directory = directory


class Locked(StoreError):
    """{directory} is being written by {holder}; wait until it ends, or stop it, and try again."""

    exit_code = 11

    def __init__(self, directory: str, holder: object) -> None:
        super().__init__(f"locked by {holder}")
        self.directory = directory
        self.holder = holder


class UnknownVersion(StoreError):
    """{what} has format version {found}, and this program reads version {supported} only."""

    exit_code = 12

    def __init__(self, what: str, found: object, supported: object) -> None:
        super().__init__(f"format version {found}")
        self.what = what
        self.found = found
        self.supported = supported


class DiskLimit(StoreError):
    """{detail}; raise --disk to go on."""

    exit_code = 3


class DiskFull(StoreError):
    """The disk is full: cannot {operation} {path} ({detail}); free some space and resume."""

    exit_code = 20

    def __init__(self, path: str, operation: str, detail: str) -> None:
        super().__init__(detail)
        self.path = path
        self.operation = operation


class IntegrityError(StoreError):
    """{place}: {detail}; the file is damaged and must not be used."""

    exit_code = 21

    def __init__(self, file: str, block: int | str | None = None, detail: str = "") -> None:
        """`block` is a block's number, the key of a catalogue entry, or None for a whole file."""
        super().__init__(detail)
        self.file = file
        self.block = block

    @property
    def place(self) -> str:
        """The file and the block in it, for the message."""
        return self.file if self.block is None else f"{self.file}, block {self.block}"


class IoFailure(StoreError):
    """Cannot {operation} {path}: {detail}."""

    def __init__(self, path: str, operation: str, detail: str, errno: int = 0) -> None:
        super().__init__(detail)
        self.path = path
        self.operation = operation
        self.errno = errno

    @property
    def missing(self) -> bool:
        """Whether the failure is that there is no such file."""
        return self.errno in (errnos.ENOENT, errnos.ENOTDIR)


class NoPermission(StoreError):
    """May not {operation} {path}: {detail}."""

    def __init__(self, path: str, operation: str, detail: str) -> None:
        super().__init__(detail)
        self.path = path
        self.operation = operation


class CatalogueFull(StoreError):
    """{path} has reached its fixed size, which no run should come near: please report it."""

    def __init__(self, path: str) -> None:
        super().__init__("the memory map is full")
        self.path = path
