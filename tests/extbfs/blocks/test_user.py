"""Sliding blocks at the command line: drawings, files, and what is wrong with them."""

from __future__ import annotations

import json

import pytest

from extbfs.cli import main
from puzzles.blocks import index

KLOTSKI = """title: Mine

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


@pytest.fixture
def drawing(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text(KLOTSKI)
    return str(file)


class TestDrawings:
    def test_start_and_goal_are_shown(self, drawing, capsys):
        assert main(["puzzles", drawing]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "Mine: sliding blocks, 5 rows x 4 columns, 10 pieces, one cell a step, 65,880 keys",
            "metrics: steps, straight, moves (in force: steps)",
            "symmetry: left and right exchanged",
            "start:",
            *("a * * b", "a * * b", "c d d e", "c f g e", "h . . i"),
            "goal:",
            *(". . . .", ". . . .", ". . . .", ". * * .", ". * * ."),
        ]

    def test_the_real_start_is_shown_whatever_its_key(self, capsys):
        assert main(["puzzles", "huarong-dao", "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert shown["start"].splitlines()[0].split()[0] == "zf"
        assert shown["symmetry"] == ["left and right exchanged"]
        assert shown["goal"].splitlines()[4].split() == ["..", "cc", "cc", ".."]

    def test_from_start_to_path(self, drawing, tmp_path, capsys):
        run = str(tmp_path / "run")
        assert main(["start", drawing, run, "--metric", "moves"]) == 0
        out, err = capsys.readouterr()
        assert out.splitlines()[0].split() == [
            *("depth", "states", "canonical", "cumulative", "seconds", "bytes")
        ]
        assert "goal reached at depth 81" in err
        assert f"`extbfs path {run}` shows a shortest solution" in err
        assert main(["path", run, "--boards", "none"]) == 0
        assert capsys.readouterr().out.endswith("81 moves\n")
        for layout in (
            "a**b/a**b/cdde/cfge/h.i.",
            "a * * b / a * * b / c d d e / c f g e / . h i .",
        ):
            assert main(["depth", run, layout]) == 0
            assert capsys.readouterr().out in ("1\n", "2\n")

    def test_a_path_to_a_state_whose_image_is_as_near(self, drawing, tmp_path, capsys):
        run = str(tmp_path / "run")
        assert main(["start", drawing, run, "--max-depth", "3"]) == 0
        for layout in ("a**b/a**b/cdde/cfge/h.i.", "a**b/a**b/cdde/cfge/.h.i"):
            capsys.readouterr()
            assert main(["path", run, "--to", layout, "--json"]) == 0
            out, err = capsys.readouterr()
            assert err == ""
            last = json.loads(out)["states"][-1]["state"].replace(" ", "")
            assert [sign == "." for sign in last] == [sign == "." for sign in layout]


class TestSymmetry:
    def test_a_start_that_is_not_symmetric(self, tmp_path, capsys):
        run = str(tmp_path / "run")
        assert main(["start", "huarong-dao", run]) == 0
        err = capsys.readouterr().err
        assert "symmetry: the start is not symmetric: depths are distances from the start or" in err
        assert main(["start", "huarong-dao", str(tmp_path / "plain"), "--no-symmetry"]) == 0
        assert "symmetry" not in capsys.readouterr().err

    def test_listed_states_stand_for_their_images(self, drawing, tmp_path, capsys):
        run = str(tmp_path / "run")
        assert main(["start", drawing, run, "--max-depth", "2"]) == 0
        capsys.readouterr()
        assert main(["states", run, "--depth", "1"]) == 0
        out, err = capsys.readouterr()
        assert len(out.splitlines()) == 2
        assert err == "with the mirror images of all 2, the depth has 4 states\n"
        assert main(["states", run, "--depth", "2", "--limit", "1", "--json"]) == 0
        out, err = capsys.readouterr()
        report = json.loads(out)
        assert (report["count"], report["canonical"], report["listed"]) == (10, 6, 1)
        assert len(report["states"]) == 1
        assert err.splitlines()[0] == "1 of 6 states; --limit 0 lists all"


def change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


XML = index.read("hakoiri-basic").decode()

# (how a file is spoilt, what is said of it)
SPOILT = {
    "overlap": ("<init>1, 4</init>", "<init>1, 3</init>", "piece haha starts at row 1, column 3"),
    "off": ("<init>5, 4</init>", "<init>5, 5</init>", "off the board of 5 x 4"),
    "class": ("<class>big</class>", "<class>huge</class>", "musume is of the class huge"),
    "tag": ("<goal>", "<gaol>", "not well-formed XML"),
    "goal": ("<goal>4, 2</goal>", "<goal>5, 2</goal>", "musume has its goal at row 5, column 2"),
    "numbers": ("<goal>4, 2</goal>", "<goal>four</goal>", "should be two numbers"),
    "twice": ('name="haha"', 'name="chichi"', "two pieces have the name chichi"),
}


class TestErrors:
    """Exit 2, one sentence, no run directory."""

    def sentence(self, capsys, *argv):
        assert main([str(word) for word in argv]) == 2
        out, err = capsys.readouterr()
        (line,) = err.splitlines()
        assert out == ""
        return line

    @pytest.mark.parametrize("spoilt", SPOILT)
    def test_in_xml(self, tmp_path, capsys, spoilt):
        old, new, message = SPOILT[spoilt]
        file = tmp_path / "spoilt.xml"
        file.write_text(change(XML, old, new))
        for argv in (["puzzles", file], ["check", file], ["start", file, tmp_path / "run"]):
            line = self.sentence(capsys, *argv)
            assert line.startswith(f"extbfs: {file}: ")
            assert message in line
        assert not (tmp_path / "run").exists()

    def test_in_layouts(self, tmp_path, capsys):
        run = tmp_path / "run"
        line = self.sentence(capsys, "start", "klotski", run, "--goal", "x")
        assert "--goal: the layout has 1 row, and the board of klotski has 5" in line
        line = self.sentence(capsys, "start", "klotski", run, "--start", "x/y")
        assert "--start: the layout has 2 rows" in line
        assert not run.exists()

    def test_names_that_are_nearly_right(self, tmp_path, capsys):
        line = self.sentence(capsys, "start", "klotsky", tmp_path / "run")
        assert line.endswith("did you mean klotski?")
        assert "did you mean" not in self.sentence(capsys, "puzzles", "nothing-like-it-at-all")

    def test_files_that_are_not_there_or_of_no_known_kind(self, tmp_path, capsys):
        missing = tmp_path / "none.xml"
        assert self.sentence(capsys, "puzzles", missing) == f"extbfs: there is no file {missing}"
        other = tmp_path / "board.doc"
        other.write_text(KLOTSKI)
        line = self.sentence(capsys, "puzzles", other)
        assert line.endswith("it should end in .xml or .txt or .json")

    def test_metrics(self, tmp_path, capsys):
        line = self.sentence(capsys, "start", "klotski", tmp_path / "r", "--metric", "leaps")
        assert "counts its moves in steps, straight or moves, not in 'leaps'" in line
