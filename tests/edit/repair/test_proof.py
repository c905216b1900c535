from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.edit.document import split_lines
from cub.edit.repair.proof import proven_end
from cub.edit.sections import author_of, digest
from tests.edit.broken import inside
from tests.examples import few_examples

BODY = ["## H", "", "  - one", "text  ", "\x0c", "```", "<!-- note -->"]


def _old(body: str) -> str:
    return f"<!-- sha256:{sha256(body.strip().encode()).hexdigest()} -->\n"


@pytest.mark.parametrize("kind", ["intact", "edited", "unknown"])
@pytest.mark.parametrize("behind", ["", "Yours.\n", "\n\n- Yours.\n\nMore.\n"])
def test_the_digest_tells_where_the_body_ends(kind: str, behind: str) -> None:
    text = inside(kind)  # type: ignore[arg-type]
    found = proven_end(split_lines((text + behind).encode()))
    assert found == (len(text.splitlines()) - 1 if kind == "intact" else None)


@pytest.mark.parametrize("blank", ["", "\n"])
def test_the_older_digest_does_too(blank: str) -> None:
    body = "## H\n\n- one  \n\n- two\n"
    text = blank + _old(body) + "\n" + body
    found = proven_end(split_lines((text + "\nYours.\n").encode()))
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
    head = _old(text) if old else f"<!-- cub:digest {digest(text.encode())} -->\n"
    lines = split_lines((head + text + "\n".join(behind)).replace("\n", end).encode())
    fits = [n for n in range(1, len(lines) + 1) if author_of(lines[:n]) == "cub"]
    assert proven_end(lines) == fits[0]


def test_many_lines_take_one_pass() -> None:
    lines = [f"{number}\n".encode() for number in range(20_000)]
    head = f"<!-- cub:digest {digest(b''.join(lines[:19_000]))} -->\n".encode()
    assert proven_end([head, *lines]) == 19_001
