from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.edit.document import Document
from cub.edit.older import is_older, modernized
from cub.edit.sections import find
from cub.edit.writing import render

BODY = "# Tasks\n\nsha256: as in `sha256:0`, is a hash.\n\n- one\n"


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
    data = mark + text.replace("\n", end).encode() + older(BODY, end, gap) + b"\nBelow"
    document = Document(data)
    section = find(document)
    assert section is not None
    assert is_older(section)
    done = document.with_data(modernized(document, section))
    found = find(done)
    assert found is not None
    assert (found.author, found.body) == ("cub", section.body)
    assert not is_older(found)
    pairs = zip(document.lines, done.lines, strict=True)
    changed = [(old, new) for old, new in pairs if old != new]
    assert len(changed) == 1
    assert changed[0][1] == f"<!-- cub:digest {found.digest} -->{end}".encode()


@pytest.mark.parametrize(
    "data",
    [
        older(BODY).replace(b"- one", b"- two"),
        render(BODY, 1, b"\n") + b"\n",
        render(BODY, 1, b"\n").replace(b"cub:digest", b"digest") + b"\n",
    ],
    ids=["edited", "today's", "without a digest"],
)
def test_other_sections_are_not_of_the_older_form(data: bytes) -> None:
    section = find(Document(data))
    assert section is not None
    assert not is_older(section)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r<"), min_size=1))
def test_whatever_the_body_says_it_is_cub_s_afterwards(body: str) -> None:
    document = Document(older(body))
    section = find(document)
    assert section is not None
    if is_older(section):  # a body of blank lines alone may be none
        found = find(document.with_data(modernized(document, section)))
        assert found is not None
        assert (found.author, found.body) == ("cub", section.body)
