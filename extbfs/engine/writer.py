"""The writer: a thread that writes what is finished while the crew computes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue


class Writing:
    """Something handed to the writer."""

    def __init__(self, write: Callable[[], None]) -> None:
        self._write = write
        self._under_way = threading.Lock()
        self._under_way.acquire()
        self._error: BaseException | None = None

    def run(self) -> None:
        """Do it; the writer's thread calls this."""
        try:
            self._write()
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


class Writer:
    """Does what it is given one after another, in one thread that begins with the first."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Writing | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def begin(self, write: Callable[[], None]) -> Writing:
        """Let write() be done in the background. Any thread may call."""
        writing = Writing(write)
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="writer", daemon=True)
                self._thread.start()
        self._jobs.put(writing)
        return writing

    def _serve(self) -> None:
        while (writing := self._jobs.get()) is not None:
            writing.run()

    def close(self) -> None:
        """Finish what was begun and end the thread."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None
