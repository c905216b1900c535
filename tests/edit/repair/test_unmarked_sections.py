"""Sections that have lost both markers: what is recognised, and what the choices leave."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.edit.document import BOM, Document, normalize_lines
from cub.edit.repair.marker_choices import list_repair_choices
from cub.edit.repair.repair_choice import RepairChoice
from cub.edit.repair.similar_text import ReleasedBody
from cub.edit.repair.unmarked_sections import (
    LoadBodies,
    UnmarkedSection,
    find_unmarked_sections,
)
from cub.edit.section_writer import put_section
from cub.edit.sections import find_section
from tests.edit.broken import BEGIN, END, NEXT, TEXT, inside, section
from tests.edit.readers import read_section
from tests.edit.repair.test_repair_properties import yours
from tests.edit.strategies import ANYTHING, BODY, ENDS, PROSE
from tests.examples import few_examples

LONGER = BODY + "\nFor Claude Code.\n"
RELEASED = [
    ReleasedBody(version, tuple(normalize_lines(body.encode())))
    for version, body in ((1, BODY), (2, NEXT), (1, LONGER), (3, BODY))
]
IN = inside()
HEAD = IN[: IN.index("\n##")]
NOTES = "".join(HEAD.splitlines(keepends=True)[:2])
BARE = "## Cub Integration\n\n- Work on one task.\n"


def _found(text: str, released: LoadBodies = lambda: RELEASED) -> list[UnmarkedSection]:
    return find_unmarked_sections(Document(text.encode(), "AGENTS.md"), released)


def _choices(text: str | bytes, released: LoadBodies = lambda: RELEASED) -> list[RepairChoice]:
    data = text if isinstance(text, bytes) else text.encode()
    return list_repair_choices(Document(data, "AGENTS.md"), lambda _: None, released)


def _left(text: str) -> list[str]:
    return [choice.data.decode() for choice in _choices(text)]


def test_the_digest_line_tells_how_far_cubs_text_goes() -> None:
    other = IN.replace("one task", "my task")
    mine = inside(body=BODY.replace("one", "my"))
    assert _found(TEXT + "\n" + mine + TEXT, list) == [UnmarkedSection(2, 6, 9)]
    assert _found(TEXT + "\n" + other + TEXT) == [UnmarkedSection(2, 5, 5, is_proven=False)]


@pytest.mark.parametrize(
    ("title", "text", "found"),
    [
        ("alone", BARE, [UnmarkedSection(0, 0, 3, 3)]),
        ("between texts", TEXT + "\n" + BARE + "\n" + TEXT, [UnmarkedSection(2, 2, 5, 3)]),
        ("of an older version", NEXT, [UnmarkedSection(0, 0, 3, 2)]),
        ("the longest counts", LONGER + TEXT, [UnmarkedSection(0, 0, 5, 1)]),
        ("cub's notes above it", TEXT + NOTES + "\n" + BARE, [UnmarkedSection(1, 4, 7, 3)]),
        ("a digest of another text", HEAD.replace("1a -->", "00 -->") + BARE,
            [UnmarkedSection(0, 3, 6, 3)]),
        ("other bullets and blanks", BARE.replace("- W", "* W").replace("\n", "  \n"),
            [UnmarkedSection(0, 0, 3, 3)]),
        ("old Mac line ends", BARE.replace("\n", "\r"), [UnmarkedSection(0, 0, 3, 3)]),
        ("twice", BARE + TEXT + NEXT, [UnmarkedSection(0, 0, 3, 3), UnmarkedSection(4, 4, 7, 2)]),
        ("a word is another", BARE.replace("one", "my"), []),
        ("the heading alone", "## Cub Integration\n", []),
        ("in a fence", f"```\n{IN}```\n", []),
        ("in a quote", "".join(f"> {line}\n" for line in IN.splitlines()), []),
        ("in a list", "- x\n" + "".join(f"  {line}\n" for line in IN.splitlines()), []),
        ("indented", "".join(f"    {line}\n" for line in IN.splitlines()), []),
        ("in a comment", f"<!--\n{BARE}-->\n", []),
        ("in front matter", f"---\na: 1\n#\n{BARE}---\n".replace("\n\n", "\n"), []),
        ("beside a marker", section() + BARE, []),
        ("beside a marker that is alone", BEGIN + BARE, []),
    ],
)  # fmt: skip
def test_what_is_a_section_without_markers(
    title: str, text: str, found: list[UnmarkedSection]
) -> None:
    assert _found(text) == found, title


def test_markers_come_back_around_it() -> None:
    whole = TEXT + "\n" + section() + "\n" + TEXT
    lost = whole.replace(BEGIN, "").replace(END, "")
    marked, dropped, kept = _choices(lost, list)
    assert marked.data.decode() == whole
    assert dropped.data.decode() == TEXT + "\n\n" + TEXT
    assert kept.data.decode() == TEXT + "\n" + BODY + "\n\n" + TEXT


def test_the_header_comes_back_too() -> None:
    whole = section().replace(" v1 ", " v3 ")
    for lost in (BARE + "\n", NOTES + BARE + "\n", NOTES.replace("\n", "\n\n") + BARE + "\n"):
        assert _left(TEXT + lost + TEXT)[0] == TEXT + whole + TEXT
    assert _left(TEXT + BARE.rstrip())[0] == TEXT + whole.rstrip()


def test_what_was_edited_is_yours() -> None:
    text = TEXT + inside("edited") + TEXT
    (kept,) = _choices(text)
    assert kept.data.decode() == text.replace(HEAD, "")


def test_of_several_one_is_marked_and_the_others_go() -> None:
    first, second, none, kept = _left(BARE + TEXT + NEXT)
    assert first == section().replace(" v1 ", " v3 ").replace("\n" + END, "\n" + END) + TEXT
    assert second == TEXT + section(body=NEXT).replace(" v1 ", " v2 ").rstrip("\n") + "\n"
    assert none == TEXT
    assert kept == BARE + TEXT + NEXT


def test_comments_of_an_edited_copy_go_with_every_choice() -> None:
    marked, dropped, kept = _left(inside("edited") + TEXT + BARE)
    yours = inside("edited").replace(HEAD, "") + TEXT
    assert marked.removesuffix("\n") == yours + section().replace(" v1 ", " v3 ").rstrip("\n")
    assert dropped == yours
    assert kept == yours + BARE


def test_a_byte_order_mark_and_windows_line_ends_stay() -> None:
    lost = BOM + (IN + TEXT).replace("\n", "\r\n").encode()
    whole = BOM + (section() + TEXT).replace("\n", "\r\n").encode()
    assert _choices(lost, list)[0].data == whole


@few_examples
@given(PROSE, PROSE, st.sampled_from(ENDS), st.booleans(), st.booleans())
def test_no_line_of_yours_goes(
    above: bytes, below: bytes, end: str, header: bool, edited: bool
) -> None:
    text = inside("edited" if edited else "intact")
    text = text if header else text.replace(HEAD, "")
    below = below.removeprefix(BOM)
    whole = above.removesuffix(b"\r") + b"\n\n" + text.replace("\n", end).encode() + below
    document = Document(whole, "AGENTS.md")
    cubs = {line.encode() for line in BODY.splitlines()}
    mine = [line for line in yours(document) if line not in cubs]
    for choice in _choices(whole):
        left = yours(document.replace_data(choice.data))
        assert [line for line in left if line not in cubs] == mine
        found = find_section(document.replace_data(choice.data))
        assert (found is None) == (not choice.title.startswith("restore"))
        assert found is None or found.author == "cub"
        if edited or not choice.title.startswith("drop"):
            assert [line for line in left if line in cubs] == [
                line for line in yours(document) if line in cubs
            ]


LAYERS: list[Callable[[list[str], int], list[str]]] = [
    lambda lines, _: [f"> {line}" for line in lines],
    lambda lines, _: ["- x", "", *(f"  {line}" for line in lines)],
    lambda lines, _: [f"    {line}" for line in lines],
    lambda lines, depth: ["`" * (3 + depth), *lines, "`" * (3 + depth)],
    lambda lines, depth: ["~" * (3 + depth) + " md", *lines, "~" * (3 + depth)],
]


@few_examples
@given(st.lists(st.sampled_from(LAYERS), min_size=1, max_size=4), st.sampled_from(ENDS))
def test_a_sample_is_never_a_section(layers: list[Callable[..., list[str]]], end: str) -> None:
    """A document that quotes cub's section, or quotes somebody who does, has none."""
    lines = IN.splitlines()
    for depth, layer in enumerate(layers):
        lines = layer(lines, depth)
    assert _found(end.join(["Yours.", "", *lines, "", "Yours.", ""])) == []


@few_examples
@given(ANYTHING)
def test_no_file_is_too_odd(data: bytes) -> None:
    document = Document(data)
    if not find_unmarked_sections(document, lambda: RELEASED):
        return
    for choice in _choices(data):
        find_section(document.replace_data(choice.data))


@few_examples
@given(PROSE)
def test_what_was_put_and_lost_its_markers_is_found(text: bytes) -> None:
    document = Document(text)
    whole = put_section(document, BODY, 1).document
    before = read_section(whole)
    lost = b"".join(
        line
        for number, line in enumerate(whole.lines)
        if number not in (before.start, before.end - 1)
    )
    mark = BOM if whole.data.startswith(BOM) and not lost.startswith(BOM) else b""
    (part,) = find_unmarked_sections(Document(mark + lost), lambda: RELEASED)
    assert part.is_proven
    assert part.start == before.start


def test_only_some_of_many_digest_lines_are_followed() -> None:
    assert len(_found((inside("edited") + TEXT) * 50)) == 20
