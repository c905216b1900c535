"""A digest is of words: formatters keep them, and whoever writes in a section does not."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import mdformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.edit.digests import compute_digest, matches_digest, split_words
from cub.edit.document import Document, split_lines
from cub.edit.file_header import add_file_header, parse_file_header
from cub.edit.section_writer import put_section
from cub.edit.sections import find_digest_end
from cub.edit.user_lines import extract_user_lines
from cub.prompt.section_text import render_section
from cub.prompt.templates import load_shipped_templates
from tests.edit.readers import read_header, read_section
from tests.examples import few_examples
from tests.prompt.test_templates import NEEDS

GOLDEN = Path(__file__).parents[2] / "golden" / "formatters"
TEMPLATES = load_shipped_templates()
BODY = render_section(TEMPLATES, TEMPLATES.version, NEEDS["agents-everything"])


def put(body: str) -> bytes:
    return put_section(Document(b"# Mine\n"), body, TEMPLATES.version).document.data


@pytest.mark.parametrize("path", sorted(GOLDEN.rglob("*.md")), ids=lambda path: path.parent.name)
def test_what_a_formatter_has_wrapped_is_as_cub_wrote_it(path: Path) -> None:
    data = path.read_bytes()
    if header := parse_file_header(data):
        assert header.is_intact
        assert not read_header(data.replace(b" task", b" job", 1)).is_intact
        return
    section = read_section(data)
    assert section.author == "cub"
    assert read_section(data.replace(b"ask the", b"ask a", 1)).author == "edited"


@pytest.mark.parametrize("name", NEEDS)
def test_mdformat_is_no_edit(name: str) -> None:
    body = render_section(TEMPLATES, TEMPLATES.version, NEEDS[name])
    written = put_section(Document(b"# Rules\n\n* Be kind.\n"), body, TEMPLATES.version).document
    formatted = Document(mdformat.text(written.data.decode()).encode())
    section = read_section(formatted)
    assert section.is_current(body, TEMPLATES.version)
    assert b"- Be kind." in formatted.data


def test_mdformat_leaves_cubs_own_files_intact() -> None:
    sealed = add_file_header(TEMPLATES.read_file("runloop.md"), 1, "<!-- {} -->").decode()
    found = read_header(mdformat.text(sealed).encode())
    assert found.is_intact


@pytest.mark.parametrize("wrap", [20, 60, "no"])
@pytest.mark.parametrize("name", ["agents-everything", "inlined", "nested"])
def test_mdformat_wraps_words_that_stay_cubs(name: str, wrap: object) -> None:
    body = render_section(TEMPLATES, TEMPLATES.version, NEEDS[name])
    wrapped = mdformat.text(put(body).decode(), options={"wrap": wrap}).encode()
    section = read_section(wrapped)
    assert section.body != read_section(put(body)).body
    assert section.is_current(body, TEMPLATES.version)
    assert extract_user_lines(body, section.body) == b""
    lines = split_lines(wrapped)[section.start + 1 : section.end + 5]
    assert find_digest_end(lines) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("* a\n+ b", "- a\n- b"),
        ("1. a\n2. b", "1. a\n1. b"),
        ("1) a", "1. a"),
        ("__a__ _b_", "**a** *b*"),
        ("a_b", "a\\_b"),
        ("a & b &copy;", "a &amp; b \u00a9"),
        ("> a b\n> c", "> a\n> b c"),
        ("|a|b|\n|-|:-:|\n|c|d|", "| a | b |\n| --- | :--: |\n| c | d |"),
        ("~~~sh\na\n~~~", "```sh\na\n```"),
        ("    a", "```\na\n```"),
        ("a  \nb", "a\\\nb"),
        ("***", "________"),
        ("\u4f60\u597d\u5417", "\u4f60\n\u597d\u5417"),
        ("a\n- b", "a\r\n\r\n\r\n- b\r\n"),
    ],
)
def test_marks_have_one_form(one: str, other: str) -> None:
    assert compute_digest(one.encode()) == compute_digest(other.encode())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a b", "ab"), ("a b", "b a"), ("a", "a a"), ("a", "A"), ("a_b", "ab"), ("a", "*a*"),
        ("*a*", "**a**"), ("# a", "## a"), ("in 2. b", "in 3. b"), ("a -- b", "a b"),
        ("`-`", "`+`"), ("a", "a."), ("x --yes", "x -yes"), ("a\u00a0b", "a b"),
        ("\udc80", "\udc81"),
    ],
)  # fmt: skip
def test_other_words_are_others(one: str, other: str) -> None:
    texts = (text.encode("utf-8", "surrogateescape") for text in (one, other))
    assert len({compute_digest(text) for text in texts}) == 2


@few_examples
@given(st.data())
def test_a_word_that_is_added_lost_or_changed_is_an_edit(data: st.DataObject) -> None:
    wrap = data.draw(st.sampled_from([20, 60, "keep"]))
    section = read_section(mdformat.text(put(BODY).decode(), options={"wrap": wrap}).encode())
    lines = [line.decode() for line in section.body]
    filled = [n for n, line in enumerate(lines) if re.search(r"\w", line)]
    number = data.draw(st.sampled_from(filled))
    words = [match.span() for match in re.finditer(r"\w+", lines[number])]
    start, end = data.draw(st.sampled_from(words))
    new = data.draw(
        st.sampled_from(["", "neither", "Work", "a b", "x " + lines[number][start:end]])
    )
    old = lines[number]
    lines[number] = old[:start] + new + old[end:]
    if lines[number] == old:
        return
    edited = "".join(lines).encode()
    assert not matches_digest(section.digest, edited)
    moved = extract_user_lines(BODY, split_lines(edited))
    if split_words(new.encode()):
        assert lines[number].encode() in moved
    assert sum(1 for line in moved.splitlines() if line.strip()) <= 2


@pytest.mark.parametrize("mine", ["- Mine.\n", "- Find: mine.\n", "- Report what\n", "- Search\n"])
def test_only_the_users_lines_of_a_wrapped_section_move(mine: str) -> None:
    section = read_section(mdformat.text(put(BODY).decode(), options={"wrap": 40}).encode())
    items = [n for n, line in enumerate(section.body) if line.startswith(b"- ")]
    for number in items:
        lines = [*section.body[:number], mine.encode(), *section.body[number:]]
        assert extract_user_lines(BODY, lines) == mine.encode()
    for start, end in pairwise(items):
        assert extract_user_lines(BODY, [*section.body[:start], *section.body[end:]]) == b""


def test_files_that_are_no_markdown_keep_the_digest_of_lines() -> None:
    data = add_file_header("*.log\n", 1, "# {}")
    assert read_header(data).is_intact
    assert not read_header(data.replace(b"*.log", b".log")).is_intact
    assert not read_header(data.replace(b"*.log", b"* .log")).is_intact
