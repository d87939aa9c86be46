"""Labels, drawings, reading layouts, and following pieces along a path."""

from __future__ import annotations

import pytest

from puzzles.blocks import render, story
from puzzles.blocks.definition import build
from puzzles.blocks.drawing import read_drawing
from puzzles.blocks.family import FAMILY
from puzzles.blocks.puzzle import METRICS
from puzzles.errors import PuzzleError
from tests.puzzles.blocks import naive


def drawn(text):
    return build(read_drawing(text, "test"))


class TestLabels:
    def test_abbreviations_names_and_beginnings(self):
        model = FAMILY.model("hakoiri-basic")
        labels = render.labels(model)
        assert labels["sofu"] == "sf"
        assert labels["musume"] == "mu"
        assert labels["chichi"] == "ch"

    def test_all_differ(self):
        for name in ("d209", "chicago-swap", "hakoiri-hard", "shogi"):
            model = FAMILY.model(name)
            labels = render.labels(model)
            assert len(set(labels.values())) == len(labels) == model.piece_count
            assert max(map(len, labels.values())) <= 2

    def test_as_many_pieces_as_a_board_holds(self):
        spec = drawn("a.").to_spec()
        side = 32
        cells = [[y, x] for y in range(side) for x in range(side)]
        names = [f"piece {i:04}" for i in range(side * side)]
        spec["size"] = [side, side]
        spec["kinds"][0] |= {"start": cells, "pieces": names, "start_pieces": names, "shorts": []}
        labels = render.labels(type(drawn("a.")).from_spec(spec))
        assert len(set(labels.values())) == side * side


class TestDrawings:
    def test_two_characters_a_cell(self):
        model = FAMILY.model("hakoiri-basic")
        assert render.draw(model, model.start).splitlines() == [
            "ch mu mu ha",
            "ch mu mu ha",
            "sf ky ky sb",
            "sf ka sa sb",
            "wa .. .. sh",
        ]
        assert str(render.draw_goal(model)).splitlines()[3:] == [".. mu mu ..", ".. mu mu .."]

    def test_walls_and_one_character_a_cell(self):
        model = drawn("ab#\n.bb")
        assert render.draw(model, model.start) == "a b #\n. b b"
        assert render.inline(model, model.start) == "a b # / . b b"
        assert render.draw_goal(model) is None


class TestLayouts:
    MODEL = "aab.\n#c.d"

    @pytest.mark.parametrize(
        "text", ["aab./#c.d", "a a b . / # c . d", "aab.\n#c.d\n", " aab. / # d _ c "]
    )
    def test_ways_to_write_one(self, text):
        model = drawn(self.MODEL)
        assert render.parse(model, text) == model.start

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "the layout has 0 rows, and the board of test has 2"),
            ("aab.", "the layout has 1 row, and"),
            ("aab/#c.d", "row 1 of the layout has 3 cells"),
            ("aab./.c.d", "the layout has no wall at row 2, column 1"),
            ("aab#/#c.d", "the layout has a wall at row 1, column 4"),
            ("aab./ac.d", "piece a covers row 2, column 1 of the layout, a wall"),
            ("aax./#c.d", "there is no piece 'x', as at row 1, column 3"),
            ("aab./#c..", r"the layout lacks the piece d \(d\)"),
            ("a.b./#c.d", "piece a of the layout, at row 1, column 1, has not the shape"),
            ("aab./#ccd", "piece c of the layout"),
            ("x" * 70_000, "the layout has more than 65536 characters"),
        ],
    )
    def test_one_sentence(self, text, message):
        with pytest.raises(PuzzleError, match=message) as caught:
            render.parse(drawn(self.MODEL), text)
        assert "\n" not in str(caught.value)

    def test_names_for_labels(self):
        model = FAMILY.model("simplicity")
        goal = "red . . . / re red . . / . . . . / . . . ."
        assert render.parse(model, goal, partial=True) == model.goal

    def test_another_start_keeps_the_names(self):
        model = render.with_start(drawn(self.MODEL), "d.aa/#bc.")
        bar, dots = model.kinds
        assert (bar.pieces, dots.pieces) == (("a",), ("b", "c", "d"))
        assert model.start == (((0, 2),), ((0, 0), (1, 1), (1, 2)))
        assert model.start_pieces == (("a",), ("d", "b", "c"))
        assert type(model).from_spec(model.to_spec()) == model

    def test_another_goal_is_partial_and_tells_nothing_apart(self):
        model = render.with_goal(drawn(self.MODEL), "..../#.c.")
        assert model.goal == ((), ((1, 2),))
        assert model.kinds == drawn(self.MODEL).kinds
        with pytest.raises(PuzzleError, match="the layout has no pieces"):
            render.with_goal(model, "..../#...")


class TestSlides:
    def test_a_path_with_turns(self):
        model = drawn("a..\n.#.\n...")
        after = (((2, 1),),)
        found = story.slide(model, model.start, after)
        assert found.path == ("down", "down", "right")
        assert found.way == "down 2, right"
        assert story.describe(model, model.start, after) == "a down 2, right"

    def test_a_piece_with_class_mates_is_named_by_where_it_is(self):
        model = drawn("ab.")
        assert story.describe(model, model.start, (((0, 0), (0, 2)),)) == "1x1 at 1, 2 right"

    def test_coordinates_are_of_the_bounding_box(self):
        model = drawn(".a.b\naabb")
        moved = build(read_drawing(".a.b.\naabb.", "test"))
        assert model.kinds[0].corner == (0, -1)
        text = story.describe(moved, moved.start, (((0, 1), (0, 4)),))
        assert text.endswith(" at 1, 3 right")

    def test_no_single_slide(self):
        model = drawn("a#b.\n.#..\n\na...\n....")  # the goal tells a apart
        start = model.start
        assert start == (((0, 0),), ((0, 2),))
        with pytest.raises(PuzzleError, match="not one piece of test moves"):
            story.slide(model, start, start)
        with pytest.raises(PuzzleError, match="not one piece of test moves"):
            story.slide(model, start, (((1, 0),), ((1, 2),)))
        with pytest.raises(PuzzleError, match=r"class .* can slide from row 1, column 1 to row 1"):
            story.slide(model, start, (((0, 3),), ((0, 2),)))

    def test_pieces_are_followed_by_name(self):
        model = drawn("ab.")
        path = [model.start, (((0, 0), (0, 2)),), (((0, 1), (0, 2)),)]
        chapters = story.follow(model, path)
        assert [chapter.text for chapter in chapters] == ["b right", "a right"]
        assert [chapter.board for chapter in chapters] == ["a . b", ". a b"]
        assert story.follow(model, []) == story.follow(model, path[:1]) == []


@pytest.mark.parametrize("name", ["simplicity", "simplicity2"])
@pytest.mark.parametrize("metric", METRICS)
def test_a_solution_can_be_replayed_by_its_words(name, metric):
    """Move the named pieces as the words say, cell by cell, on a board of letters."""
    model = FAMILY.model(name)
    before, _ = naive.search(model, metric)
    end = min(
        (p for p in before if naive.is_goal(model, p)), key=lambda p: len(naive.path(before, p))
    )
    path = naive.path(before, end)
    names = dict(zip(render.labels(model).values(), render.labels(model), strict=True))
    where: dict[str, set] = {}
    for y, row in enumerate(render.rows(model, model.start)):
        for x, label in enumerate(row):
            if label not in (".", "#"):
                where.setdefault(names[label], set()).add((y, x))
    board = {(y, x) for y in range(model.height) for x in range(model.width)} - model.walls
    for chapter in story.follow(model, path):
        piece, way = chapter.text.split(" ", 1)
        for run in way.split(", "):
            word, _, times = run.partition(" ")
            dy, dx = story.DIRECTIONS[word]
            for _ in range(int(times or 1)):
                where[piece] = {(y + dy, x + dx) for y, x in where[piece]}
                others = set().union(*(cells for name, cells in where.items() if name != piece))
                assert where[piece] <= board - others
        assert metric != "steps" or len(chapter.slide.path) == 1
        assert metric != "straight" or len(set(chapter.slide.path)) == 1
    for kind, anchors in enumerate(model.goal):
        for anchor in anchors:
            assert naive.covered(model, kind, anchor) in where.values()
