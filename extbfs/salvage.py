"""The status of a run whose process ended without a last word, from its catalogue.

The catalogue is the truth; status.json may be a second behind it, or, after a power cut or on a
full disk, useless. Only for runs that nobody writes. Nothing here imports numba.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from store import names
from store.catalogue import Catalogue
from store.errors import IntegrityError, NotARun, StoreError


def salvage(run: Path, status: dict[str, Any] | None) -> dict[str, Any]:
    """`status` with the depth table of the catalogue, or a new status where there is none.

    The result says killed. Raises what Catalogue.open raises unless there is a `status`, which is
    then taken as it is: its checksum was good, so what it reports is true as far as it goes.
    """
    try:
        with Catalogue.open(run, readonly=True) as catalogue:
            rows = [row for _, row in catalogue.scan_json("depth/")]
            spec = catalogue.get_json("run/spec")
            state = catalogue.get_json("run/state") or {}
            made_by = str(catalogue.meta.get("extbfs"))
    except StoreError:
        if status is None:
            raise
        return {**status, "state": "killed"}
    if status is None and spec is None:
        raise NotARun(str(run), "it was killed before its first depth; start it again")
    try:
        found = _anew(spec, made_by) if status is None else dict(status)
        last = rows[-1]["depth"] if rows else 0
        if found["depth"] <= last:
            found.update(depth=last, stage=None, stage_percent=None)
        states = rows[-1]["cumulative"] if rows else 0
        seconds = max(state.get("seconds", 0.0), found["seconds"])
        rate = round(states / seconds) if seconds > 0 else None
        found.update(state="killed", depths=rows, states=states, seconds=seconds, rate_run=rate)
    except (AttributeError, KeyError, TypeError):
        catalogue_file = str(run / names.CATALOGUE_DATA)
        raise IntegrityError(catalogue_file, None, "its records are not those of a run") from None
    return found


def _anew(spec: dict[str, Any], made_by: str) -> dict[str, Any]:
    puzzle, parameters = spec["puzzle"], spec["parameters"]
    return {
        "schema": 1,
        "extbfs": made_by,
        "puzzle": str(spec.get("name") or puzzle.get("object") or puzzle.get("family")),
        "metric": puzzle.get("metric"),
        "spec": puzzle,
        "reason": None,
        "depth": 0,
        "stage": None,
        "seconds": 0.0,
        "algebra": parameters.get("algebra"),
        "keep": parameters.get("keep"),
        "max_depth": parameters.get("max_depth"),
        "threads": parameters.get("threads"),
        "frontier_empty": False,
        "goal": None,
    }
