"""`extbfs status`: what a run is doing, from any process, without disturbing it."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from extbfs.cli.options import Json, RunPath
from extbfs.cli.output import emit
from extbfs.report import status_text
from extbfs.status import read_status


def command(
    run: RunPath,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Show it again and again until the run ends.")
    ] = False,
    interval: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="The time between two looks.")
    ] = 2.0,
    as_json: Json = False,
) -> int:
    """Print where a run stands: depth, counts, rates, memory, disk, the last checkpoint."""
    if watch and not as_json and sys.stdout.isatty():
        return _redraw(run, interval)
    while True:
        status = read_status(run)
        emit(status, as_json, status_text)
        if not watch or status["state"] != "running":
            return 0
        time.sleep(interval)
        if not as_json:
            print()


def _redraw(run: Path, interval: float) -> int:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    status = read_status(run)
    with Live(console=Console(highlight=False), auto_refresh=False, transient=True) as live:
        while status["state"] == "running":
            rows = max(1, live.console.height - 14)
            live.update(Text(status_text(status, last=rows)), refresh=True)
            time.sleep(interval)
            status = read_status(run)
    emit(status, False, status_text)
    return 0
