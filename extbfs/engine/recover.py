"""Recovery: bring the files of a run directory back to what its catalogue records."""

from __future__ import annotations

import os
from typing import Any

from extbfs.engine.ledger import Ledger
from store import names
from store.errors import IntegrityError
from store.fs import FileSystem


def recover(fs: FileSystem, run: str, ledger: Ledger, rows: list[dict[str, Any]]) -> None:
    """Delete files that no record names, cut those that are longer, and miss none.

    A layer file may be longer than recorded: runs that were written but not yet made durable lie
    behind the last recorded one. Raises IntegrityError for a recorded file that is missing or
    short.
    """
    ends = recorded_ends(ledger, rows[-1]["depth"] + 1 if rows else 0)
    for directory in (names.LAYERS, names.SPILL):
        path = os.path.join(run, directory)
        fs.mkdir(path)
        changed = False
        for entry in sorted(os.listdir(path)):
            name = f"{directory}/{entry}"
            if name not in ends:
                if names.classify(name) is None:
                    raise IntegrityError(
                        os.path.join(run, name), "all", "no run has a file of this name"
                    )
                fs.unlink(os.path.join(run, name))
                changed = True
        if changed:
            fs.sync_dir(path)
    for entry in sorted(os.listdir(run)):
        if entry.endswith(names.TEMPORARY) and not os.path.isdir(os.path.join(run, entry)):
            fs.unlink(os.path.join(run, entry))
    for name, end in sorted(ends.items()):
        path = os.path.join(run, name)
        try:
            size = os.path.getsize(path)
        except OSError:
            raise IntegrityError(path, "all", "the catalogue names it, but it is missing") from None
        if size < end:
            raise IntegrityError(
                path, "all", f"it has {size} bytes, and the catalogue records {end}"
            )
        if size > end:
            fd = fs.open_rw(path)
            try:
                fs.truncate(fd, end)
            finally:
                fs.close(fd)


def recorded_ends(ledger: Ledger, building: int) -> dict[str, int]:
    """Every file that the catalogue names, with the length it must have at least, in bytes."""
    ends: dict[str, int] = {}
    for kind in ("layer", "visited"):
        for depth in ledger.depths_of(kind):
            for stored in ledger.runs(kind, depth):
                meta = stored.meta
                if meta.file:
                    ends[meta.file] = max(ends.get(meta.file, 0), meta.offset + meta.length)
    for spill in ledger.spills(building):
        ends[spill.file] = spill.length
    return ends
