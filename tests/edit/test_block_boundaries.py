"""Cut at its boundaries, a text has the blocks that it has as a whole."""

from __future__ import annotations

from itertools import pairwise, product
from typing import SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.edit.block_boundaries import BlockBoundaries
from cub.edit.blocks import parse_block_spans, parse_blocks
from cub.edit.document import Document
from tests.edit.strategies import (
    LONG_TEXTS,
    MARKERS,
    PROSE,
    RAW_BLOCKS,
    SIZES,
    make_raw_block,
    texts,
)
from tests.edit.test_commonmark import EXAMPLES
from tests.examples import few_examples, keep_few

_PIECES = [
    "text", "# Title", "", "", "", " ", "```", "   ```", "~~~ py", "- a", "  - b", "    - c",
    "3. x", "   c", "    code", "\tcode", "> q", ">", "> ```", "- ```", "<!-- note -->", "<!--",
    "-->",
    "<div>", "</div>", "<pre>", "</pre>", "<?php", "?>", "<!X", ">", "<![CDATA[", "]]>", "===",
    "---",
    "***", "+", "\x0c", "\u2028", "\u00a0x", "\0", "[a]: /u", "  <script>", "</script>", "1)",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(_PIECES), max_size=30).map("\n".join)


def all_of(found: BlockBoundaries) -> list[int]:
    """Every boundary, from the first line to behind the last."""
    lines, line = [0], 1
    while line <= len(found):
        lines.append(found.find_at_or_below(line))
        line = lines[-1] + 1
    return lines


def agrees(text: str) -> None:
    found = BlockBoundaries(text)
    lines = all_of(found)
    blocks = [
        block for start, end in pairwise(lines) for block in found.parse_blocks_between(start, end)
    ]
    assert blocks == list(parse_blocks(text))
    assert [block[:3] for block in blocks] == [span[:3] for span in parse_block_spans(text)]
    for line in range(0, len(found) + 1, 1 + len(found) // 30):
        above = max(n for n in lines if n <= line)
        assert found.find_at_or_above(line) == above
        assert BlockBoundaries(text).find_at_or_above(line) == above
        assert BlockBoundaries(text).find_at_or_below(line) == min(n for n in lines if n >= line)
    html = [s for s in parse_block_spans(text) if s.kind == "html_block"]
    rows = text.split("\n")
    for line, row in enumerate(rows):
        if row.lstrip(" ").startswith("<!--"):
            _, spans = found.find_html_blocks(line)
            here = [s for s in html if s.start <= line < s.end]
            assert [s for s in spans if s in here] == here


@few_examples
@given(TEXTS)
def test_pieces_have_the_blocks_of_the_whole(text: str) -> None:
    agrees(text)


@few_examples
@given(PROSE | texts([*_PIECES, *MARKERS]))
def test_pieces_of_documents_have_the_blocks_of_the_whole(data: bytes) -> None:
    agrees(Document(data).text)


@few_examples
@given(LONG_TEXTS)
def test_pieces_of_long_texts_have_the_blocks_of_the_whole(text: str) -> None:
    agrees(Document(text.encode()).text)


@pytest.mark.parametrize(("kind", "size"), keep_few(product(RAW_BLOCKS, SIZES), 20))
def test_a_long_block_of_any_kind_ends_where_it_ends_in_the_whole(
    kind: tuple[str, str], size: int
) -> None:
    for form in ("line", "line open", "lines", "lines open"):
        block = make_raw_block(kind, size % 4, size, form)
        for below in ("", "text\n", "\ntext\n\n- a list\n\nmore text\n"):
            agrees(block + below)
            agrees(f"- a list\n\ntext\n\n{block}{below}")


@pytest.mark.skipif(not EXAMPLES, reason="needs the specification's examples")
def test_pieces_of_every_example_have_the_blocks_of_the_whole() -> None:
    for example in EXAMPLES:
        agrees(example)
        agrees(f"Text\n\n{example}\nText\n\n{example}\n\nText\n")


class Counted(str):
    """A text that counts how much of it is cut out, to be parsed."""

    __slots__ = ()
    characters = 0

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        found = str.__getitem__(self, key)
        Counted.characters += len(found)
        return found


def cut_out(text: str) -> float:
    """How many times as much as a text has is parsed to find all its boundaries."""
    Counted.characters = 0
    found = BlockBoundaries(Counted(text))
    assert found.find_at_or_below(len(found)) == len(found)
    return Counted.characters / len(text)


PARAGRAPHS = "Some words that make a line of an ordinary length.\n\n- a list\n- of two\n\n" * 5
FENCE = "```sh\nmake\n\nmake test\n```\n\n"


@pytest.mark.parametrize(
    ("text", "most"),
    [
        (PARAGRAPHS * 500, 0),
        ((PARAGRAPHS + FENCE) * 500, 0.25),
        ("- a list\n" * 20_000, 0),
        (PARAGRAPHS * 10 + "```\n" + PARAGRAPHS * 500, 3),
        ("<!-- a -->\n\n" * 20_000, 1.1),
        ("```\nx\n```\n" * 20_000, 3),
    ],
)
def test_only_what_may_hide_a_boundary_is_parsed_and_that_a_few_times(
    text: str, most: float
) -> None:
    assert cut_out(text) <= most
