"""The command line: one module a verb, each a thin layer over the public interface of extbfs.

A verb builds one dict and prints it as text or, with --json, as JSON; data goes to stdout,
everything else to stderr. Importing this package loads nothing heavy.
"""

from __future__ import annotations

import sys

__all__ = ["main", "run"]


def main(argv: list[str] | None = None) -> int:
    """Run the command line on `argv` (default: the process's own); returns the exit code.

    Never raises: whatever goes wrong becomes one sentence on stderr.
    """
    from extbfs.cli.errors import guarded

    return guarded(_command, sys.argv[1:] if argv is None else argv)


def _command(argv: list[str]) -> int:
    import typer

    from extbfs.cli.app import app

    command = typer.main.get_command(app)
    try:
        # Not command.main(), which gives interrupts and broken pipes exit codes of its own.
        with command.make_context("extbfs", list(argv) or ["--help"]) as context:
            code = command.invoke(context)
    except typer.Exit as done:
        code = done.exit_code
    return int(code or 0) if argv else 2


def run() -> None:
    """The console script."""
    sys.exit(main())
