"""How a verb prints its dict: as JSON or as text, always the same data, always on stdout."""

from __future__ import annotations

import contextlib
import json
import operator
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from extbfs import __version__

SCHEMA = 1

Report = Mapping[str, Any]


def head() -> dict[str, Any]:
    """What every JSON answer begins with."""
    return {"schema": SCHEMA, "extbfs": __version__}


def _plain(value: Any) -> Any:
    """JSON for numpy's integers, floats and arrays, without importing numpy."""
    if hasattr(value, "tolist"):
        return value.tolist()
    try:
        return operator.index(value)
    except TypeError:
        return str(value)


def to_json(value: Any) -> str:
    """One line of JSON."""
    return json.dumps(value, default=_plain)


def emit(report: Report, as_json: bool, text: Callable[[Report], str]) -> None:
    """Print `report` after the common head as one line of JSON, or as `text(report)`."""
    out = to_json({**head(), **report}) if as_json else text(report)
    sys.stdout.write(out + "\n")
    sys.stdout.flush()


def emit_items(
    report: Report,
    name: str,
    items: Iterable[Report],
    as_json: bool,
    text: Callable[[Report], str],
) -> None:
    """Print `report` with the list `name` of `items`, which may be too long to hold in memory.

    As text only the items are printed, one after the other.
    """
    write = sys.stdout.write
    if not as_json:
        for item in items:
            write(text(item) + "\n")
    else:
        write(to_json({**head(), **report})[:-1] + f", {json.dumps(name)}: [")
        for number, item in enumerate(items):
            write((", " if number else "") + to_json(item))
        write("]}\n")
    sys.stdout.flush()


def note(sentence: str) -> None:
    """One line on stderr; if nobody reads it any more, none."""
    with contextlib.suppress(OSError, ValueError):
        print(sentence, file=sys.stderr, flush=True)
