"""When to stop and when to checkpoint: signals and the clock, looked at by the coordinator."""

from __future__ import annotations

import os
import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class Control:
    """Catches Ctrl-C, TERM and HUP for its life as a context manager, and watches the clock.

    The first signal asks for a checkpoint and an orderly end; the second ends the process at once,
    which a killed run survives as well. Durations are monotonic.
    """

    def __init__(self, checkpoint: float, max_seconds: float | None) -> None:
        self.checkpoint = checkpoint
        self.max_seconds = max_seconds
        self.signal: int | None = None
        self.started = time.monotonic()
        self.last_checkpoint = self.started
        self._old: dict[int, Any] = {}

    def __enter__(self) -> Control:
        if threading.current_thread() is threading.main_thread():
            for name in SIGNALS:
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                    self._old[number] = signal.signal(number, self._caught)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)
        self._old = {}

    def _caught(self, number: int, frame: FrameType | None) -> None:
        if self.signal is not None:
            os.write(2, b"\nextbfs: ended at once; the last checkpoint is intact\n")
            os._exit(128 + number)
        self.signal = number

    @property
    def elapsed(self) -> float:
        """Seconds since this process began to search."""
        return time.monotonic() - self.started

    @property
    def out_of_time(self) -> bool:
        """Whether --max-seconds have passed."""
        return self.max_seconds is not None and self.elapsed >= self.max_seconds

    @property
    def go_on(self) -> bool:
        """Whether neither a signal nor the clock asks to stop."""
        return self.signal is None and not self.out_of_time

    @property
    def checkpoint_due(self) -> bool:
        """Whether work should be made durable now, so that the interval is kept."""
        return time.monotonic() - self.last_checkpoint >= 0.8 * self.checkpoint

    def checkpoint_begun(self) -> None:
        """Start the interval anew."""
        self.last_checkpoint = time.monotonic()
