"""How the parts of the map share its room: never more than there is, in any mixture."""

from __future__ import annotations

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from cub.edit.document import Document
from cub.repomap.page.room import Part, block, first_lines, fitted
from cub.tokens import estimate_tokens
from tests.examples import few_examples

lines = st.lists(st.text("ab c`#~.@<>-", max_size=30), max_size=12)


def part(texts: list[str], share: float, heading: str = "## A") -> Part:
    return Part(heading, partial(first_lines, texts), share)


@few_examples
@given(st.lists(st.tuples(lines, st.floats(0, 1)), max_size=5), st.integers(0, 300))
def test_the_text_never_takes_more_than_the_room(
    parts: list[tuple[list[str], float]], room: int
) -> None:
    text = fitted([part(texts, share) for texts, share in parts], room)
    assert estimate_tokens(text) <= room


def test_what_one_part_leaves_the_others_take() -> None:
    long = [f"line{n}" for n in range(100)]
    text = fitted([part(["short"], 0.5), part(long, 0.25), part(long, 0.25)], 160)
    assert estimate_tokens(text) >= 150


def test_what_the_last_part_leaves_goes_back() -> None:
    long = [f"line{n}" for n in range(100)]
    assert estimate_tokens(fitted([part(long, 0.1), part(["short"], 0.9)], 120)) >= 110


def test_a_part_without_lines_has_no_heading() -> None:
    assert fitted([part([], 0.5, "## Empty"), part(["x"], 0.5, "## Full")], 50).startswith(
        "## Full"
    )


@few_examples
@given(lines)
def test_no_line_of_a_block_is_markdown(texts: list[str]) -> None:
    blocks = Document.parse(block("", [text or "-" for text in texts]).encode(), "x").blocks
    assert [found.kind for found in blocks] == ["fence"]
