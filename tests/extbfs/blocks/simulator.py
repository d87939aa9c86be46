"""A board that a person moves pieces on: reads the definition by itself, knows only cells.

Nothing of the program is used: the XML is read here once more, pieces are sets of cells with the
names of the file, and a move that a person could not make is an AssertionError.
"""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree

Cell = tuple[int, int]
Cells = frozenset[Cell]
WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def pair(text: str | None) -> Cell:
    y, x = (text or "").split(",")
    return int(y), int(x)


def shifted(cells: Cells, dy: int, dx: int) -> Cells:
    return frozenset((y + dy, x + dx) for y, x in cells)


class Simulator:
    """Pieces by name on a board; rows and columns from 1."""

    def __init__(self, board: Cells, pieces: Mapping[str, Cells]) -> None:
        self.board = board
        self.pieces = dict(pieces)

    def move(self, text: str) -> str:
        """Make one move, as in "musume down 2, left"; returns the piece's name."""
        name = max((n for n in self.pieces if text.startswith(n + " ")), key=len)
        others = frozenset().union(*(c for n, c in self.pieces.items() if n != name))
        for leg in text[len(name) + 1 :].split(", "):
            way, _, times = leg.partition(" ")
            for _ in range(int(times or 1)):
                self.pieces[name] = shifted(self.pieces[name], *WAYS[way])
                assert self.pieces[name] <= self.board - others, text
        return name

    def picture(self) -> dict[Cell, str]:
        """The piece in every covered cell."""
        return {cell: name for name, cells in self.pieces.items() for cell in cells}


class FromXml(Simulator):
    """The puzzle of a file of the article's format, with its goal."""

    def __init__(self, xml: bytes) -> None:
        root = ElementTree.fromstring(xml)
        height, width = pair(root.findtext("board/size"))
        cells = {(y, x) for y in range(1, height - 1) for x in range(1, width - 1)}
        walls = {pair(wall.text) for wall in root.iterfind("board/extwall")}
        self._shapes = {entry.get("name"): shape(entry) for entry in root.iterfind("clssiz/class")}
        self._classes: dict[str, str] = {}
        pieces: dict[str, Cells] = {}
        self._goals: dict[str, Cells] = {}
        self._by_class = root.findtext("board/goaltype", "byid").strip() == "byclass"
        for entry in root.iterfind("komaset/koma"):
            name = " ".join(str(entry.get("name")).split())
            self._classes[name] = str(entry.findtext("class")).strip()
            form = self._shapes[self._classes[name]]
            pieces[name] = shifted(form, *pair(entry.findtext("init")))
            if entry.find("goal") is not None:
                self._goals[name] = shifted(form, *pair(entry.findtext("goal")))
        super().__init__(frozenset(cells - walls), pieces)

    def solved(self) -> bool:
        """Whether the pieces with a goal, or others of their class, are there."""
        for name, goal in self._goals.items():
            able = [name]
            if self._by_class:
                able = [n for n, kind in self._classes.items() if kind == self._classes[name]]
            if not any(self.pieces[n] == goal for n in able):
                return False
        return True


def shape(entry: ElementTree.Element) -> Cells:
    """The cells of a class from the top left of its bounding box."""
    height, width = pair(entry.findtext("size"))
    bitmap = entry.findtext("bitmap", "1" * (height * width))
    bits = [bit for bit in bitmap if bit in "01"]
    assert len(bits) == height * width
    return frozenset(divmod(i, width) for i, bit in enumerate(bits) if bit == "1")
