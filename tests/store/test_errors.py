"""Every error says in one sentence what is wrong and where, and has the exit code promised."""

from __future__ import annotations

import pytest

from store import errors
from store.lock import Holder

EXIT_CODES = {
    "StoreError": 1,
    "NotARun": 10,
    "Locked": 11,
    "UnknownVersion": 12,
    "DiskLimit": 3,
    "DiskFull": 20,
    "IntegrityError": 21,
    "IoFailure": 1,
    "NoPermission": 1,
    "CatalogueFull": 1,
}

EXAMPLES = [
    (errors.StoreError("it is closed"), ["it is closed"]),
    (errors.NotARun("/r", "it has no catalogue"), ["/r", "no catalogue"]),
    (
        errors.Locked("/r", Holder(17, "here", "2024-05-06")),
        ["/r", "process 17", "here", "2024-05-06"],
    ),
    (errors.Locked("/r", Holder(0, "", "")), ["/r", "another process"]),
    (errors.UnknownVersion("a run", 9, 1), ["a run", "version 9", "version 1 only"]),
    (errors.DiskLimit("the run would grow past 1GiB"), ["past 1GiB", "--disk"]),
    (errors.DiskFull("/r/f", "write", "No space left"), ["full", "/r/f", "write", "No space"]),
    (errors.IntegrityError("/r/f", 3, "bad checksum"), ["/r/f, block 3: bad checksum"]),
    (errors.IntegrityError("/r/f", "depth/1", "gone"), ["/r/f, block depth/1: gone"]),
    (errors.IntegrityError(file="/r/f", detail="too short"), ["/r/f: too short"]),
    (errors.IoFailure("/r/f", "read", "Input/output error"), ["read", "/r/f", "Input/output"]),
    (errors.NoPermission("/r/f", "write", "Permission denied"), ["write", "/r/f", "denied"]),
    (errors.CatalogueFull("/r/c"), ["/r/c", "fixed size"]),
]


def test_the_set_is_closed_and_its_exit_codes_are_the_promised_ones() -> None:
    found = {
        name: kind.exit_code
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.StoreError)
    }
    assert found == EXIT_CODES


@pytest.mark.parametrize(("error", "parts"), EXAMPLES, ids=lambda value: type(value).__name__)
def test_messages_name_what_and_where(error: errors.StoreError, parts: list[str]) -> None:
    message = str(error)
    assert "\n" not in message
    assert "{" not in message
    for part in parts:
        assert part in message


def test_a_brace_in_a_path_is_only_text() -> None:
    assert "/r/{detail}{0}" in str(errors.NotARun("/r/{detail}{0}", "it is empty"))


def test_only_a_missing_file_is_missing() -> None:
    assert errors.IoFailure("/f", "read", "No such file", 2).missing
    assert not errors.IoFailure("/f", "read", "Input/output error", 5).missing
