"""The syncer: a thread that makes written files durable while the crew computes on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from queue import SimpleQueue

from extbfs.engine.background import Background
from extbfs.engine.crew import Event


class Syncer:
    """Runs sync jobs one after another and posts an event when each is done.

    An error of a job is posted as ("sync-failed", error); jobs after it are not run: what they
    would have made durable is never recorded.
    """

    def __init__(self, events: SimpleQueue[Event]) -> None:
        self._events = events
        self._background = Background("syncer")
        self._failed = False

    def submit(self, sync: Callable[[], None], event: Event) -> None:
        """Run sync() in the background, then post `event`. Any thread may call."""
        self._background.begin(partial(self._do, sync, event))

    def _do(self, sync: Callable[[], None], event: Event) -> None:
        if self._failed:
            self._events.put(("sync-skipped", event))
            return
        try:
            sync()
        except BaseException as error:
            self._failed = True
            self._events.put(("sync-failed", error))
        else:
            self._events.put(event)

    def close(self) -> None:
        """Finish what was submitted and end the thread."""
        self._background.close()
