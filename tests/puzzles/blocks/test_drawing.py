"""Puzzles drawn with one character a cell, and GNOME Klotski's maps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from puzzles.blocks import render
from puzzles.blocks.definition import build
from puzzles.blocks.drawing import read_drawing
from puzzles.blocks.family import FAMILY, model_of_file
from puzzles.blocks.gnome import is_map, read_json, read_map
from puzzles.errors import PuzzleError

MAPS = Path(__file__).with_name("data") / "gnome_klotski.json"

DONKEY = """
a**b
a**b
cdde
cfge
h..i

....
....
....
.**.
.**.
"""

DONKEY_MAP = """
######
#a**b#
#a**b#
#cdde#
#cfge#
#h  i#
##--##
    ..
    ..
"""

CORNER_MAP = """
..
.
#####--
#**aab-
#*ccde#
#fgh  #
#######
"""


def model(text, name="test"):
    return build(read_drawing(text, name))


def refuses(reader, text, message):
    with pytest.raises(PuzzleError, match=message) as caught:
        build(reader(text, "test"))
    assert "\n" not in str(caught.value)


class TestDrawings:
    def test_start_and_goal(self):
        found = model(DONKEY)
        assert (found.height, found.width) == (5, 4)
        assert [(kind.name, kind.pieces) for kind in found.kinds] == [
            ("2x1", ("a", "b", "c", "e")),
            ("2x2", ("*",)),
            ("1x2", ("d",)),
            ("1x1", ("f", "g", "h", "i")),
        ]
        assert found.goal == ((), ((3, 1),), (), ())

    def test_blanks_between_cells_do_not_count(self):
        spaced = "\n".join(" ".join(line) + " \r" for line in DONKEY.splitlines())
        assert model(spaced) == model(DONKEY)

    def test_a_frame_is_cut_off_and_walls_inside_stay(self):
        found = model("#####\n#a.b#\n#.#.#\n#####\n\n#####\n#..a#\n#.#.#\n#####")
        assert (found.height, found.width, found.walls) == (2, 3, {(1, 1)})
        assert found.goal == (((0, 2),), ())

    def test_the_goal_may_leave_walls_out(self):
        assert model("a#.\n...\n\n..a\n...").goal == (((0, 2),),)

    def test_the_goal_tells_apart_unless_byclass(self):
        drawn = "a b c .\n\n. b . a"
        assert [k.pieces for k in model(drawn).kinds] == [("a",), ("b",), ("c",)]
        alike = model("goal: byclass\n" + drawn)
        assert [k.pieces for k in alike.kinds] == [("a", "b", "c")]
        assert alike.goal == (((0, 1), (0, 3)),)

    def test_settings(self):
        found = model("Title:  My   board\nsource: me\nsymmetry: off\na.")
        assert (found.title, found.source) == ("My board", "me")
        assert not found.symmetric_allowed
        assert not found.has_goal

    def test_any_sign_may_be_a_piece(self):
        assert model("1@*é箱.").kinds[0].pieces == ("1", "@", "*", "é", "箱")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "there is no drawing"),
            ("title: nothing", "there is no drawing"),
            ("ab\nc", "row 2 of the start has 1 cells, and row 1 has 2"),
            ("ab\n..\n\n..", "the goal is drawn 1 x 2, and the start 2 x 2"),
            ("ab.\n\nab\nc", "row 2 of the goal has 1 cells"),
            (
                "a.a",
                "piece a falls apart in the start: row 1, column 3 is not connected with row 1",
            ),
            ("a.\n.a", "piece a falls apart in the start: row 2, column 2"),
            ("aa.\n\na.a", "piece a falls apart in the goal"),
            ("aa.\n\n.a.", "piece a at row 1, column 2 of the goal has not the shape"),
            ("a.\n\n.b", "the goal has a piece b at row 1, column 2, which the start has not"),
            ("a.\n\n#.", "the goal has a wall at row 1, column 1, and the start has none"),
            ("a#.\n\n.a.", "piece a has its goal at row 1, column 2, where the start has a wall"),
            ("a-.", "'-' at row 1, column 2 of the start is no piece"),
            ("a_", "'_' at row 1, column 2 of the start is no piece"),
            ("a\x07", r"'\\x07' at row 1, column 2 of the start is no piece"),
            ("a.\n\n.a\n\n..", "there are 3 drawings"),
            ("..\n..", "the puzzle has no pieces"),
            ("##\n##", "the start is all wall"),
            ("a.\n\n..\n", None),
            ("goal: up\na.", "goal: 'up' should be byid or byclass"),
            ("symmetry: 1\na.", "symmetry: '1' should be on or off"),
            ("title: a\ntitle: b\na.", "there is a second line title:"),
            ("a" * 65, "larger than 64 x 64"),
            ("a\n" * 65, "larger than 64 x 64"),
            (("a" * 64 + "\n") * 17, "more than 1024 cells"),
            ("a" * 70_000, "more than 65536 characters"),
        ],
    )
    def test_one_sentence(self, text, message):
        if message is None:
            assert not model(text).has_goal  # a goal that asks for nothing
        else:
            refuses(read_drawing, text, message)


class TestGnomeMaps:
    def test_the_programs_own_map_is_the_drawing(self):
        assert is_map(DONKEY_MAP)
        assert not is_map(DONKEY)
        assert build(read_map(DONKEY_MAP, "test")) == model(DONKEY)

    def test_leaving_round_a_corner(self):
        found = build(read_map(CORNER_MAP, "test"))
        assert render.draw(found, found.start).splitlines() == [
            "* * a a b",
            "* c c d e",
            "f g h . .",
        ]
        assert str(render.draw_goal(found)).splitlines()[:2] == [". . . * *", ". . . * ."]

    def test_a_goal_inside(self):
        found = build(read_map("#####\n#*ab#\n#  .#\n#####", "test"))
        assert (found.height, found.width) == (2, 3)
        assert found.goal == (((1, 2),), ())

    @pytest.mark.parametrize("name", sorted(json.loads(MAPS.read_text())))
    def test_maps_in_json(self, name):
        found = FAMILY.model(f"{MAPS}:{name}")
        known = json.loads(MAPS.read_text())[name]
        assert found.piece_count == known["pieces"]
        rows = [row.replace(" ", "") for row in render.draw(found, found.start).splitlines()]
        assert rows == known["rows"]
        (kind,) = [k for k, goal in enumerate(found.goal) if goal]
        y, x = found.goal[kind][0]
        dy, dx = found.kinds[kind].corner
        assert [y + dy, x + dx] == known["goal"]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("#--#\n#ab#", "the map has no piece \\*"),
            ("#**-\n####", "the dots of the map are not of the shape"),
            ("#**-  .\n####", "the dots of the map are not of the shape"),
            ("####\n#**#-\n####..", "the piece \\* cannot get to the dots of the map"),
            ("*-.\n" + "#" * 70, "larger than 64 x 64"),
            (" " * 70_000, "more than 65536 characters"),
            ("*   \n-   \n.   ".replace("-", "----"), None),
        ],
    )
    def test_maps_one_sentence(self, text, message):
        if message is None:
            assert build(read_map(text, "test")).goal == (((0, 0),),)
        else:
            refuses(read_map, text, message)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "the JSON cannot be read"),
            ("[" * 100_000, "the JSON cannot be read"),
            ("3", "the JSON should be"),
            ("{}", "the JSON has 0 maps"),
            ('{"a": 1, "b": 2}', r"the JSON has 2 maps \(a, b\): write blocks:FILE:NAME"),
            (r'{"a\n": 1, "b": 2}', r"the JSON has 2 maps \(a, b\)"),
            ('{"rows": 3}', "the map should have rows"),
            ('{"rows": []}', "the map should have rows"),
            ('{"rows": ["a b"]}', "the map should have rows"),
            ('{"rows": ["a."], "goal": [0, 1]}', r"the map has no piece \*"),
            ('{"rows": ["*."], "goal": [0, 5]}', r"piece \* has its goal at row 1, column 6, off"),
            ('{"rows": ["*."], "goal": "here"}', "the goal of the map should be"),
            ('{"rows": ["*."], "goal": [0, true]}', "the goal of the map should be"),
            ('{"rows": ["*.", "."]}', "row 2 of the start has 1 cells"),
        ],
    )
    def test_json_one_sentence(self, text, message):
        refuses(read_json, text, message)

    def test_a_name_that_is_not_there(self):
        with pytest.raises(PuzzleError, match=r"the JSON has no map 'Rose', but .*Red Donkey"):
            FAMILY.model(f"{MAPS}:Rose")


class TestFiles:
    def test_a_drawing_and_a_map(self, tmp_path):
        drawing, board = tmp_path / "donkey.txt", tmp_path / "donkey-map.txt"
        drawing.write_text(DONKEY)
        board.write_text(DONKEY_MAP)
        assert model_of_file(drawing).name == "donkey"
        assert model_of_file(drawing).start == model_of_file(board).start

    def test_errors_name_the_file(self, tmp_path):
        path = tmp_path / "bad.txt"
        path.write_text("a.a")
        with pytest.raises(PuzzleError, match=r"bad\.txt: piece a falls apart"):
            model_of_file(path)
        path.write_bytes(b"a\xff")
        with pytest.raises(PuzzleError, match=r"bad\.txt: byte 1 is not valid UTF-8"):
            model_of_file(path)
        path.write_bytes(b"a" * 300_000)
        with pytest.raises(PuzzleError, match=r"bad\.txt: the file is larger than 256 KiB"):
            model_of_file(path)
        with pytest.raises(PuzzleError, match=r"none\.txt cannot be read: No such file"):
            model_of_file(tmp_path / "none.txt")
        with pytest.raises(PuzzleError, match="neither a puzzle of the library nor a file"):
            FAMILY.model("nowhere")
        path.write_text("a.")
        with pytest.raises(PuzzleError, match="the file holds one puzzle"):
            FAMILY.model(f"{path}:first")
