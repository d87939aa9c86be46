"""The Hakoiri XML format: files as users hold them, and one sentence for each way to be wrong."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from puzzles.blocks import markup
from puzzles.blocks.definition import build
from puzzles.blocks.family import model_of_file
from puzzles.blocks.xml_format import read_xml
from puzzles.errors import PuzzleError

FILES = Path(__file__).with_name("files")

BOARD = "<size>7, 6</size>"
CLASSES = (
    '<class name="big"><size>2, 2</size></class><class name="vert"><size>2, 1</size></class>'
    '<class name="small"><size>1, 1</size></class>'
)
MUSUME = '<koma name="musume"><class>big</class><init>1, 2</init><goal>4, 2</goal></koma>'
CHICHI = '<koma name="chichi"><class>vert</class><init>1, 1</init></koma>'
KADOU = '<koma name="kadou"><class>small</class><init>5, 4</init></koma>'


def xml(board=BOARD, classes=CLASSES, pieces=(MUSUME, CHICHI, KADOU), name="small"):
    return (
        f'<puzzle name="{name}"><board>{board}</board><clssiz>{classes}</clssiz>'
        f"<komaset>{''.join(pieces)}</komaset></puzzle>"
    )


def model(text, name="test"):
    data = text if isinstance(text, bytes) else text.encode()
    return build(read_xml(data, name))


def koma(name="more", of="small", init="5, 1", rest=""):
    return f'<koma name="{name}"><class>{of}</class><init>{init}</init>{rest}</koma>'


def refuses(text, message):
    with pytest.raises(PuzzleError, match=message) as caught:
        model(text)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 300
    assert sentence.isprintable()


class TestFilesAsUsersHoldThem:
    def test_a_comment_first_and_fields_in_any_order(self):
        found = model_of_file(FILES / "drawer.xml")
        assert (found.name, found.title) == ("drawer", "The Drawer")
        assert (found.height, found.width, *found.walls) == (3, 4, (0, 3))
        assert [kind.name for kind in found.kinds] == ["hook", "bar", "dot"]
        hook = found.kinds[0]
        # The file names the top left of the bounding box, where the hook has no cell; a dot has.
        assert (hook.cells, hook.corner) == (((0, 0), (1, -1), (1, 0)), (0, -1))
        assert found.start == (((0, 1),), ((2, 0), (2, 2)), ((0, 0),))
        assert found.goal == (((1, 3),), (), ())
        assert found.kinds[1].shorts == ("l", "r")

    def test_sizes_as_plain_text(self):
        found = model_of_file(FILES / "plain-sizes.xml")
        assert [kind.cells for kind in found.kinds] == [((0, 0), (0, 1)), ((0, 0),)]

    def test_a_goal_tells_apart_and_case_and_blanks_do_not_matter(self):
        found = model_of_file(FILES / "told-apart.xml")
        assert [kind.pieces for kind in found.kinds] == [("b",), ("a", "c")]
        assert found.start == (((0, 1),), ((0, 0), (0, 2)))
        assert found.start_pieces == (("b",), ("c", "a"))
        assert found.goal == (((1, 3),), ())
        assert not found.symmetric_allowed

    def test_japanese_encodings(self):
        found = model_of_file(FILES / "shift-jis.xml")
        assert (found.title, found.kinds[0].pieces) == ("箱入り娘の妹", ("妹",))

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "latin-1"])
    def test_other_encodings(self, encoding):
        declared = {"utf-16": "utf-16", "utf-8-sig": "UTF-8", "latin-1": "ISO-8859-1"}[encoding]
        text = f'<?xml version="1.0" encoding="{declared}"?>\n' + xml(name="Âne")
        assert model(text.encode(encoding)).title == "Âne"

    def test_any_piece_of_the_class(self):
        pieces = [koma("a", rest="<goal>1, 1</goal>"), koma("b", init="5, 2")]
        found = model(xml(BOARD + "<goaltype>byclass</goaltype>", pieces=pieces))
        assert [(kind.name, kind.count) for kind in found.kinds] == [("small", 2)]
        assert found.goal == (((0, 0),),)

    def test_all_pieces_of_a_class_told_apart(self):
        pieces = [
            koma("a", rest="<goal>1, 1</goal>"),
            koma("b", init="5, 2", rest="<goal>1, 2</goal>"),
        ]
        found = model(xml(pieces=pieces))
        assert [kind.name for kind in found.kinds] == ["small a", "small b"]

    def test_a_whole_layout(self):
        pieces = [
            koma(n, init=f"5, {x}", rest=f"<goal>1, {x}</goal>") for x, n in enumerate("abcd", 1)
        ]
        found = model(xml(BOARD + "<goaltype>byclass</goaltype>", pieces=pieces))
        assert found.goal == (tuple((0, x) for x in range(4)),)

    def test_no_goal_is_a_puzzle_to_exhaust(self):
        assert not model(xml(pieces=[CHICHI])).has_goal

    def test_a_bitmap_with_a_hole_and_other_signs(self):
        ring = '<class name="ring"><size>3, 3</size><bitmap>1-1-1 | 101 | 1 1 1</bitmap></class>'
        found = model(xml(classes=CLASSES + ring, pieces=[koma(of="ring", init="1, 1")]))
        assert len(found.kinds[0].cells) == 8

    def test_a_wall_on_the_border_adds_nothing(self):
        assert model(xml(BOARD + "<extwall>0, 3</extwall><extwall>6, 5</extwall>")).walls == set()

    def test_a_class_without_pieces(self):
        assert len(model(xml()).kinds) == len(model(xml(pieces=[CHICHI, MUSUME, KADOU])).kinds) == 3
        assert len(model(xml(pieces=[CHICHI])).kinds) == 1


class TestPieces:
    @pytest.mark.parametrize(
        ("piece", "message"),
        [
            (
                koma(init="1, 1"),
                "piece more starts at row 1, column 1 and overlaps piece chichi at row 1, column 1",
            ),
            (koma(init="2, 3"), "piece more .* overlaps piece musume at row 2, column 3"),
            (
                koma(init="6, 1"),
                "piece more starts at row 6, column 1, where row 6, column 1 is off the board of 5",
            ),
            (koma(of="vert", init="5, 3"), "piece more .* row 6, column 3 is off the board"),
            (koma(init="0, 1"), "piece more .* off the board"),
            (koma(init="-1, 2"), "piece more .* off the board"),
            (koma(init="1, 5"), "piece more .* off the board"),
            (koma(of="huge"), "piece more is of the class huge, which there is not"),
            (koma("chichi"), "two pieces have the name chichi"),
            (koma(init="five"), "<init> of piece more is 'five' in line 1, and should be two"),
            (koma(init="1"), "<init> .* should be two numbers"),
            (koma(init="1, 2, 3"), "<init> .* should be two numbers"),
            (koma(init="1.5, 2"), "<init> .* should be two numbers"),
            (koma(init=""), "<init> of piece more is '' in line 1, and should be two"),
            (koma(init="9" * 5000 + ", 1"), "<init> .* should be two numbers"),
            (koma(init="٣, ٣"), "<init> .* should be two numbers"),
            (
                koma(rest="<goal>6, 1</goal>"),
                "piece more has its goal at row 6, column 1, where .* off the board",
            ),
            (
                koma(rest="<goal>5, 3</goal>"),
                "piece more has its goal at row 5, column 3 and overlaps piece musume",
            ),
            (koma(rest="<goal>1, 1</goal><goal>1, 1</goal>"), "<koma> has a second <goal>"),
            (koma(rest="<gaol>1, 1</gaol>"), "<koma> has <gaol> in line 1, and may have"),
            (koma(rest="text"), "<koma> of line 1 has the text 'text'"),
            (koma(""), "the <koma> of line 1 has no name"),
            (koma("x" * 101), "a name has at most 100 printable characters"),
            ("<koma><class>big</class></koma>", "the <koma> of line 1 has no name"),
            ('<koma name="x"><class>big</class></koma>', "piece x has no <init>"),
            ('<koma name="x"><init>1, 1</init></koma>', "piece x has no <class>"),
            ('<koma name="x"><class/><init>1, 1</init></koma>', "the class of piece x has no name"),
            ('<koma name="x" color="red"/>', "has an attribute color"),
            ('<piece name="x"/>', "<komaset> has <piece> in line 1, and may have <koma>"),
        ],
    )
    def test_one_sentence(self, piece, message):
        refuses(xml(pieces=[MUSUME, CHICHI, KADOU, piece]), message)

    def test_the_first_piece_is_checked_too(self):
        refuses(
            xml(pieces=[koma("first", init="1, 2"), MUSUME]),
            "piece musume starts at row 1, column 2 and overlaps piece first at row 1, column 2",
        )
        refuses(xml(pieces=[koma("first", init="9, 9"), MUSUME]), "piece first .* off the board")

    def test_a_piece_and_a_goal_on_a_wall(self):
        walls = BOARD + "<extwall>5, 1</extwall>"
        refuses(
            xml(walls, pieces=[koma()]),
            "piece more starts at row 5, column 1, where row 5, column 1 is a wall",
        )
        refuses(
            xml(walls, pieces=[koma(of="vert", init="1, 1", rest="<goal>4, 1</goal>")]),
            "piece more has its goal at row 4, column 1, where row 5, column 1 is a wall",
        )

    def test_a_goal_that_overlaps_itself_byclass(self):
        pieces = [koma(n, init=f"5, {x}", rest="<goal>1, 1</goal>") for x, n in enumerate("ab", 1)]
        refuses(
            xml(BOARD + "<goaltype>byclass</goaltype>", pieces=pieces),
            "piece b has its goal at row 1, column 1 and overlaps piece a",
        )

    def test_no_pieces(self):
        refuses(xml(pieces=[]), "the puzzle has no pieces")


class TestClasses:
    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            (
                "<size>2, 2</size><bitmap>111</bitmap>",
                "the bitmap of class x has 3 cells, and 2 x 2 needs 4",
            ),
            ("<size>2, 2</size><bitmap>11111</bitmap>", "the bitmap of class x has 5 cells"),
            ("<size>2, 2</size><bitmap></bitmap>", "the bitmap of class x has 0 cells"),
            ("<size>2, 2</size><bitmap>1100</bitmap>", "row 2 of the bitmap of class x is empty"),
            (
                "<size>2, 2</size><bitmap>1010</bitmap>",
                "column 2 of the bitmap of class x is empty",
            ),
            ("<size>2, 2</size><bitmap>0000</bitmap>", "row 1 of the bitmap of class x is empty"),
            (
                "<size>2, 2</size><bitmap>1001</bitmap>",
                "class x falls apart: row 2, column 2 of its bitmap is not connected with row 1,",
            ),
            ("<size>0, 2</size>", "class x of 0 x 2 has no cells"),
            ("<size>-2, 2</size>", "class x of -2 x 2 has no cells"),
            ("<size>99999, 99999</size>", "class x of 99999 x 99999 is too large"),
            ("<size>two</size>", "<size> of class x is 'two' in line 1"),
            ("", "class x has no <size>"),
            ("2", "<class> of class x is '2' in line 1"),
            ("2, 2<size>2, 2</size>", "class x has its size twice"),
            ("<size>2, 2</size><size>2, 2</size>", "<class> has a second <size>"),
            ("<size><size>2, 2</size></size>", "<size> has <size> in line 1, and may have text"),
            ("<shape/>", "<class> has <shape> in line 1"),
        ],
    )
    def test_one_sentence(self, entry, message):
        refuses(xml(classes=f'{CLASSES}<class name="x">{entry}</class>'), message)

    def test_two_of_one_name(self):
        again = '<class name=" big"><size>1, 1</size></class>'
        refuses(xml(classes=CLASSES + again), "two classes have the name big")

    def test_no_name(self):
        refuses(xml(classes="<class>1, 1</class>"), "the <class> of line 1 has no name")


class TestBoard:
    @pytest.mark.parametrize(
        ("board", "message"),
        [
            ("", "<board> has no <size>"),
            ("<size>2, 6</size>", "size of 2, 6 includes a border .* at least 3"),
            ("<size>9999, 9999</size>", "a board of 9997 x 9997 is too large"),
            ("<size>40, 40</size>", "a board of 38 x 38 is too large"),
            (BOARD + BOARD, "<board> has a second <size>"),
            (BOARD + "<extwall>8, 1</extwall>", "<extwall> of line 1 is at row 8, column 1, off"),
            (BOARD + "<extwall>-1, 1</extwall>", "<extwall> of line 1 is at row -1"),
            (BOARD + "<extwall>wall</extwall>", "<extwall> of the board is 'wall' in line 1"),
            (
                BOARD + "<goaltype>bykind</goaltype>",
                "<goaltype> is 'bykind', and should be byid or",
            ),
            (BOARD + "<mirrorident>maybe</mirrorident>", "<mirrorident> is 'maybe'"),
            (BOARD + "<wall>1, 1</wall>", "<board> has <wall> in line 1, and may have <size>"),
        ],
    )
    def test_one_sentence(self, board, message):
        refuses(xml(board), message)


class TestMarkup:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "line 1 is not well-formed XML: no element found"),
            ("   \n", "line 2 is not well-formed XML: no element found"),
            ("hello", "line 1 is not well-formed XML"),
            ("<puzzle>", "line 1 is not well-formed XML"),
            ("<puzzle></board>", "line 1 is not well-formed XML: mismatched tag"),
            ("<puzzle/><puzzle/>", "line 1 is not well-formed XML: junk after document element"),
            ("<puzzle>&nbsp;</puzzle>", "line 1 is not well-formed XML: undefined entity"),
            ("<puzzle>\x00</puzzle>", "line 1 is not well-formed XML"),
            ("<svg/>", "the XML begins with <svg>, and a puzzle with <puzzle>"),
            ("<puzzle/>", "<puzzle> has no <board>"),
            ("<puzzle><board/><clssiz/></puzzle>", "<puzzle> has no <komaset>"),
            ("<puzzle><board/><board/></puzzle>", "<puzzle> has a second <board>"),
            ('<puzzle author="x"/>', "<puzzle> of line 1 has an attribute author"),
            (f'<puzzle name="{"n" * 500}"/>', "<puzzle> has no <board>"),
            ("\n\n<puzzle>\n<bored/></puzzle>", "<puzzle> has <bored> in line 4"),
            ("<?xml version='1.0' encoding='hex'?><puzzle/>", "in the encoding hex, and should be"),
            ("<?xml version='1.0' encoding='no-such'?><puzzle/>", "in the encoding no-such"),
            (b"<puzzle>\xff</puzzle>", "byte 8 of the XML is not valid utf-8"),
            (b"\xff\xfe<\x00", "line 1 is not well-formed XML"),
            (b"\xff\xfe<", "byte 2 of the XML is not valid utf-16"),
        ],
    )
    def test_one_sentence(self, text, message):
        refuses(text, message)

    @pytest.mark.parametrize(
        "doctype",
        [
            "<!DOCTYPE puzzle>",
            '<!DOCTYPE puzzle SYSTEM "file:///etc/passwd">',
            '<!DOCTYPE puzzle [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
            '<!DOCTYPE puzzle [<!ENTITY % x SYSTEM "http://localhost/x"> %x;]>',
            '<!DOCTYPE p [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>',
            "<!DOCTYPE p ["
            + "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "lol"}">' for i in range(30))
            + "]>",
            '<!DOCTYPE p [<!ENTITY big "' + "x" * 100_000 + '">]>',
        ],
    )
    def test_no_document_types_and_so_no_entities(self, doctype):
        before = time.monotonic()
        refuses(doctype + xml(name="&x;"), "line 1 begins a document type")
        assert time.monotonic() - before < 1

    def test_too_large_to_parse(self):
        refuses(xml() + " " * markup.LARGEST, "the XML is larger than 256 KiB")

    @pytest.mark.parametrize(
        "text",
        [
            "<a>" * 50_000,
            "<puzzle>" + "<board/>" * 20_000 + "</puzzle>",
            xml(pieces=["<koma name='x'/>"] * 10_001),
        ],
    )
    def test_too_many_elements_or_too_deep(self, text):
        refuses(text, "the XML has more than 10000 elements or 8 levels")

    def test_what_is_long_but_within_bounds_is_quick(self):
        before = time.monotonic()
        refuses(xml(pieces=[koma(init="1" + " " * 200_000 + "x")]), "should be two numbers")
        refuses(xml(pieces=[koma(name="n" * 200_000)]), "a name has at most")
        refuses("<?xml " + "encoding " * 20_000 + "?><puzzle/>", "<puzzle> has no <board>")
        refuses(" " * 200_000 + "x", "not well-formed")
        attributes = " ".join(f'a{i}="{i}"' for i in range(15_000))
        refuses(f"<puzzle {attributes}/>", "has an attribute a0")
        assert time.monotonic() - before < 5
