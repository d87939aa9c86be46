"""Reads the Hakoiri XML format, as its author's own files have it.

    <puzzle name="...">
      <board> <size>h, w</size>            with the border of one cell all round
              <extwall>y, x</extwall>      any number
              <goaltype>byid</goaltype>    or byclass: any piece of the class may get to the goal
              <mirrorident>False</mirrorident>   mirror images are told apart
      </board>
      <clssiz> <class name="..."><size>h, w</size> <bitmap>11 10</bitmap></class> ... </clssiz>
      <komaset> <koma name="..."><class>...</class><init>y, x</init>
                <goal>y, x</goal><short>ab</short></koma> ... </komaset>
    </puzzle>

y, x count from 1 at the top left inside the border and name the top left of the piece's bounding
box, which its bitmap may leave empty. In a bitmap only 0 and 1 count. A class may hold its size as
plain text. What the format does not know is refused, since a slip would be another puzzle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from puzzles.blocks.definition import (
    ClassDefinition,
    Definition,
    PieceDefinition,
    check_name,
    check_size,
)
from puzzles.blocks.markup import Element, parse
from puzzles.blocks.model import Cell
from puzzles.errors import PuzzleError

_PAIR = re.compile(r"([+-]?[0-9]{1,6})(?:\s*,\s*|\s+)([+-]?[0-9]{1,6})")
_TRUTH = {
    **dict.fromkeys(("true", "on", "yes", "1"), True),
    **dict.fromkeys(("false", "off", "no", "0"), False),
}


def read_xml(data: bytes, name: str) -> Definition:
    """The definition in an XML file that is called `name`. Raises PuzzleError."""
    root = parse(data)
    if root.tag != "puzzle":
        raise PuzzleError(f"the XML begins with <{root.tag:.40}>, and a puzzle with <puzzle>")
    title = " ".join(_attributes(root, ("name",)).get("name", "").split())
    sections = _fields(root, ("board", "clssiz", "komaset"))
    for section in ("board", "clssiz", "komaset"):
        if section not in sections:
            raise PuzzleError(f"<puzzle> has no <{section}>")
    board = sections["board"]
    _attributes(board, ())
    fields = _fields(board, ("size", "goaltype", "mirrorident"), many=("extwall",))
    outer = _pair(_needed(fields, "size", "<board>"), "the board")
    size = outer[0] - 2, outer[1] - 2
    if min(size) < 1:
        raise PuzzleError(
            f"the board's size of {outer[0]}, {outer[1]} includes a border of one cell all round,"
            " which leaves no cell inside: both must be at least 3"
        )
    check_size("a board", size)
    return Definition(
        name=name,
        title=check_name("the puzzle", title) if title else "",
        size=size,
        walls=frozenset(_walls(board, size)),
        classes=tuple(_classes(sections["clssiz"])),
        pieces=tuple(_pieces(sections["komaset"])),
        by_id=_goal_type(fields.get("goaltype")),
        symmetric_allowed=_truth(fields.get("mirrorident")),
    )


def _walls(board: Element, size: Cell) -> Iterable[Cell]:
    """The walls inside the border; one that names the border itself adds nothing."""
    for child in board.children:
        if child.tag == "extwall":
            y, x = _pair(child, "the board")
            if not (0 <= y <= size[0] + 1 and 0 <= x <= size[1] + 1):
                raise PuzzleError(
                    f"the <extwall> of line {child.line} is at row {y}, column {x}, off the board"
                    f" of {size[0]} x {size[1]}"
                )
            if 1 <= y <= size[0] and 1 <= x <= size[1]:
                yield y - 1, x - 1


def _classes(section: Element) -> Iterable[ClassDefinition]:
    for element, name in _named(section, "class"):
        what = f"class {name}"
        fields = _fields(element, ("size", "bitmap"), text=True)
        if element.text and "size" in fields:
            raise PuzzleError(f"{what} has its size twice, as <size> and as {element.text!r:.40}")
        size = _pair(element if element.text else _needed(fields, "size", what), what)
        check_size(what, size)
        bitmap = None
        if "bitmap" in fields:
            bitmap = "".join(bit for bit in fields["bitmap"].text if bit in "01")
        yield ClassDefinition(name, size, bitmap)


def _pieces(section: Element) -> Iterable[PieceDefinition]:
    for element, name in _named(section, "koma"):
        what = f"piece {name}"
        fields = _fields(element, ("class", "init", "goal", "short"))
        init = _pair(_needed(fields, "init", what), what)
        goal = _pair(fields["goal"], what) if "goal" in fields else None
        yield PieceDefinition(
            name=name,
            class_name=check_name(
                f"the class of {what}", _needed(fields, "class", what).text or ""
            ),
            init=(init[0] - 1, init[1] - 1),
            goal=None if goal is None else (goal[0] - 1, goal[1] - 1),
            short=" ".join(fields["short"].text.split()) if "short" in fields else "",
        )


def _named(section: Element, tag: str) -> Iterable[tuple[Element, str]]:
    _attributes(section, ())
    _fields(section, (), many=(tag,))
    for element in section.children:
        name = _attributes(element, ("name",)).get("name", "")
        yield element, check_name(f"the <{tag}> of line {element.line}", name)


def _attributes(element: Element, known: Sequence[str]) -> dict[str, str]:
    for name in element.attributes:
        if name not in known:
            raise PuzzleError(
                f"<{element.tag}> of line {element.line} has an attribute {name:.40}, which the"
                " format does not know"
            )
    return element.attributes


def _fields(
    element: Element, once: Sequence[str], many: Sequence[str] = (), *, text: bool = False
) -> dict[str, Element]:
    """The children that may come once, by name; those of `many` only have to be known."""
    fields: dict[str, Element] = {}
    for child in element.children:
        if child.tag not in once and child.tag not in many:
            raise PuzzleError(
                f"<{element.tag}> has <{child.tag:.40}> in line {child.line}, and may have"
                f" {', '.join(f'<{tag}>' for tag in (*once, *many))}"
            )
        if child.tag in fields:
            raise PuzzleError(f"<{element.tag}> has a second <{child.tag}> in line {child.line}")
        if child.tag in once:
            fields[child.tag] = child
    if element.text and not text:
        raise PuzzleError(
            f"<{element.tag}> of line {element.line} has the text {element.text!r:.40} outside of"
            " any element"
        )
    return fields


def _needed(fields: dict[str, Element], tag: str, what: str) -> Element:
    if tag not in fields:
        raise PuzzleError(f"{what} has no <{tag}>")
    return fields[tag]


def _leaf(element: Element) -> str:
    _attributes(element, () if element.tag != "class" else ("name",))
    for child in element.children:
        if child.tag != "bitmap":
            raise PuzzleError(
                f"<{element.tag}> has <{child.tag:.40}> in line {child.line}, and may have text"
            )
    return element.text


def _pair(element: Element, of: str) -> Cell:
    text = _leaf(element)
    found = _PAIR.fullmatch(text)
    if found is None:
        raise PuzzleError(
            f"<{element.tag}> of {of} is {text!r:.40} in line {element.line}, and should be two"
            " numbers, as in 2, 1"
        )
    return int(found[1]), int(found[2])


def _goal_type(element: Element | None) -> bool:
    text = "byid" if element is None else _leaf(element).lower()
    if text not in ("byid", "byclass"):
        raise PuzzleError(f"<goaltype> is {text!r:.40}, and should be byid or byclass")
    return text == "byid"


def _truth(element: Element | None) -> bool:
    text = "true" if element is None else _leaf(element).lower()
    if text not in _TRUTH:
        raise PuzzleError(f"<mirrorident> is {text!r:.40}, and should be True or False")
    return _TRUTH[text]
