"""Where finished runs go: small ones into the catalogue, the others to the files of their layer."""

from __future__ import annotations

from extbfs.engine.layerfile import LayerFiles
from extbfs.engine.ledger import StoredRun
from extbfs.engine.worker import Worker
from store.index import CACHED_ROWS, RunIndex
from store.run import RunMeta

INLINE_RUN = 1 << 15
INLINE_LAYER = 1 << 16
"""Runs of a layer up to so many bytes each, and so many together, live inside the catalogue."""
HANDED_OVER = 1 << 17
"""Bytes of a run from which the worker does not wait for its writing."""


class RunStore:
    """Puts the runs of one layer away; thread-safe.

    What goes to the files is durable once these are synced, the rest with the catalogue.
    """

    def __init__(self, files: LayerFiles) -> None:
        self._files = files
        self._inline_bytes = 0
        self._index_rows = 0

    def put(self, meta: RunMeta, data: memoryview, worker: Worker | None = None) -> StoredRun:
        """Put a run away. worker: the one whose builder has just finished it, if there is one."""
        size = len(data)
        if size <= INLINE_RUN and self._inline_bytes + size <= INLINE_LAYER:
            self._inline_bytes += size
            return StoredRun(meta, bytes(data))
        index = None if worker is None else self._index_of(worker, meta.blocks)
        if worker is None or size < HANDED_OVER:
            place = self._files.append(data)
        else:
            place = self._hand_over(worker, size)
        return StoredRun(meta.placed(*place), index=index)

    def _hand_over(self, worker: Worker, size: int) -> tuple[str, int]:
        """Let the writer write the run that the worker has just finished: (file name, offset)."""
        worker.wait_written()
        pages = worker.builder.pages()
        file, offset, worker.writing = self._files.hand_over(pages, size)
        worker.builder.swap()
        return file, offset

    def _index_of(self, worker: Worker, blocks: int) -> RunIndex | None:
        """The index of the run that the worker has just finished, if it is one of few to keep."""
        if self._index_rows + blocks > CACHED_ROWS:
            return None
        self._index_rows += blocks
        return worker.builder.index()
