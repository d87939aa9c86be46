"""From an exception to one sentence on stderr and an exit code; no traceback reaches a user."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from extbfs.report import printable

DEBUG = "EXTBFS_DEBUG"
_INTERRUPTED = 130
_BROKEN_PIPE = 141

# The run that start or resume is writing: its log takes the details of an internal error.
_writing: list[Path] = []


def writing(run: Path) -> None:
    """Say that this process writes `run` from now on."""
    _writing[:] = [run]


def guarded(command: Callable[[list[str]], int], argv: list[str]) -> int:
    """The exit code of `command(argv)`, whatever it raises."""
    _writing.clear()
    try:
        code = command(argv)
        sys.stdout.flush()
        return code
    except BaseException as error:
        if os.environ.get(DEBUG):
            traceback.print_exc()
        return _explain(error)


def _explain(error: BaseException) -> int:
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    if isinstance(error, KeyboardInterrupt):
        _say("interrupted")
        return _INTERRUPTED
    if isinstance(error, BrokenPipeError):
        _abandon_stdout()
        return _BROKEN_PIPE
    if hasattr(error, "format_message"):  # a usage error of typer
        return _usage(error)
    code = getattr(error, "exit_code", None)
    if isinstance(code, int):
        _say(str(error))
        return code
    if type(error).__name__ == "Abort":
        _say("aborted")
        return 1
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename is not None else ""
        _say(f"{where}{error.strerror}")
        if error.filename is None:
            _abandon_stdout()
        return 1
    if isinstance(error, MemoryError):
        _say("out of memory: give a smaller --memory, or more to the process")
        return 1
    _say(f"internal error: {_brief(error)}; please report it, {_details(error)}")
    return 1


def _usage(error: BaseException) -> int:
    message = error.format_message()  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "extbfs"
    _say(f"{message.rstrip('. ').replace('. Did you', ', did you')} (see `{path} --help`)")
    return int(getattr(error, "exit_code", 2))


def _brief(error: BaseException) -> str:
    text = str(error)
    return type(error).__name__ + (f": {text[:200]}" if text else "")


def _details(error: BaseException) -> str:
    """Where the traceback is; it goes to the log of the run being written, if there is one."""
    for run in _writing:
        if not (run / "LOCK").exists():
            continue
        entry = {
            "time": time.time(),
            "event": "internal-error",
            "traceback": "".join(traceback.format_exception(error)),
        }
        with contextlib.suppress(OSError), open(run / "log.jsonl", "a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")
            return f"details are in {run / 'log.jsonl'}"
    return f"{DEBUG}=1 shows the details"


def _say(sentence: str) -> None:
    text = printable(" ".join(sentence.split())).rstrip(".")
    with contextlib.suppress(OSError, ValueError):
        print(f"extbfs: {text}", file=sys.stderr, flush=True)


def _abandon_stdout() -> None:
    """Nobody reads stdout any more: keep the interpreter from complaining about it at its end."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
