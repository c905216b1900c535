from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cub.edit import sections
from cub.edit.document import Document
from cub.edit.repair.marker_choices import list_repair_choices
from cub.edit.section_writer import put_section, remove_section
from cub.edit.user_lines import extract_user_lines
from cub.errors import CubError, InternalError
from tests.edit.readers import read_section
from tests.edit.strategies import ANYTHING, BODY, LONG_TEXTS, PROSE
from tests.examples import few_examples, hardly_any_examples

OTHER = "## Cub Integration\n\nQuite another text.\n\n- With a list.\n"
WITH_SECTION = st.builds(
    lambda above, below: put_section(Document(above), OTHER, 1).document.data + below, PROSE, PROSE
)


def _parsed(data: bytes) -> Document:
    try:
        return Document.parse(data, "AGENTS.md")
    except CubError:
        assume(False)
        raise


@few_examples
@given(ANYTHING)
def test_parsing_is_lossless(data: bytes) -> None:
    document = _parsed(data)
    assert document.data == data
    assert b"".join(document.lines) == data
    assert document.get_bytes_before(len(document.lines)) == data or not document.lines


@given(PROSE | st.binary(max_size=64), st.booleans())
def test_put_then_remove_gives_the_original_back(data: bytes, top: bool) -> None:
    document = _parsed(data)
    assume(sections.find_section(document) is None)
    done = put_section(document, BODY, 1, top=top).document
    section = read_section(done)
    assert remove_section(done, section, top=top) == data


@given(PROSE, st.booleans())
def test_put_keeps_every_byte_outside_and_is_idempotent(data: bytes, top: bool) -> None:
    document = _parsed(data)
    done = put_section(document, BODY, 1, top=top).document
    section = read_section(done)
    assert section.author == "cub"
    left = sections.get_bytes_outside(done, section)
    assert left.startswith(data) or (
        left.startswith(data[: document.head_size]) and left.endswith(data[document.head_size :])
    )
    assert put_section(done, BODY, 1, top=top).document.data == done.data


@hardly_any_examples
@given(PROSE, PROSE)
def test_replacing_changes_nothing_around_the_section(above: bytes, below: bytes) -> None:
    first = put_section(_parsed(above), BODY, 1).document
    read_section(first)
    assume(first.data.endswith((b"\n", b"\r")) and not below.startswith(b"\n"))
    joined = _parsed(first.data + below)
    try:
        found = sections.find_section(joined)
    except CubError:
        assume(False)
        raise
    assume(found is not None)
    assert found is not None
    done = put_section(joined, OTHER, 1).document
    new = read_section(done)
    assert done.get_bytes_before(new.start) == joined.get_bytes_before(found.start)
    assert done.get_bytes_from(new.end) == joined.get_bytes_from(found.end)


_IN_HTML = (
    b"<div>\n<!-- BEGIN CUB MANAGED SECTION v1 -->\n<!-- END CUB MANAGED SECTION -->\n```\n\n# A"
)


def test_a_section_that_the_text_around_depends_on_is_refused() -> None:
    with pytest.raises(CubError, match="would render differently") as refusal:
        put_section(_parsed(_IN_HTML), BODY, 1)
    assert not isinstance(refusal.value, InternalError)
    assert refusal.value.hint == "put a blank line above and below the section"


@example(_IN_HTML)
@given(ANYTHING | WITH_SECTION)
def test_any_input_is_edited_or_refused_but_never_damaged(data: bytes) -> None:
    _edit(data)


@given(LONG_TEXTS.map(str.encode))
def test_long_lines_and_large_blocks_are_edited_or_refused_but_never_damaged(data: bytes) -> None:
    if _edit(data) is None:
        with suppress(CubError):
            list_repair_choices(_parsed(data), lambda _: None)


def _edit(data: bytes) -> Document | None:
    """Put a section in or replace it, and check that no byte outside it changes; None if refused.

    What is put in can be taken out again, and what is written again stays as it is.
    """
    document = _parsed(data)
    try:
        before = sections.find_section(document)
        done = put_section(document, BODY, 1).document
    except InternalError:
        raise
    except CubError:
        return None  # nothing was made of it
    after = read_section(done)
    if before is not None:
        assert sections.get_bytes_outside(done, after) == sections.get_bytes_outside(
            document, before
        )
    else:
        assert remove_section(done, after) == data
    assert put_section(done, BODY, 1).document.data == done.data
    return done


@given(
    st.lists(st.sampled_from(["- a", "- b", "", "text", "```", "## Cub Integration"]), max_size=12)
)
def test_every_line_of_an_edited_body_is_ours_or_moved(lines: list[str]) -> None:
    body = [f"{line}\n".encode() for line in lines]
    moved = extract_user_lines(BODY, body)
    ours = {line.encode() for line in BODY.splitlines()}
    for line in lines:
        assert line.encode() in ours or line.encode() + b"\n" in moved
