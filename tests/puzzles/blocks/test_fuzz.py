"""Whatever is read ends in a model or in a PuzzleError of one sentence, soon."""

from __future__ import annotations

import json
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from puzzles.blocks import render
from puzzles.blocks.definition import build
from puzzles.blocks.drawing import read_drawing
from puzzles.blocks.family import FAMILY
from puzzles.blocks.gnome import read_json, read_map
from puzzles.blocks.index import index, read
from puzzles.blocks.model import Model
from puzzles.blocks.xml_format import read_xml
from puzzles.errors import PuzzleError

QUICK = settings(max_examples=200, deadline=timedelta(seconds=2))
TAGS: tuple[str, ...] = (
    "puzzle",
    "board",
    "size",
    "extwall",
    "goaltype",
    "mirrorident",
    "clssiz",
    "class",
)
TAGS += ("bitmap", "komaset", "koma", "init", "goal", "short", "other")
NUMBERS = st.integers(-2, 9)
PAIR = st.builds("{}, {}".format, NUMBERS, NUMBERS)
SOME = st.one_of(PAIR, st.text(max_size=8), st.sampled_from(["a", "b", "byid", "byclass", "True"]))


def attempt(function, *arguments, **options):
    """What the function returns, or None after a PuzzleError of one sentence."""
    try:
        return function(*arguments, **options)
    except PuzzleError as error:
        sentence = str(error)
    assert "\n" not in sentence
    assert len(sentence) < 1000
    return None


def holds(reader, data):
    """Read it, and hold what comes out to what a model promises."""
    model = attempt(lambda: build(reader(data, "fuzz")))
    if model is None:
        return
    assert Model.from_spec(model.to_spec()) == model
    seen: set = set(model.walls)
    for kind, anchors in zip(model.kinds, model.start, strict=True):
        assert kind.cells[0] == (0, 0)
        assert kind.count == len(kind.pieces) == len(anchors) > 0
        for y, x in anchors:
            cells = {(y + dy, x + dx) for dy, dx in kind.cells}
            assert not cells & seen
            assert all(0 <= a < model.height and 0 <= b < model.width for a, b in cells)
            seen |= cells
    assert render.parse(model, render.draw(model, model.start)) == model.start


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


@st.composite
def trees(draw, depth=0):
    tag = draw(st.sampled_from(TAGS))
    name = f' name="{escape(draw(SOME))}"' if draw(st.booleans()) else ""
    text = escape(draw(SOME))
    children = draw(st.lists(trees(depth + 1), max_size=3)) if depth < 3 else []
    return f"<{tag}{name}>{text}{''.join(children)}</{tag}>"


@st.composite
def puzzles(draw):
    """XML of the right form, with any numbers in it."""
    classes = draw(st.lists(st.tuples(PAIR, st.text("01 x", max_size=9)), min_size=1, max_size=3))
    pieces = draw(st.lists(st.tuples(st.integers(0, 3), PAIR, st.none() | PAIR), max_size=6))
    walls = draw(st.lists(PAIR, max_size=2))
    board = f"<size>{draw(st.integers(2, 9))}, {draw(st.integers(2, 9))}</size>"
    board += "".join(f"<extwall>{wall}</extwall>" for wall in walls)
    board += draw(st.sampled_from(["", "<goaltype>byclass</goaltype>"]))
    return (
        f"<puzzle><board>{board}</board><clssiz>"
        + "".join(
            f'<class name="{i}"><size>{size}</size>'
            + (f"<bitmap>{bits}</bitmap>" if bits else "")
            + "</class>"
            for i, (size, bits) in enumerate(classes)
        )
        + "</clssiz><komaset>"
        + "".join(
            f'<koma name="p{i}"><class>{of}</class><init>{init}</init>'
            + (f"<goal>{goal}</goal>" if goal else "")
            + "</koma>"
            for i, (of, init, goal) in enumerate(pieces)
        )
        + "</komaset></puzzle>"
    )


@QUICK
@given(st.binary(max_size=400))
def test_any_bytes_as_xml(data):
    holds(read_xml, data)


@QUICK
@given(trees())
def test_any_tree_of_known_elements(text):
    holds(read_xml, text.encode("utf-8", "replace"))


@QUICK
@given(puzzles())
def test_puzzles_with_any_numbers(text):
    holds(read_xml, text.encode())


@QUICK
@given(
    st.sampled_from(sorted(index())),
    st.lists(st.tuples(st.integers(0, 3000), st.binary(max_size=6)), min_size=1, max_size=4),
)
def test_library_files_with_damage(name, damage):
    data = read(name)
    for at, more in damage:
        data = data[:at] + more + data[at + len(more) // 2 :]
    holds(read_xml, data)


@QUICK
@given(st.text(max_size=300) | st.text("ab*#.- \n", max_size=80))
def test_any_text_as_a_drawing_or_a_map(text):
    holds(read_drawing, text)
    holds(read_map, text)
    holds(read_json, text)


@QUICK
@given(st.integers(1, 5), st.integers(1, 5), st.data())
def test_drawings_of_the_right_form(height, width, data):
    row = st.text("aabc#.", min_size=width, max_size=width)
    rows = data.draw(st.lists(row, min_size=height, max_size=height))
    goal = data.draw(st.just([]) | st.lists(row, min_size=height, max_size=height))
    holds(read_drawing, "\n".join([*rows, "", *goal]))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@QUICK
@given(st.dictionaries(st.sampled_from(["rows", "goal"]), JSON) | JSON)
def test_any_json(data):
    holds(read_json, json.dumps(data))


@QUICK
@given(
    st.dictionaries(
        st.sampled_from(["name", "title", "source", "size", "walls", "kinds", "symmetric_allowed"]),
        JSON,
    )
)
def test_any_stored_spec(data):
    attempt(Model.from_spec, {**FAMILY.model("simplicity").to_spec(), **data})


@QUICK
@given(st.text(max_size=100) | st.text("rbgy#. /\n", max_size=40))
def test_any_layout(text):
    model = FAMILY.model("simplicity2")
    for partial in (False, True):
        placement = attempt(render.parse, model, text, partial=partial)
        assert placement is None or len(placement) == len(model.kinds)
