"""A benchmark as a command: progress to stderr, one JSON object to stdout and to a file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from ops.bench.child import ChildFailed
from ops.bench.depths import JournalFault
from ops.bench.table import WrongCounts

Progress = Callable[[str], None]
Benchmark = Callable[[argparse.Namespace, Progress], dict[str, Any]]


def run_benchmark(benchmark: Benchmark, options: argparse.Namespace) -> int:
    """Run it and print what it found; its exit code. options.output: a Path, or None."""
    try:
        result = benchmark(options, lambda text: print(text, file=sys.stderr, flush=True))
    except (WrongCounts, ChildFailed, JournalFault) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    text = json.dumps(result, indent=1)
    if options.output is not None:
        options.output.write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0
