"""Texts that were made from a released body: what counts as one, and which lines it has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.edit.document import Document
from cub.edit.repair.similar_text import ReleasedBody, SimilarText, find_similar_text
from tests.edit.strategies import ENDS, PROSE
from tests.examples import few_examples

WORDS = [f"word{number}" for number in range(60)]
LINES = ["## Cub", "", *(" ".join(WORDS[n : n + 10]) for n in range(0, 60, 10))]
LONGER = [*LINES, "", "- and a list", "- of two"]
BODIES = [
    ReleasedBody(version, tuple(line.encode() for line in lines))
    for version, lines in ((1, LINES), (2, LONGER), (3, ["## Cub", "", "Only few words."]))
]


def found(lines: list[str]) -> SimilarText | None:
    return find_similar_text(Document("\n".join(lines).encode()), BODIES)


def test_it_has_the_lines_from_the_first_block_to_the_last_word() -> None:
    text = found(["# Mine", "", "Some of mine.", "", *LINES[:-1], "word50 bread", "Mine.", ""])
    assert text is not None
    assert (text.start, text.end, text.body) == (4, 12, BODIES[0])
    text = found(["# Mine", "", "Some of mine.", "", " ".join(LINES[2:]), "", "Mine."])
    assert text is not None
    assert (text.start, text.end, text.share) == (4, 5, 58 / 59)


def test_it_is_of_the_body_that_it_has_most_of() -> None:
    short, long = found([*LINES, "Mine."]), found([*LONGER, "Mine."])
    assert short is not None
    assert long is not None
    assert (short.body.version, long.body.version) == (1, 2)


@pytest.mark.parametrize(("words", "is_found"), [(60, True), (30, True), (24, False), (0, False)])
def test_two_fifths_of_it_are_enough(words: int, is_found: bool) -> None:
    assert (found([" ".join(WORDS[:words])]) is not None) == is_found


def test_few_words_tell_nothing() -> None:
    assert found(["## Cub", "", "Only few words."]) is None


def test_words_that_are_far_apart_are_no_text() -> None:
    mine = " ".join(f"mine{number}" for number in range(80))
    apart = [line for part in LINES[2:] for line in (part, "", mine, "")]
    assert found(apart) is None
    assert found(["word0 word1 word2", "", mine, "", *LINES]) == found(
        ["mine", "", mine, "", *LINES]
    )


@pytest.mark.parametrize(
    "lines",
    [
        ["```", *LINES, "```"],
        ["Mine, word0 word1 word2:", "", "```", *LINES, "```"],
        ["Mine, word0 word1 word2:", "", "```", *LINES[3:], "```"],
        ["<!--", *LINES[2:], "-->"],
        [f"> {line}" for line in LINES],
        [f"    {line}" for line in LINES],
        ["- x", "", *(f"  {line}" for line in LINES)],
        ["- x", "", "  ```", *(f"  {line}" for line in LINES), "  ```"],
    ],
)
def test_a_sample_is_none(lines: list[str]) -> None:
    assert found(["Mine.", "", *lines, "", "Mine."]) is None
    text = found(["Mine.", "", *lines, "", "Mine.", "", *LINES])
    assert text is not None
    assert text.start == len(lines) + 5


def test_front_matter_is_no_text() -> None:
    front = ["---", "a: 1", *(f"# {line}" for line in LINES), "---", ""]
    assert found([*front, "Mine."]) is None
    text = found([*front, *LINES])
    assert text is not None
    assert text.start == len(front)


def test_after_many_samples_it_is_sought_no_more() -> None:
    fence = ["```", *LINES, "```", ""]
    assert found([*fence * 19, *LINES]) is not None
    assert found([*fence * 60, *LINES]) is None


@few_examples
@given(PROSE, PROSE, st.sampled_from(ENDS), st.integers(0, 5))
def test_it_is_found_in_any_file_or_stands_in_a_sample(
    above: bytes, below: bytes, end: str, changed: int
) -> None:
    lines = [line.replace(f"word{changed}5", "bread") for line in LINES]
    document = Document(above + b"\n\n" + end.join([*lines, "", ""]).encode() + below)
    text = find_similar_text(document, BODIES)
    heading = next(n for n, line in enumerate(document.lines) if line.startswith(b"## Cub"))
    is_heading = any(b.start == heading and b.kind == "heading_open" for b in document.blocks)
    assert (text is not None) or not is_heading
    if text is not None and is_heading:
        assert (text.start, text.end) == (heading, heading + len(LINES))
