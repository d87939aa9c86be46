"""Conservation laws: what a stage consumed, emitted and dropped, added up on separate paths.

A tally is a number of keys and the sum of a 64-bit mix of each (modulo 2**64): it does not depend
on order, and a lost, doubled or changed key shows in it.
"""

from __future__ import annotations

from typing import NamedTuple

from store.errors import IntegrityError

MASK = (1 << 64) - 1


class Tally(NamedTuple):
    """A multiset of keys, summed up: how many, and the fingerprint modulo 2**64."""

    count: int = 0  # type: ignore[assignment]
    fingerprint: int = 0

    def __add__(self, other: Tally) -> Tally:  # type: ignore[override]
        """The tally of both together."""
        (n, mixed), (m, more) = self, other
        return Tally(n + m, (mixed + more) & MASK)


NOTHING = Tally()


class LawBroken(IntegrityError):
    """{file}: {detail}; a file or the memory of this machine is not to be trusted."""


def require(where: str, law: str, left: Tally, right: Tally) -> None:
    """Raise IntegrityError naming the place and the law unless both tallies agree."""
    if left != right:
        raise LawBroken(
            where,
            law,
            f"the {law} law is broken: {left.count} keys with fingerprint {left.fingerprint:016x} "
            f"went in, {right.count} with {right.fingerprint:016x} came out",
        )
