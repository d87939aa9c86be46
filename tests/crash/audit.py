"""What must hold in a run directory after any number of crashes, and the table to compare with."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from store import names
from store.catalogue import Catalogue
from store.names import Kind

TABLES = Path(__file__).resolve().parent.parent / "data" / "tiles_counts.json"
FINISHED = {"spill": "pieces", "merge": "buckets"}
DATA = (Kind.LAYER, Kind.VISITED, Kind.SPILL)
METRICS = {"single": "single-tile", "multi": "multi-tile"}


def known_counts(puzzle: str, metric: str, blank: str = "corner") -> list[int]:
    """The published states per depth of "tiles:4x3" (columns by rows), blank in a corner.

    Raises KeyError for a board that no table has.
    """
    tables: dict[str, dict[str, Any]] = json.loads(TABLES.read_text())
    columns, rows = puzzle.removeprefix("tiles:").split("x")
    for board in (f"{columns}x{rows}", f"{rows}x{columns}"):
        table = tables.get(f"{board} sliding, {METRICS[metric]}, blank {blank}")
        if table is not None:
            return [int(count) for count in table["counts"]]
    raise KeyError(f"{puzzle} {metric}")


def stray_files(run: Path) -> list[str]:
    """Files in `run` that are not part of it: of unknown name, or unnamed by the catalogue."""
    named = set(named_files(run))
    stray = []
    for path in names.files_of(str(run)):
        name = names.classify(path)
        if name is None or name.temporary or (name.kind in DATA and path not in named):
            stray.append(path)
    return stray


def named_files(run: Path) -> Iterator[str]:
    """The layer, visited and spill files that the catalogue of `run` names."""
    from extbfs.engine.ledger import Ledger

    with Catalogue.open(run, readonly=True) as catalogue:
        ledger = Ledger(catalogue)
        for kind in ("layer", "visited"):
            for depth in ledger.depths_of(kind):
                for stored in ledger.runs(kind, depth):
                    if stored.meta.file:
                        yield stored.meta.file
        for depth in ledger.depths_of("spill"):
            for spill in ledger.spills(depth):
                yield f"{names.SPILL}/{Path(spill.file).name}"


def missing_files(run: Path) -> list[str]:
    """Files that the catalogue names and nobody can find."""
    return [name for name in named_files(run) if not (run / name).is_file()]


def repeated_pieces(run: Path) -> list[str]:
    """Pieces of work that were recorded as finished and then done once more.

    After each commit that records some, the journal gets one line: {"event": "spill", "depth": D,
    "pieces": [...]} of the first stage or {"event": "merge", "depth": D, "buckets": [...]} of the
    second. A line torn by the crash counts for nothing.
    """
    seen: Counter[tuple[str, int, int]] = Counter()
    log = run / names.LOG
    for line in log.read_bytes().splitlines() if log.exists() else ():
        try:
            event = json.loads(line)
            if event["event"] in FINISHED:
                what = FINISHED[event["event"]]
                seen.update((what, int(event["depth"]), int(number)) for number in event[what])
        except (ValueError, KeyError, TypeError):
            continue
    return [f"{what} {n} of depth {depth}" for (what, depth, n), times in seen.items() if times > 1]
