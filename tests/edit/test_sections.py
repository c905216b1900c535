from __future__ import annotations

import hashlib
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.edit.digests import compute_digest
from cub.edit.document import Document, split_lines
from cub.edit.section_writer import render_section
from cub.edit.sections import (
    detect_author,
    find_digest_end,
    has_legacy_digest,
    rewrite_legacy_digest,
)
from tests.edit.broken import inside
from tests.edit.readers import read_section
from tests.edit.strategies import BODY as STRATEGIES_BODY
from tests.examples import few_examples

BODY = ["## H", "", "  - one", "text  ", "\x0c", "```", "<!-- note -->"]


def _old(body: str) -> str:
    return f"<!-- sha256:{sha256(body.strip().encode()).hexdigest()} -->\n"


@pytest.mark.parametrize("kind", ["intact", "edited", "unknown"])
@pytest.mark.parametrize("behind", ["", "Yours.\n", "\n\n- Yours.\n\nMore.\n"])
def test_the_digest_tells_where_the_body_ends(kind: str, behind: str) -> None:
    text = inside(kind)  # type: ignore[arg-type]
    found = find_digest_end(split_lines((text + behind).encode()))
    assert found == (len(text.splitlines()) - 1 if kind == "intact" else None)


@pytest.mark.parametrize("blank", ["", "\n"])
def test_the_older_digest_does_too(blank: str) -> None:
    body = "## H\n\n- one  \n\n- two\n"
    text = blank + _old(body) + "\n" + body
    found = find_digest_end(split_lines((text + "\nYours.\n").encode()))
    assert found == len(text.splitlines())


@few_examples
@given(
    st.lists(st.sampled_from(BODY), max_size=8),
    st.lists(st.sampled_from(["", "Yours.", *BODY]), max_size=8),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
def test_the_end_is_the_first_that_fits(
    body: list[str], behind: list[str], end: str, old: bool
) -> None:
    text = "".join(line + "\n" for line in ["## H", *body])
    head = _old(text) if old else f"<!-- cub:digest {compute_digest(text.encode())} -->\n"
    lines = split_lines((head + text + "\n".join(behind)).replace("\n", end).encode())
    fits = [n for n in range(1, len(lines) + 1) if detect_author(lines[:n]) == "cub"]
    assert find_digest_end(lines) == fits[0]


def test_many_lines_take_one_pass() -> None:
    lines = [f"{number}\n".encode() for number in range(20_000)]
    head = f"<!-- cub:digest {compute_digest(b''.join(lines[:19_000]))} -->\n".encode()
    assert find_digest_end([head, *lines]) == 19_001


OLDER_BODY = "# Tasks\n\nsha256: as in `sha256:0`, is a hash.\n\n- one\n"


def older(body: str, end: str = "\n", gap: str = "") -> bytes:
    proof = sha256(body.strip().encode()).hexdigest()
    text = (
        f"<!-- BEGIN CUB MANAGED SECTION v1 -->\n{gap}<!-- sha256:{proof} -->\n"
        f"{body.strip()}\n<!-- END CUB MANAGED SECTION -->\n"
    )
    return text.replace("\n", end).encode()


@pytest.mark.parametrize("gap", ["", "\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("text", ["", "Above.\n\n"])
def test_the_digest_line_is_today_s_and_nothing_else_has_changed(
    gap: str, end: str, mark: bytes, text: str
) -> None:
    data = mark + text.replace("\n", end).encode() + older(OLDER_BODY, end, gap) + b"\nBelow"
    document = Document(data)
    section = read_section(document)
    assert has_legacy_digest(section)
    done = document.replace_data(rewrite_legacy_digest(document, section))
    found = read_section(done)
    assert (found.author, found.body) == ("cub", section.body)
    assert not has_legacy_digest(found)
    pairs = zip(document.lines, done.lines, strict=True)
    changed = [(old, new) for old, new in pairs if old != new]
    assert len(changed) == 1
    assert changed[0][1] == f"<!-- cub:digest {found.digest} -->{end}".encode()


@pytest.mark.parametrize(
    "data",
    [
        older(OLDER_BODY).replace(b"- one", b"- two"),
        render_section(OLDER_BODY, 1, b"\n") + b"\n",
        render_section(OLDER_BODY, 1, b"\n").replace(b"cub:digest", b"digest") + b"\n",
    ],
    ids=["edited", "today's", "without a digest"],
)
def test_other_sections_are_not_of_the_older_form(data: bytes) -> None:
    section = read_section(data)
    assert not has_legacy_digest(section)


# No HTML and no fence: what is left open there would hide the END marker.
@given(st.text(st.characters(codec="utf-8", exclude_characters="\r<`~"), min_size=1))
def test_whatever_the_body_says_it_is_cub_s_afterwards(body: str) -> None:
    document = Document(older(body))
    section = read_section(document)
    if has_legacy_digest(section):  # a body of blank lines alone may be none
        found = read_section(document.replace_data(rewrite_legacy_digest(document, section)))
        assert (found.author, found.body) == ("cub", section.body)


def _written() -> bytes:
    return render_section(STRATEGIES_BODY, 1, b"\n") + b"\n"


def test_a_digest_of_lines_is_read_and_not_written() -> None:
    old = f"sha256-{hashlib.sha256(STRATEGIES_BODY.strip().encode()).hexdigest()[:16]}"
    fresh = compute_digest(STRATEGIES_BODY.encode())
    assert fresh != old
    section = read_section(_written().replace(fresh.encode(), old.encode()))
    assert section.author == "cub"
    assert section.is_current(STRATEGIES_BODY, 1)


def test_a_section_as_written_is_cubs_own() -> None:
    section = read_section(b"text\n\n" + _written())
    assert (section.start, section.end, section.version) == (2, 12, 1)
    assert section.author == "cub"
    assert section.is_current(STRATEGIES_BODY, 1)
    assert not section.is_current(STRATEGIES_BODY, 2)
    assert not section.is_current(STRATEGIES_BODY + "- More.\n", 1)
    edited = read_section(_written().replace(b"one task", b"two tasks"))
    assert not edited.is_current(STRATEGIES_BODY, 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\n", b"\r\n"),
        (b"\n", b"\r"),
        (b" -->\n", b" -->\n\n"),
        (b"task.\n", b"task.   \n"),
        (b"<!-- ", b" <!--  "),
        (b"\n\n<!-- END", b"\n<!-- END"),
        (b"<!-- Do not", b"\n<!--   Do   not"),
        (b"\n- ", b"\n* "),
        (b"\n- ", b"\n+ "),
    ],
)
def test_a_formatters_pass_is_no_edit(old: bytes, new: bytes) -> None:
    assert read_section(_written().replace(old, new)).is_current(STRATEGIES_BODY, 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"one task", b"two tasks"),
        (b"\n\n- Work", b"\n\n<!-- mine -->\n- Work"),
        (b" -->\n\n## Cub", b" -->\n<!-- a note of mine -->\n\n## Cub"),
        (b"- Work on one task.\n", b""),
        (b"\n\n<!-- END", b"\n- Mine.\n\n<!-- END"),
        (b"Do not edit this section.", b"Please edit this section."),
    ],
)
def test_any_other_change_inside_is_an_edit(old: bytes, new: bytes) -> None:
    assert old in _written()
    assert read_section(_written().replace(old, new)).author == "edited"


def test_without_a_digest_nobody_can_tell() -> None:
    lines = [line for line in _written().splitlines(keepends=True) if b"cub:digest" not in line]
    assert read_section(b"".join(lines)).author == "unknown"


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_the_older_digest_form_is_read(newline: bytes) -> None:
    text = b"# Old\n\nbody"
    old = b"<!-- sha256:%s -->" % hashlib.sha256(text).hexdigest().encode()
    lines = [b"<!-- BEGIN CUB MANAGED SECTION v1 -->", old, b"# Old", b"", b"body", b""]
    data = newline.join([*lines, b"<!-- END CUB MANAGED SECTION -->", b""])
    assert read_section(data).author == "cub"
    assert not read_section(data).is_current("# Old\n\nbody\n", 1)
    assert read_section(data.replace(b"body", b"mine")).author == "edited"
