"""The names of all files in a run directory, and the parser that inverts them.

Every name is relative to the run directory and uses '/'. Numbers are padded with zeros so that
the order of names is the order of numbers; larger ones simply get longer.

    catalogue/data.mdb  catalogue/lock.mdb     the LMDB environment (`store/CATALOGUE.md`)
    layers/d00029-0003.keys                    file 3 of the layer of depth 29
    layers/v00012-0000.keys                    file 0 of the visited keys up to depth 12
    spill/d00029-0007.spill                    spill file 7 of the children of depth 29
    spill/x00003-0007.scratch                  file 7 of external sort 3; no catalogue names it
    status.json  log.jsonl  LOCK  reserve
    NAME.tmp                                   NAME while it is written; never part of the run
"""

from __future__ import annotations

import enum
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

CATALOGUE = "catalogue"
LMDB_DATA = "data.mdb"
LMDB_LOCK = "lock.mdb"
CATALOGUE_DATA = f"{CATALOGUE}/{LMDB_DATA}"
CATALOGUE_LOCK = f"{CATALOGUE}/{LMDB_LOCK}"
LAYERS = "layers"
SPILL = "spill"
STATUS = "status.json"
LOG = "log.jsonl"
LOCK = "LOCK"
RESERVE = "reserve"
TEMPORARY = ".tmp"


class Kind(enum.Enum):
    """What a file of a run directory is for."""

    CATALOGUE = "catalogue"
    LAYER = "layer"
    VISITED = "visited"
    SPILL = "spill"
    SCRATCH = "scratch"
    STATUS = "status"
    LOG = "log"
    LOCK = "lock"
    RESERVE = "reserve"


@dataclass(frozen=True)
class Name:
    """A file name taken apart; `depth` and `number` are None where the kind has none.

    A `temporary` file is one that no catalogue names: it may go whenever no writer is at work.
    """

    kind: Kind
    depth: int | None = None
    number: int | None = None
    temporary: bool = False


_FIXED = {
    CATALOGUE_DATA: Kind.CATALOGUE,
    CATALOGUE_LOCK: Kind.CATALOGUE,
    STATUS: Kind.STATUS,
    LOG: Kind.LOG,
    LOCK: Kind.LOCK,
    RESERVE: Kind.RESERVE,
}
_NUMBERED = re.compile(
    r"(?P<form>layers/[dv]|spill/[dx])(?P<first>\d{5,18})-(?P<number>\d{4,18})\.[a-z]+", re.ASCII
)


def layer_file(depth: int, number: int) -> str:
    """The name of file `number` of the layer of `depth`."""
    return f"{LAYERS}/d{depth:05d}-{number:04d}.keys"


def visited_file(depth: int, number: int) -> str:
    """The name of file `number` of the compacted visited keys of all depths up to `depth`."""
    return f"{LAYERS}/v{depth:05d}-{number:04d}.keys"


def spill_file(depth: int, number: int) -> str:
    """The name of spill file `number` of the children that will be the layer of `depth`."""
    return f"{SPILL}/d{depth:05d}-{number:04d}.spill"


def scratch_file(sort: int, number: int) -> str:
    """The name of file `number` of the external sort `sort`, which is never part of the run."""
    return f"{SPILL}/x{sort:05d}-{number:04d}.scratch"


_FORMS = {
    "layers/d": (Kind.LAYER, layer_file),
    "layers/v": (Kind.VISITED, visited_file),
    "spill/d": (Kind.SPILL, spill_file),
    "spill/x": (Kind.SCRATCH, scratch_file),
}


def temporary(name: str) -> str:
    """The name under which `name` is written before it is renamed."""
    return name + TEMPORARY


def classify(name: str) -> Name | None:
    """What `name`, relative to the run directory, stands for; None if this program never makes it.

    Inverts the functions above exactly: a name that they would write differently is None.
    A name inside `catalogue.tmp/` is a temporary one of the catalogue.
    """
    catalogue = f"{CATALOGUE}{TEMPORARY}/"
    if name.startswith(catalogue):
        rest = classify(f"{CATALOGUE}/{name.removeprefix(catalogue)}")
        return rest and Name(rest.kind, temporary=True)
    is_temporary = name.endswith(TEMPORARY)
    name = name.removesuffix(TEMPORARY)
    if name in _FIXED:
        kind = _FIXED[name]
        if is_temporary and kind in (Kind.CATALOGUE, Kind.LOCK):
            return None
        return Name(kind, temporary=is_temporary)
    match = _NUMBERED.fullmatch(name)
    if match is None:
        return None
    kind, write = _FORMS[match["form"]]
    first, number = int(match["first"]), int(match["number"])
    if write(first, number) != name:
        return None
    depth = None if kind is Kind.SCRATCH else first
    return Name(kind, depth, number, is_temporary or kind is Kind.SCRATCH)


def files_of(run: str) -> Iterator[str]:
    """All files below the run directory `run`, relative to it, in sorted order by directory.

    Symbolic links are listed, never followed. A directory that cannot be read is an OSError.
    """

    def fail(error: OSError) -> None:
        raise error

    for directory, subdirectories, files in os.walk(run, onerror=fail):
        subdirectories.sort()
        links = [name for name in subdirectories if os.path.islink(os.path.join(directory, name))]
        for name in sorted(files + links):
            yield os.path.relpath(os.path.join(directory, name), run)


def is_unstarted(run: str) -> bool:
    """Whether `run` holds at most what a `start` leaves that was killed before its first commit.

    That is: nothing at all, or the lock, the log, the reserve, temporary files and empty
    directories. Such a directory may be started again.
    """
    early = (Kind.LOCK, Kind.LOG, Kind.RESERVE)
    for name in files_of(run):
        found = classify(name)
        if found is None or not (found.temporary or found.kind in early):
            return False
    return True
