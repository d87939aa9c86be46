"""The syncer: a thread that makes written files durable while the crew computes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

from extbfs.engine.crew import Event


class Syncer:
    """Runs sync jobs one after another and posts an event when each is done.

    An error of a job is posted as ("sync-failed", error); jobs after it are not run: what they
    would have made durable is never recorded.
    """

    def __init__(self, events: SimpleQueue[Event]) -> None:
        self._events = events
        self._jobs: SimpleQueue[tuple[Callable[[], None], Event] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._failed = False

    def submit(self, sync: Callable[[], None], event: Event) -> None:
        """Run sync() in the background, then post `event`. Any thread may call."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="syncer", daemon=True)
            self._thread.start()
        self._jobs.put((sync, event))

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            sync, event = job
            if self._failed:
                self._events.put(("sync-skipped", event))
                continue
            try:
                sync()
            except BaseException as error:
                self._failed = True
                self._events.put(("sync-failed", error))
            else:
                self._events.put(event)

    def close(self) -> None:
        """Finish what was submitted and end the thread."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None
