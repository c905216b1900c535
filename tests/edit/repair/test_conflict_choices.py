"""Ways out of conflicts, by the bytes that they leave."""

from __future__ import annotations

import pytest

from cub.edit.document import BOM, Document
from cub.edit.repair.marker_choices import list_repair_choices
from cub.edit.repair.repair_choice import RepairChoice
from cub.errors import CubError
from tests.edit.broken import BEGIN, MINE, NEXT, broken, conflict, inside, recognize, section
from tests.edit.readers import read_section
from tests.edit.strategies import BODY

OURS, THEIRS = section(), section(body=NEXT)
BOB = "- Ask Bob first.\n"


def _choices(text: str) -> list[RepairChoice]:
    return list_repair_choices(Document(text.encode(), "AGENTS.md"), recognize)


def _left(text: str) -> list[str]:
    return [choice.data.decode() for choice in _choices(text)]


def _line_by_line(ours: str, theirs: str) -> str:
    """As git would merge two texts of as many lines."""
    pairs = zip(ours.splitlines(True), theirs.splitlines(True), strict=True)
    return "".join(one if one == other else conflict(one, other) for one, other in pairs)


@pytest.mark.parametrize(
    ("title", "text", "left"),
    [
        ("whole sections", conflict(OURS, THEIRS), OURS),
        ("with the ancestor", conflict(OURS, THEIRS, OURS), OURS),
        ("two conflicts in one", _line_by_line(OURS, THEIRS), OURS),
        ("your lines differ", conflict("a\n" + OURS + "c\n", "b\n" + THEIRS + "c\n"),
            conflict("a\n", "b\n") + OURS + "c\n"),
        ("your lines differ below", conflict(OURS + "\na\n", THEIRS + "\nb\n"),
            OURS + "\n" + conflict("a\n", "b\n")),
        ("on both ends", conflict("a\n" + OURS + "c\n", "b\n" + THEIRS + "d\n"),
            conflict("a\n", "b\n") + OURS + conflict("c\n", "d\n")),
        ("your lines are the same", conflict("a\n\n" + OURS + "b\n", "a\n\n" + THEIRS + "b\n"),
            "a\n\n" + OURS + "b\n"),
        ("one side alone has lines", conflict("a\n" + OURS, THEIRS), conflict("a\n", "") + OURS),
        ("one side has added lines", conflict("a\n" + OURS, THEIRS, ""), "a\n" + OURS),
        ("the ancestor's lines stay", conflict("a\n" + OURS, THEIRS, "z\n" + OURS),
            conflict("a\n", "", "z\n") + OURS),
        ("blank lines are no conflict", conflict("\n" + OURS, "\n\n" + THEIRS), "\n\n" + OURS),
        ("a section that moved", OURS + "a\n" + conflict(THEIRS, ""), OURS + "a\n"),
        ("a conflict between two sections",
            OURS + conflict("a\n", "b\n") + section("edited"),
            conflict("a\n", "b\n") + section("edited")),
    ],
)  # fmt: skip
def test_the_section_stays_once_and_your_lines_around_it(title: str, text: str, left: str) -> None:
    found = _left(text)[0]
    read_section(found.encode())
    assert found == (left), title


def test_edits_of_one_side_go_below() -> None:
    text = conflict(OURS, section("edited", NEXT)) + "More.\n"
    assert _left(text) == [OURS + "\n" + MINE + "\nMore.\n"]


def test_edits_of_both_sides_stay_in_conflict_below() -> None:
    text = conflict(section("edited"), section("edited", NEXT, BOB))
    assert _left(text) == [OURS + "\n" + conflict(MINE, BOB)]


def test_the_same_edit_on_both_sides_goes_below_once() -> None:
    text = conflict(section("edited"), section("edited", NEXT))
    assert _left(text) == [OURS + "\n" + MINE]


def test_what_git_merged_of_both_originals_is_no_edit() -> None:
    """Both sides changed the digest, and git took the body of theirs, which only they changed."""
    digests = _line_by_line(OURS, THEIRS.replace(NEXT, BODY))
    text = digests.replace(BODY, NEXT)
    (choice,) = _choices(text)
    assert choice.data.decode() == THEIRS
    assert choice.needs_render


def test_an_edited_section_of_unknown_origin_stays_as_it_is() -> None:
    text = conflict(section("unknown"), section("unknown", NEXT, BOB))
    (choice,) = _choices(text)
    assert choice.data.decode().startswith(section("unknown") + "\n")
    assert BOB in choice.data.decode()
    assert not choice.needs_render


def test_a_section_that_one_side_took_out_may_go_or_stay() -> None:
    text = "a\n" + conflict(OURS, "b\n")
    stays, goes = _choices(text)
    assert stays.data.decode() == "a\n" + OURS + conflict("", "b\n")
    assert goes.data.decode() == "a\n" + conflict("", "b\n")
    assert (stays.needs_render, goes.needs_render) == (True, False)


def test_edits_stay_even_if_the_section_goes() -> None:
    _, goes = _left("a\n" + conflict(section("edited"), "") + "b\n")
    assert goes == "a\n" + MINE + "\nb\n"


def test_a_section_in_the_ancestor_alone_goes() -> None:
    assert _left(conflict("a\n", "b\n", OURS)) == [conflict("a\n", "b\n", "")]


def test_the_newest_section_stays() -> None:
    newer = THEIRS.replace("SECTION v1", "SECTION v2")
    assert _left(conflict(OURS, newer)) == [newer]


def test_other_conflicts_are_left_alone() -> None:
    other = conflict("a\n", "b\n")
    assert _left(other + conflict(OURS, THEIRS) + other) == [other + OURS + other]


def test_windows_line_ends_stay() -> None:
    text = conflict("a\n" + OURS, "b\n" + THEIRS).replace("\n", "\r\n")
    assert _left(text) == [(conflict("a\n", "b\n") + OURS).replace("\n", "\r\n")]


def test_a_byte_order_mark_of_the_sides_stands_first() -> None:
    mark = BOM.decode()
    assert _left(conflict(mark + OURS, mark + THEIRS)) == [mark + OURS]


def test_a_broken_side_leaves_its_text_to_you() -> None:
    text = conflict(OURS, BEGIN + inside("edited") + "b\n")
    (left,) = _left(text)
    assert left.startswith(OURS)
    assert left.endswith(
        "=======\n\n## Cub Integration\n\n" + MINE + "- Work on one task.\n\nb\n>>>>>>> topic\n"
    )


@pytest.mark.parametrize(
    ("name", "word"),
    [("conflict that is torn", "its sides"), ("conflict, both sides broken", "both sides")],
)
def test_what_nobody_can_tell_is_said_with_its_place(name: str, word: str) -> None:
    with pytest.raises(CubError, match=word) as caught:
        list_repair_choices(Document(broken(name, "intact"), "AGENTS.md"), recognize)
    assert caught.value.where == "AGENTS.md:3"
    assert "ends in line" in caught.value.hint
    assert caught.value.details[0] == "AGENTS.md:4: BEGIN v1"


def test_your_lines_that_together_would_hide_the_section_are_left_to_you() -> None:
    """Each side closes the fence in its own way, and the second one would open another."""
    text = "```\n" + conflict("a\n```\n" + OURS, "b\n````\n" + THEIRS)
    with pytest.raises(CubError, match="would change what the section is"):
        _choices(text + OURS)


def test_a_line_that_one_side_took_out_of_the_section_stays() -> None:
    work = "- Work on one task.\n"
    upper = conflict(OURS.partition(work)[0], "")
    text = upper + work + conflict(OURS.partition(work)[2], "\n" + THEIRS)
    assert work in _left(text)[0].replace(OURS, "")


def test_lines_stay_on_their_side_of_a_section_that_stood_elsewhere() -> None:
    above = conflict("", THEIRS) + "Text.\n" + conflict(OURS + "a\n", "b\n")
    assert _left(above) == ["Text.\n" + OURS + conflict("a\n", "b\n")]
    below = conflict("a\n" + OURS, "b\n") + "Text.\n" + conflict("", THEIRS)
    assert _left(below) == [conflict("a\n", "b\n") + OURS + "Text.\n"]
