"""A search in miniature that keeps the commit protocol, to be interrupted anywhere.

It writes one file a depth, names it in the catalogue, and then deletes the file of the depth before
the last, as `--keep frontier` does. What the catalogue reports can be checked against what is true.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from store import fs, names
from store.catalogue import Catalogue
from store.lock import WriterLock

DEPTHS = 4


def content(depth: int) -> bytes:
    """The bytes of the file of a depth: a little more than two pages."""
    return hashlib.shake_128(str(depth).encode()).digest(9000 + depth)


def note(depth: int) -> bytes:
    """What the catalogue keeps inline for a depth; every second one needs pages of its own."""
    return hashlib.shake_128(f"note {depth}".encode()).digest(40 if depth % 2 else 5000)


def work(run: Path) -> None:
    """Start or resume, and go on to the last depth. Whatever goes wrong is raised."""
    lock = WriterLock.acquire(run)
    try:
        if names.is_unstarted(str(run)):
            catalogue = Catalogue.create(run, {"test": True}, {"state": b"-1"})
        else:
            catalogue = Catalogue.open(run)
        try:
            _go_on(run, catalogue)
        finally:
            catalogue.close()
    finally:
        lock.release()


def _go_on(run: Path, catalogue: Catalogue) -> None:
    disk = fs.current()
    disk.mkdir(run / names.LAYERS)
    disk.sync_dir(run)
    _sweep(run, catalogue)
    for depth in range(last_depth(catalogue) + 1, DEPTHS):
        name = names.layer_file(depth, 0)
        _write(run, name, content(depth))
        catalogue.stage(
            {"state": str(depth).encode(), f"file/{depth}": name.encode(), f"note/{depth}": b""}
        )
        catalogue.stage({f"note/{depth}": note(depth)}, [f"file/{depth - 2}"])
        catalogue.commit()
        if depth >= 2:
            disk.unlink(run / names.layer_file(depth - 2, 0))
        disk.write_atomic(run / names.STATUS, str(depth).encode(), sync=False)
    disk.write_atomic(run / names.STATUS, b"done", sync=False)


def _write(run: Path, name: str, data: bytes) -> None:
    disk = fs.current()
    fd = disk.create(names.temporary(str(run / name)))
    try:
        disk.pwrite(fd, data[:4096], 0)
        disk.pwrite(fd, data[4096:], 4096)
        disk.datasync(fd)
    finally:
        disk.close(fd)
    disk.replace(names.temporary(str(run / name)), run / name)
    disk.sync_dir(run / names.LAYERS)


def _sweep(run: Path, catalogue: Catalogue) -> None:
    named = {value.decode() for _, value in catalogue.scan("file/")}
    for path in sorted(os.listdir(run / names.LAYERS)):
        if f"{names.LAYERS}/{path}" not in named:
            fs.current().unlink(run / names.LAYERS / path)


def last_depth(catalogue: Catalogue) -> int:
    """The last depth that was reported, -1 before the first."""
    value = catalogue.get("state")
    assert value is not None
    return int(value)


def check(run: Path) -> int:
    """Assert that everything the catalogue says is true; the last depth reported, -1 if none."""
    if names.is_unstarted(str(run)):
        return -1
    with Catalogue.open(run, readonly=True) as catalogue:
        depth = last_depth(catalogue)
        files = {key: value.decode() for key, value in catalogue.scan("file/")}
        kept = range(max(0, depth - 1), depth + 1)
        assert files == {f"file/{d}": names.layer_file(d, 0) for d in kept}
        for kept_depth, name in zip(kept, files.values(), strict=True):
            assert (run / name).read_bytes() == content(kept_depth), name
        assert dict(catalogue.scan("note/")) == {f"note/{d}": note(d) for d in range(depth + 1)}
    return depth


def check_finished(run: Path) -> None:
    """Assert that the search ended as one never interrupted does, and left nothing behind."""
    assert check(run) == DEPTHS - 1
    expected = {
        *(names.CATALOGUE_DATA, names.CATALOGUE_LOCK, names.LOCK, names.RESERVE, names.STATUS),
        *(names.layer_file(depth, 0) for depth in (DEPTHS - 2, DEPTHS - 1)),
    }
    found = set(names.files_of(str(run)))
    assert found - {names.temporary(names.STATUS), names.temporary(names.RESERVE)} == expected
