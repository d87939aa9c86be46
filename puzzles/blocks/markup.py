"""A small tree of elements from XML that nobody vouches for.

No DTD, so no entities and nothing external; size, depth and number of elements are bounded before
anything is built. Text may be in any of the encodings below; Python decodes it, not the parser.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from puzzles.errors import PuzzleError

LARGEST = 256 * 1024  # bytes
MOST_ELEMENTS = 10_000
DEEPEST = 8

_ENCODINGS = (
    *("utf-8", "utf-16", "ascii", "iso8859-1", "cp1252"),
    *("shift_jis", "cp932", "euc_jp", "iso2022_jp"),
)
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_DECLARATION = re.compile(r"^\s*<\?xml\s[^>]*\?>")


@dataclass
class Element:
    """An element: its name, attributes, own text without that of its children, and line."""

    tag: str
    attributes: dict[str, str]
    line: int
    parts: list[str] = field(default_factory=list)
    children: list[Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts).strip()


def parse(data: bytes) -> Element:
    """The root element. Raises PuzzleError, always one sentence, on anything that is not plain."""
    if len(data) > LARGEST:
        raise PuzzleError(f"the XML is larger than {LARGEST // 1024} KiB")
    # The declaration is cut off since what is left is parsed as UTF-8, and so that blank lines
    # before it do no harm; line numbers stay.
    text = _DECLARATION.sub(lambda found: "\n" * found[0].count("\n"), _decode(data))
    builder = _Builder()
    try:
        builder.parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        raise PuzzleError(
            f"line {error.lineno} is not well-formed XML: {expat.ErrorString(error.code)}"
        ) from None
    assert builder.root is not None
    return builder.root


def _decode(data: bytes) -> str:
    declared = _DECLARED.match(data)
    name = "utf-8-sig" if declared is None else declared[1].decode("ascii")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        name = "utf-16"
    try:
        known = codecs.lookup(name).name
    except LookupError:
        known = ""
    if known == "utf-8":
        known = "utf-8-sig"
    if known.removesuffix("-sig") not in _ENCODINGS:
        raise PuzzleError(f"the XML is in the encoding {name}, and should be in UTF-8")
    try:
        return data.decode(known)
    except UnicodeDecodeError as error:
        raise PuzzleError(f"byte {error.start} of the XML is not valid {name}") from None


class _Builder:
    """Keeps the open elements while the parser runs, and refuses what is out of bounds."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0
        self.parser = expat.ParserCreate("utf-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._doctype

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        self.count += 1
        if self.count > MOST_ELEMENTS or len(self.open) >= DEEPEST:
            raise PuzzleError(
                f"the XML has more than {MOST_ELEMENTS} elements or {DEEPEST} levels at line {line}"
            )
        element = Element(tag, attributes, line)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def _end(self, tag: str) -> None:
        self.open.pop()

    def _text(self, text: str) -> None:
        self.open[-1].parts.append(text)

    def _doctype(self, *_: object) -> NoReturn:
        raise PuzzleError(
            f"line {self.parser.CurrentLineNumber} begins a document type, which may define"
            " entities: leave it out, a puzzle needs none"
        )
