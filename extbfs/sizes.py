"""Sizes in bytes as people write them: 512MiB, 1GiB, 1G, 1.5GB, or plain bytes."""

from __future__ import annotations

import re
from fractions import Fraction

_PREFIXES = "KMGTPE"
_WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGTPE])(I?B)?|B)?", re.ASCII | re.IGNORECASE)
_LONGEST = 40  # characters; more is a mistake, not a size


class SizeError(ValueError):
    """A size that cannot be read; the message is one sentence for the user."""

    exit_code = 2


def parse_size(value: int | str, what: str = "the size") -> int:
    """The number of bytes, at least 1, that `value` stands for.

    K, M, G, T, P, E and KiB, MiB, ... are powers of 1024, KB, MB, ... powers of 1000; case and one
    space before the unit do not matter; a fraction of a byte is cut off.
    `what` names the value in the message of the SizeError that an unreadable or empty size raises.
    """
    if isinstance(value, int):
        size = value
    else:
        found = _WRITTEN.fullmatch(value.strip()) if len(value) <= _LONGEST else None
        if found is None:
            shown = value if len(value) <= _LONGEST else value[:_LONGEST] + "..."
            raise SizeError(
                f"{what} cannot be {shown!r}: write bytes or a unit, as in 1073741824, 512MiB or 1G"
            )
        number, prefix, suffix = found.groups()
        base = 1000 if suffix is not None and suffix.upper() == "B" else 1024
        power = _PREFIXES.index(prefix.upper()) + 1 if prefix else 0
        size = int(Fraction(number) * base**power)
    if size < 1:
        raise SizeError(f"{what} cannot be {value}: it must be at least one byte")
    return size


def format_size(size: int) -> str:
    """`size` bytes for people, in three digits and powers of 1024: 24 B, 1.50 KiB, 10.3 GiB."""
    if abs(size) < 1024:
        return f"{size} B"
    value, power = size / 1024, 0
    while abs(value) >= 999.5 and power < len(_PREFIXES) - 1:
        value, power = value / 1024, power + 1
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:.{digits}f} {_PREFIXES[power]}iB"
