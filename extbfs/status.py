"""status.json, the one file that other processes read while a run is being written.

It holds the whole depth table, so that `status` and `export` need nothing else beside a live
writer. The writer replaces it atomically; `pack` adds a checksum, since a flipped digit would
otherwise read as another count. Nothing here imports numba.
"""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from store import lock, names
from store.errors import IntegrityError, NoPermission, NotARun, UnknownVersion

SCHEMA = 1
STATES = ("running", "stopped", "finished", "killed", "failed")
_LARGEST = 64 << 20  # bytes; a longer file is not a status and is not read

_NUMBER = (int, float)
_FIELDS: dict[str, tuple[type, ...]] = {
    "extbfs": (str,),
    "puzzle": (str,),
    "state": (str,),
    "depth": (int,),
    "depths": (list,),
    "states": (int,),
    "seconds": _NUMBER,
}
_ROW: dict[str, tuple[type, ...]] = {
    "depth": (int,),
    "states": (int,),
    "cumulative": (int,),
    "seconds": _NUMBER,
    "bytes": (int,),
}


class DamagedStatus(IntegrityError):
    """{file} is damaged: {detail}; the run itself may be intact, `extbfs verify` tells."""

    def __init__(self, file: str, detail: str) -> None:
        super().__init__(file, None, detail)


def _checksum(status: Mapping[str, Any]) -> str:
    import xxhash

    text = json.dumps(status, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return str(xxhash.xxh3_64_hexdigest(text.encode()))


def pack(status: Mapping[str, Any]) -> bytes:
    """The bytes of status.json for `status` (plain data, finite numbers), checksum included."""
    return (json.dumps({**status, "checksum": _checksum(status)}, allow_nan=False) + "\n").encode()


def unpack(data: bytes, file: str) -> dict[str, Any]:
    """The status that `pack` wrote, without its checksum.

    Raises UnknownVersion for another schema and DamagedStatus, naming `file`, for damage.
    """
    try:
        status = json.loads(data)
    except (ValueError, RecursionError):
        raise DamagedStatus(file, "it is not JSON") from None
    if not isinstance(status, dict) or not isinstance(status.get("schema"), int):
        raise DamagedStatus(file, "it has no schema number")
    if status["schema"] != SCHEMA:
        raise UnknownVersion(file, status["schema"], SCHEMA)
    checksum = status.pop("checksum", None)
    try:
        good = checksum == _checksum(status)
    except (ValueError, RecursionError):
        good = False
    if not good:
        raise DamagedStatus(file, "its checksum is wrong")
    wrong = _wrong_field(status)
    if wrong:
        raise DamagedStatus(file, wrong)
    return status


def _wrong_field(status: Mapping[str, Any]) -> str | None:
    """What a status that is not ours lacks; its checksum says nothing about who wrote it."""
    for name, types in _FIELDS.items():
        if not isinstance(status.get(name), types):
            return f"its field {name!r} is missing or of the wrong type"
    if status["state"] not in STATES:
        return f"its state {status['state'][:20]!r} is unknown"
    for row in status["depths"]:
        if not isinstance(row, dict) or any(
            not isinstance(row.get(name), types) for name, types in _ROW.items()
        ):
            return "a row of its depth table is broken"
    for name in ("memory", "disk"):
        if not isinstance(status.get(name) or {}, dict):
            return f"its field {name!r} is of the wrong type"
    return None


def _load(run: Path) -> dict[str, Any]:
    path = run / names.STATUS
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
    except FileNotFoundError:
        raise NotARun(str(run), f"it has no {names.STATUS}") from None
    except PermissionError as error:
        raise NoPermission(str(path), "read", str(error.strerror)) from None
    if len(data) > _LARGEST:
        raise DamagedStatus(str(path), "it is far too long")
    return unpack(data, str(path))


def read_status(run: str | Path) -> dict[str, Any]:
    """The status of `run` as of now, corrected by what only a reader knows.

    A run that says it is running while no process holds its lock was killed; its depth table then
    comes from the catalogue, which also stands in for a status.json that is missing or damaged. The
    path is the one asked for, the free space is measured now, and `last_checkpoint_seconds_ago` is
    worked out. Needs no write permission and never disturbs a writer.
    Raises NotARun, NoPermission, UnknownVersion, DamagedStatus (an IntegrityError).
    """
    run = Path(run)
    if not run.is_dir():
        what = "it is a file" if run.exists() else "there is no such directory"
        raise NotARun(str(run), what)
    status = _current(run)
    if status["state"] != "running":
        memory = {**(status.get("memory") or {}), "rss": None}
        status.update(pid=None, rate_now=None, eta_depth_seconds=None, memory=memory)
    at = status.get("last_checkpoint")
    ago = max(0.0, time.time() - at) if isinstance(at, _NUMBER) else None
    free = os.statvfs(run)
    status.update(
        run=str(run),
        resume=f"extbfs resume {shlex.quote(str(run))}",
        last_checkpoint_seconds_ago=ago,
        disk={**(status.get("disk") or {}), "free": free.f_bavail * free.f_frsize},
    )
    return status


def _current(run: Path) -> dict[str, Any]:
    """What status.json says, or the catalogue where that file says too little."""
    status: dict[str, Any] | None
    try:
        status = _load(run)
        if status["state"] != "running" or lock.holder(run) is not None:
            return status
        status = _load(run)  # it may just have ended: the last status comes before the unlock
        if status["state"] != "running":
            return status
    except (NotARun, DamagedStatus):
        if lock.holder(run) is not None or not (run / names.CATALOGUE_DATA).exists():
            raise
        status = None
    from extbfs.salvage import salvage

    status = salvage(run, status)
    wrong = _wrong_field(status)
    if wrong:
        raise IntegrityError(str(run / names.CATALOGUE_DATA), None, wrong)
    return status
