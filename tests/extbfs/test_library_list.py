"""`extbfs puzzles` tells what there is to solve, how large, how far, and whose it is."""

from __future__ import annotations

import json

from extbfs.cli import main


def line_of(out: str, name: str) -> str:
    (line,) = [line for line in out.splitlines() if line.split()[0] == name]
    return line


def test_size_optimum_and_source_in_a_line(capsys):
    assert main(["puzzles"]) == 0
    out = capsys.readouterr().out
    century = line_of(out, "century")
    assert "5 x 4, 10 pieces; 131 steps or 99 moves; 81,340 states; John H. Conway" in century
    assert "no solution; 2,105,172 states" in line_of(out, "sliding-digits")
    assert "5 x 6, 14 pieces; 75 steps" in line_of(out, "hakoiri-hard")


def test_the_same_as_json(capsys):
    assert main(["puzzles", "--json"]) == 0
    library = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)["library"]}
    swap = library["chicago-swap"]
    assert (swap["known"]["steps"]["optimum"], swap["known"]["moves"]["optimum"]) == (106, 78)
    assert "hakoiri-diff" in library["hakoiri-hard"]["also"]


def test_one_with_what_is_known_of_it(capsys):
    assert main(["puzzles", "hakoiri-diff"]) == 0
    out = capsys.readouterr().out
    assert "Hakoiri-musume, the hard one: the daughter (musume) to the bottom centre" in out
    assert "known: in steps, optimum 75" in out
    assert "ch mu mu ha" in out
