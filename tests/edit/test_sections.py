from __future__ import annotations

import hashlib

import pytest

from cub.edit.document import Document
from cub.edit.sections import Section, digest, find
from cub.edit.writing import render
from tests.edit.strategies import BODY


def _section(data: bytes) -> Section:
    section = find(Document(data))
    assert section is not None
    return section


def _written() -> bytes:
    return render(BODY, 1, b"\n") + b"\n"


def test_the_digest_is_over_normalized_lines() -> None:
    text = b"## Cub Integration\n\n- Work on one task."
    assert digest(BODY.encode()) == "sha256-" + hashlib.sha256(text).hexdigest()[:16]
    assert digest(b"\r\n\r\n## Cub Integration  \r\n\r\n- Work on one task.\t\r\n") == digest(
        BODY.encode()
    )


def test_a_section_as_written_is_cubs_own() -> None:
    section = _section(b"text\n\n" + _written())
    assert (section.start, section.end, section.version) == (2, 12, 1)
    assert section.author == "cub"
    assert section.is_current(BODY, 1)
    assert not section.is_current(BODY, 2)
    assert not section.is_current(BODY + "- More.\n", 1)
    edited = _section(_written().replace(b"one task", b"two tasks"))
    assert not edited.is_current(BODY, 1)


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
    assert _section(_written().replace(old, new)).is_current(BODY, 1)


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
    assert _section(_written().replace(old, new)).author == "edited"


def test_without_a_digest_nobody_can_tell() -> None:
    lines = [line for line in _written().splitlines(keepends=True) if b"cub:digest" not in line]
    assert _section(b"".join(lines)).author == "unknown"


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_the_older_digest_form_is_read(newline: bytes) -> None:
    text = b"# Old\n\nbody"
    old = b"<!-- sha256:%s -->" % hashlib.sha256(text).hexdigest().encode()
    lines = [b"<!-- BEGIN CUB MANAGED SECTION v1 -->", old, b"# Old", b"", b"body", b""]
    data = newline.join([*lines, b"<!-- END CUB MANAGED SECTION -->", b""])
    assert _section(data).author == "cub"
    assert not _section(data).is_current("# Old\n\nbody\n", 1)
    assert _section(data.replace(b"body", b"mine")).author == "edited"
