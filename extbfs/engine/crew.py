"""The crew: worker threads that pull jobs from one iterator and report to the coordinator.

Only the coordinator (the calling thread) touches the catalogue, the status and the signals; the
crew computes, reads and writes files. A job is an integer; jobs are handed out in order.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from extbfs.engine.worker import Worker

TICK = 0.1
"""Seconds the coordinator waits for news before it looks at clock and signals again."""

Event = tuple[str, Any]
Work = Callable[[Worker, int], Event | None]
"""Does a job; what is to be reported of it."""


class Crew:
    """A fixed set of threads, one a worker, alive from start() to close()."""

    def __init__(self, workers: Sequence[Worker]) -> None:
        self.workers = list(workers)
        self.events: SimpleQueue[Event] = SimpleQueue()
        self._inboxes: list[SimpleQueue[Any]] = [SimpleQueue() for _ in workers]
        self._threads: list[threading.Thread] = []

    def _start(self) -> None:
        for worker, inbox in zip(self.workers, self._inboxes, strict=True):
            thread = threading.Thread(
                target=self._serve, args=(worker, inbox), name=f"worker-{worker.number}"
            )
            thread.daemon = True
            thread.start()
            self._threads.append(thread)

    def _serve(self, worker: Worker, inbox: SimpleQueue[Any]) -> None:
        while (shift := inbox.get()) is not None:
            shift.serve(worker)
            self.events.put(("done", worker.number))

    def run(
        self,
        jobs: Sequence[int],
        work: Work,
        handle: Callable[[Event], None],
        tick: Callable[[], bool],
        *,
        everyone: bool = False,
        grain: int = 1,
    ) -> bool:
        """Run work(worker, job) for every job; True when all were done, False when stopped.

        handle(event) is called in the calling thread for what the crew posts, and ("news", events)
        for what some jobs report; tick() a few times a second; when it returns False no further job
        is handed out. The first exception of a job stops the rest and is raised here once all
        workers are at rest. A single job runs in the calling thread. With `everyone`, job i is
        given to worker i. grain: neighbouring jobs that one worker does in a row, fewer towards the
        end, so that all end together.
        """
        shift = Shift(jobs, work, self.events.put, everyone, grain, len(self.workers))
        if len(jobs) <= 1 and not everyone:
            shift.serve(self.workers[0])
            while not self.events.empty():
                handle(self.events.get())
        else:
            if not self._threads:
                self._start()
            for inbox in self._inboxes:
                inbox.put(shift)
            active = len(self.workers)
            while active:
                try:
                    event = self.events.get(timeout=TICK)
                except Empty:
                    event = None
                if event is not None:
                    if event[0] == "done":
                        active -= 1
                    else:
                        try:
                            handle(event)
                        except BaseException as error:
                            shift.fail(error)
                try:
                    if not tick():
                        shift.stop()
                except BaseException as error:
                    shift.fail(error)
        if shift.error is not None:
            raise shift.error
        return shift.complete

    def close(self) -> None:
        """Send the threads home."""
        for inbox in self._inboxes:
            inbox.put(None)
        for thread in self._threads:
            thread.join()
        self._threads = []


class Shift:
    """One hand-out of jobs to the crew."""

    def __init__(
        self,
        jobs: Sequence[int],
        work: Work,
        post: Callable[[Event], None],
        everyone: bool,
        grain: int,
        workers: int,
    ) -> None:
        self._jobs = jobs
        self._post = post
        self._grain = grain
        self._workers = workers
        self._done = 0
        self._work = work
        self._everyone = everyone
        self._next = 0
        self._lock = threading.Lock()
        self._stopped = False
        self.error: BaseException | None = None

    def serve(self, worker: Worker) -> None:
        """Work off jobs until none is left or the shift is stopped."""
        try:
            if self._everyone:
                self._work(worker, self._jobs[worker.number])
                with self._lock:
                    self._done += 1
                return
            while batch := self._take():
                self._do(worker, batch)
        except BaseException as error:
            self.fail(error)

    def _do(self, worker: Worker, batch: Sequence[int]) -> None:
        """Work off some jobs; report together what takes less than a tick, and wake nobody else."""
        news: list[Event] = []
        done = 0
        reported = time.monotonic()
        try:
            for job in batch:
                if self._stopped:
                    return
                event = self._work(worker, job)
                if event is not None:
                    news.append(event)
                done += 1
                if time.monotonic() - reported >= TICK:
                    self._post(("news", news))
                    news, reported = [], time.monotonic()
        finally:
            with self._lock:
                self._done += done
            if news:
                self._post(("news", news))

    def _take(self) -> Sequence[int]:
        with self._lock:
            if self._stopped:
                return ()
            left = len(self._jobs) - self._next
            size = max(1, min(self._grain, left // (2 * self._workers)))
            batch = self._jobs[self._next : self._next + size]
            self._next += len(batch)
            return batch

    def stop(self) -> None:
        """Hand out no further job."""
        self._stopped = True

    def fail(self, error: BaseException) -> None:
        """Stop, and remember the first error."""
        with self._lock:
            if self.error is None:
                self.error = error
        self._stopped = True

    @property
    def complete(self) -> bool:
        """Whether every job was handed out and done."""
        return self._done == len(self._jobs)
