"""A thread that does things one after another while the crew computes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue


class Task:
    """Something to be done in the background."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._under_way = threading.Lock()
        self._under_way.acquire()
        self._error: BaseException | None = None

    def run(self) -> None:
        """Do it; the background's thread calls this."""
        try:
            self._work()
        except BaseException as error:
            self._error = error
        finally:
            self._under_way.release()

    def wait(self) -> None:
        """Wait until it is done, well or badly."""
        with self._under_way:
            pass

    def result(self) -> None:
        """Wait until it is done; raises what went wrong with it."""
        self.wait()
        if self._error is not None:
            raise self._error


class Background:
    """Does what it is given one after another, in one thread that begins with the first."""

    def __init__(self, name: str) -> None:
        """name: of the thread."""
        self._name = name
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def begin(self, work: Callable[[], None]) -> Task:
        """Let work() be done in the background. Any thread may call."""
        task = Task(work)
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
                self._thread.start()
        self._tasks.put(task)
        return task

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            task.run()

    def close(self) -> None:
        """Finish what was begun and end the thread."""
        if self._thread is not None:
            self._tasks.put(None)
            self._thread.join()
            self._thread = None
