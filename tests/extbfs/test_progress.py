"""What is shown while a search runs: plain lines now and then, or a display that vanishes."""

from __future__ import annotations

import io

import pytest

from extbfs import progress
from extbfs.progress import Display, Plain
from tests.extbfs.samples import rows, running


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_a_depth_has_a_line_of_its_own(clock):
    out = io.StringIO()
    plain = Plain(out, clock)
    clock.now += 2
    plain.on_event({"event": "depth", **rows()[4]})
    assert out.getvalue() == "depth 4: 16 states, 31 so far, 0.01 s, 56 B\n"


def test_many_small_depths_do_not_flood(clock):
    out = io.StringIO()
    plain = Plain(out, clock)
    for row in rows():
        clock.now += 0.125
        plain.on_event({"event": "depth", **row})
    assert [int(line.split()[1][:-1]) for line in out.getvalue().splitlines()] == [7, 15, 23, 31]


def test_progress_comes_every_quarter_of_a_minute(clock):
    out = io.StringIO()
    plain = Plain(out, clock)
    for _ in range(100):
        clock.now += 0.5
        plain.on_event({"event": "progress", "status": running()})
    lines = out.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0] == (
        "depth 21, merge 43.2 %, 23.4 M/s, 391 KiB on disk, about 3 min 20 s left in this depth"
    )


def test_messages_always_appear(clock):
    out = io.StringIO()
    plain = Plain(out, clock)
    plain.on_event({"event": "message", "text": "compiling"})
    plain.on_event({"event": "message", "text": "ready\x1b"})
    assert out.getvalue() == "compiling\nready?\n"


def test_unknown_events_are_passed_over(clock):
    out = io.StringIO()
    Plain(out, clock).on_event({"event": "tomorrow"})
    assert out.getvalue() == ""


class Gone(io.StringIO):
    """A terminal whose other end was closed."""

    def write(self, text):
        raise BrokenPipeError

    def flush(self):
        raise BrokenPipeError


@pytest.mark.parametrize("kind", [Plain, Display])
def test_a_terminal_that_has_gone_never_ends_the_search(kind):
    with kind(Gone()) as shown:
        shown.on_event({"event": "message", "text": "x"})
        shown.on_event({"event": "depth", **rows()[0]})
        shown.on_event({"event": "progress", "status": running()})


def test_the_display_shows_the_status_and_its_last_rows(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "40")
    out = io.StringIO()
    with Display(out) as display:
        display.on_event({"event": "message", "text": "loading [bold]kernels[/bold]"})
        display.on_event({"event": "progress", "status": running()})
    text = out.getvalue()
    assert "loading [bold]kernels[/bold]" in text
    assert "merge 43.2 %" in text
    assert str(rows()[20]["states"]) in text
    assert "depth  states" in text


@pytest.mark.parametrize(("terminal", "kind"), [(True, Display), (False, Plain)])
def test_the_kind_depends_on_stderr(terminal, kind, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    assert isinstance(progress.observer(), kind)
