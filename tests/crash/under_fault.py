"""Run the command line with one fault before its N-th durable operation.

    python -m tests.crash.under_fault --kill-at 17 --run RUN -- start tiles:3x3 RUN
    python -m tests.crash.under_fault --power-cut-at 17 --seed 5 --run RUN -- resume RUN
    python -m tests.crash.under_fault --fail-at 17 --code ENOSPC --run RUN -- resume RUN
    python -m tests.crash.under_fault --count-to FILE --run RUN -- start tiles:3x3 RUN

The last writes the number of durable operations to FILE; --list-to writes them all, one a line.
"""

from __future__ import annotations

import argparse
import errno
import os
import random
import signal
import sys
from pathlib import Path
from typing import NoReturn

from store import fs
from tests.faults import NEVER, Fault, FaultyFileSystem


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.crash.under_fault", description=__doc__)
    parser.add_argument("--run", required=True, help="the run directory, for losing unsynced data")
    fault = parser.add_mutually_exclusive_group()
    fault.add_argument("--kill-at", type=int, metavar="N")
    fault.add_argument("--power-cut-at", type=int, metavar="N")
    fault.add_argument("--fail-at", type=int, metavar="N")
    parser.add_argument("--seed", default="0", help="what a power cut loses")
    parser.add_argument("--code", default="EIO", choices=["EIO", "ENOSPC", "EDQUOT"])
    parser.add_argument("--from-then-on", action="store_true", help="all later operations fail too")
    parser.add_argument("--count-to", type=Path, metavar="FILE")
    parser.add_argument("--list-to", type=Path, metavar="FILE")
    parser.add_argument("command", nargs="+", help="what follows `extbfs`, after --")
    return parser.parse_args(argv)


def _faulty(options: argparse.Namespace) -> FaultyFileSystem:
    if options.kill_at:
        return FaultyFileSystem(options.run, at=options.kill_at, fault=Fault.KILL)
    if options.power_cut_at:

        def lose_and_die(disk: FaultyFileSystem) -> NoReturn:
            disk.lose_unsynced(random.Random(options.seed))
            os.kill(os.getpid(), signal.SIGKILL)
            raise AssertionError("still alive")

        return FaultyFileSystem(
            options.run,
            at=options.power_cut_at,
            fault=Fault.POWER_CUT,
            at_power_cut=lose_and_die,
        )
    fault = Fault.FROM_THEN_ON if options.from_then_on else Fault.ONCE
    code = getattr(errno, options.code)
    return FaultyFileSystem(options.run, at=options.fail_at or NEVER, fault=fault, code=code)


def main(argv: list[str]) -> int:
    """Run one command; its exit code, unless the fault ends the process."""
    options = _arguments(argv)
    disk = _faulty(options)
    fs.install(disk)
    from extbfs.cli import main as extbfs

    code = int(extbfs(options.command))
    disk.forget()
    if options.count_to:
        options.count_to.write_text(f"{disk.count}\n")
    if options.list_to:
        options.list_to.write_text("".join(f"{name}\n" for name in disk.operations))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
