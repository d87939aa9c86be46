"""A search gives its memory back when it returns, without waiting for the cycle collector."""

from __future__ import annotations

import gc
import weakref

import pytest

from extbfs.engine.worker import Worker
from tests.extbfs.runs import search


@pytest.mark.parametrize("algebra", ["set", "fibre"])
def test_workers_go_with_the_search(tmp_path, monkeypatch, algebra):
    made: list[weakref.ref[Worker]] = []
    inner = Worker.__init__

    def note(worker, *arguments):
        inner(worker, *arguments)
        made.append(weakref.ref(worker))

    monkeypatch.setattr(Worker, "__init__", note)
    gc.disable()
    try:
        search("tiles:2x3", tmp_path / "run", algebra=algebra)
        assert [reference() for reference in made] == [None, None]
    finally:
        gc.enable()
