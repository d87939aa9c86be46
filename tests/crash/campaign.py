"""A long series of crashes: interrupt a search at operations drawn from a seed, until it ends.

    python -m tests.crash.campaign --seed 7 --rounds 20 --puzzle tiles:3x3 --memory 512MiB

Each round starts a search that is killed, whose power is cut, whose disk is full or fails, before a
random durable operation (and a resume after it, and so on), and then compares the counts with the
published table, runs `extbfs verify` and looks for files and pieces of work that should not be. A
round that fails says how to repeat it; its run directory is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from store import names
from tests.crash import audit

ROOT = Path(__file__).resolve().parent.parent.parent
FAULTS = {
    "kill": ("--kill-at",),
    "power-cut": ("--power-cut-at",),
    "disk-full": ("--code", "ENOSPC", "--from-then-on", "--fail-at"),
    "io-error": ("--code", "EIO", "--fail-at"),
}
EXIT_CODES = {"kill": -signal.SIGKILL, "power-cut": -signal.SIGKILL, "disk-full": 20, "io-error": 1}
MOST_FAULTS = 12  # a round; then the search may end in peace
TIMEOUT = 600  # seconds, of one command


class CrashFoundABug(AssertionError):
    """A round that did not end as a search never interrupted does."""


@dataclass(frozen=True)
class Settings:
    """What a campaign runs."""

    puzzle: str = "tiles:3x3"
    metric: str = "single"
    max_depth: int | None = None
    options: tuple[str, ...] = ()
    seed: str = "0"
    faults: tuple[str, ...] = tuple(FAULTS)


@dataclass
class Round:
    """One search, interrupted until it is done."""

    settings: Settings
    number: int
    directory: Path
    operations: int
    history: list[str] = field(default_factory=list)
    _faulty: bool = False

    @property
    def run(self) -> Path:
        """The run directory."""
        return self.directory / f"round{self.number}"

    def play(self) -> str:
        """Go through the round; a line that tells it. Raises CrashFoundABug."""
        rng = random.Random(f"{self.settings.seed}/{self.number}")

        def drawn() -> tuple[str, int] | None:
            if len(self.history) >= MOST_FAULTS:
                return None
            return rng.choice(self.settings.faults), rng.randint(1, self.operations)

        return self._play(drawn)

    def play_once(self, fault: str, at: int) -> str:
        """The same with one fault only, before the operation `at` of the start."""
        return self._play(lambda: None if self.history else (fault, at))

    def _play(self, draw: Callable[[], tuple[str, int] | None]) -> str:
        try:
            while not self._ended(draw()):
                pass
            if self._faulty:
                self._tidy()
            self._check()
        except CrashFoundABug as error:
            raise CrashFoundABug(f"{'; '.join(self.history)}: {error}") from None
        return "; ".join(self.history)

    def _ended(self, drawn: tuple[str, int] | None) -> bool:
        """Start or resume under a fault; whether the search ended before it struck."""
        settings = self.settings
        verb = "start" if _unstarted(self.run) else "resume"
        command = [verb, settings.puzzle] if verb == "start" else [verb]
        command += [str(self.run), *(settings.options if verb == "start" else ())]
        if settings.max_depth is not None:
            command += ["--max-depth", str(settings.max_depth)]
        self._faulty = drawn is not None
        if drawn is None:
            done = under_fault(self.run, [], command)
            self.history.append(verb)
            expected = 0
        else:
            fault, at = drawn
            seed = f"{settings.seed}/{self.number}/{len(self.history)}"
            done = under_fault(self.run, ["--seed", seed, *FAULTS[fault], str(at)], command)
            self.history.append(f"{verb} {fault} {at}")
            expected = EXIT_CODES[fault]
        if done.returncode not in (0, expected):
            raise CrashFoundABug(f"exit code {done.returncode}: {done.stderr.strip()[-2000:]}")
        if done.returncode > 0 and not _unstarted(self.run):
            self._verify()  # what was refused in time has left nothing broken
        return done.returncode == 0

    def _tidy(self) -> None:
        """What a disk broken to the very end would not let go of, such as a status: resume does."""
        done = extbfs("resume", str(self.run))
        if done.returncode:
            raise CrashFoundABug(f"ended, and yet resume says {done.returncode}: {done.stderr}")

    def _verify(self) -> None:
        verified = extbfs("verify", str(self.run))
        if verified.returncode:
            raise CrashFoundABug(f"verify says {verified.stdout}{verified.stderr}")

    def _check(self) -> None:
        settings = self.settings
        found = counts_of(self.run)
        expected = audit.known_counts(settings.puzzle, settings.metric)
        if settings.max_depth is not None:
            expected = expected[: settings.max_depth + 1]
        if found != expected:
            raise CrashFoundABug(f"counts {found} instead of {expected}")
        self._verify()
        for what, wrong in (
            ("stray files", audit.stray_files(self.run)),
            ("missing files", audit.missing_files(self.run)),
            ("done twice", audit.repeated_pieces(self.run)),
        ):
            if wrong:
                raise CrashFoundABug(f"{what}: {', '.join(wrong)}")


def _unstarted(run: Path) -> bool:
    return not run.exists() or names.is_unstarted(str(run))


def extbfs(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as it is."""
    return _python("extbfs", *arguments)


def under_fault(
    run: Path, options: list[str], command: list[str]
) -> subprocess.CompletedProcess[str]:
    """Run the command line under the fault that `options` name."""
    arguments = ["--run", str(run), *options, "--", *command]
    return _python("tests.crash.under_fault", *arguments)


def _python(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=TIMEOUT
    )


def counts_of(run: Path) -> list[int]:
    """The states per depth that `extbfs export` tells."""
    done = extbfs("export", str(run), "--json")
    if done.returncode:
        raise CrashFoundABug(f"export says {done.stderr}")
    return [int(row["states"]) for row in json.loads(done.stdout)["depths"]]


def count_operations(settings: Settings, directory: Path) -> int:
    """How many durable operations a search has that nobody interrupts."""
    run, count = directory / "whole", directory / "operations"
    command = ["start", settings.puzzle, str(run), *settings.options]
    if settings.max_depth is not None:
        command += ["--max-depth", str(settings.max_depth)]
    done = under_fault(run, ["--count-to", str(count)], command)
    if done.returncode:
        raise CrashFoundABug(f"without any fault: exit code {done.returncode}: {done.stderr}")
    shutil.rmtree(run)
    return int(count.read_text())


def campaign(settings: Settings, rounds: range, directory: Path) -> None:
    """Play `rounds`, one line each on stdout; raises CrashFoundABug at the first that fails."""
    operations = count_operations(settings, directory)
    print(f"seed {settings.seed}: {settings.puzzle} takes {operations} durable operations")
    for number in rounds:
        this = Round(settings, number, directory, operations)
        print(f"round {number}: {this.play()}: as never interrupted", flush=True)
        shutil.rmtree(this.run)


def main(argv: list[str]) -> int:
    """The command line of a campaign; 0 if every round passed."""
    parser = argparse.ArgumentParser(prog="tests.crash.campaign", description=__doc__)
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**9)))
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="number of the first round")
    parser.add_argument("--puzzle", default="tiles:3x3")
    parser.add_argument("--metric", default="single", choices=sorted(audit.METRICS))
    parser.add_argument("--max-depth", type=int)
    parser.add_argument("--algebra", choices=["auto", "set", "fibre"])
    parser.add_argument("--keep", choices=["all", "frontier"])
    parser.add_argument("--checkpoint", default="0.05", help="seconds; short ones crash more often")
    parser.add_argument("--memory")
    parser.add_argument("--threads")
    parser.add_argument("--fault", choices=list(FAULTS), action="append", help="default: all")
    parser.add_argument("--directory", type=Path, help="where the run directories go")
    asked = parser.parse_args(argv)
    options = ["--exhaust"]
    for name in ("metric", "algebra", "keep", "checkpoint", "memory", "threads"):
        if getattr(asked, name) is not None:
            options += [f"--{name}", getattr(asked, name)]
    faults = tuple(asked.fault or FAULTS)
    settings = Settings(
        asked.puzzle, asked.metric, asked.max_depth, tuple(options), asked.seed, faults
    )
    directory = asked.directory or Path(tempfile.mkdtemp(prefix="extbfs-crash-"))
    rounds = range(asked.first, asked.first + asked.rounds)
    try:
        campaign(settings, rounds, directory)
    except CrashFoundABug as bug:
        print(f"FAILED: {bug}\nthe run is kept in {directory}; repeat with --seed {asked.seed}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
