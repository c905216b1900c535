"""Texts that a managed section may have to live with."""

from __future__ import annotations

from hypothesis import strategies as st

BODY = "## Cub Integration\n\n- Work on one task.\n"

_PIECES = [
    "# Title", "Some text", "    indented", "\tx", "- item", "  - nested", "1. one", "> quote",
    ">",
    "```", "~~~", "```py", "  ```", "- ```", "> ```", "---", "===", "***", "<div>", "</div>",
    "<pre>",
    "</pre>", "<script>", "</script>", "<!--", "-->", "<!-- note -->", "<?php", "?>", "<![CDATA[",
    "]]>", "<!DOCTYPE html>", "<!X", "<details>", "| a | b |", "|---|---|", "[ref]: /url", "[ref]:",
    "'title", "key: value", "@AGENTS.md", "", "", "  ", "\t", "\x0c", "\x85", "\u2028", "\0", "é",
    "<<<<<<< HEAD", "=======", ">>>>>>> theirs", "`<!-- BEGIN CUB MANAGED SECTION v1 -->`",
    "<!-- begin cub managed section v1 -->",
]  # fmt: skip
MARKERS = [
    "<!-- BEGIN CUB MANAGED SECTION v1 -->",
    "  <!--  BEGIN  CUB MANAGED SECTION v1  -->  ",
    "<!-- BEGIN CUB MANAGED SECTION v99 -->",
    "<!-- END CUB MANAGED SECTION -->",
    "<!-- cub:digest sha256-0123456789abcdef -->",
]
ENDS = ["\n", "\r\n", "\r"]


def _joined(parts: list[tuple[str, str]], last: str, mark: bytes) -> bytes:
    return mark + ("".join(piece + end for piece, end in parts) + last).encode()


def texts(pieces: list[str]) -> st.SearchStrategy[bytes]:
    """Files made of `pieces`, with one or all kinds of line ends, with and without a last one."""
    piece = st.sampled_from(pieces)
    uniform = st.sampled_from(ENDS).flatmap(
        lambda end: st.lists(st.tuples(piece, st.just(end)), max_size=12)
    )
    mixed = st.lists(st.tuples(piece, st.sampled_from(ENDS)), max_size=12)
    mark = st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf"])
    return st.builds(_joined, uniform | mixed, piece | st.just(""), mark)


PROSE = texts(_PIECES)
ANYTHING = texts(_PIECES + MARKERS) | st.binary(max_size=200)

# Line lengths and block sizes on both sides of the powers of two that buffers have.
SIZES = [2**power + more for power in (12, 13, 14, 16) for more in (-1, 0, 1)] + [100_000]
RAW_BLOCKS = [
    ("<!--", "-->"), ("<?", "?>"), ("<!X", ">"), ("<![CDATA[", "]]>"), ("<pre>", "</pre>"),
    ("<script>", "</script>"), ("<style>", "</style>"), ("<textarea>", "</textarea>"),
    ("```", "```"), ("~~~", "~~~"),
]  # fmt: skip


def make_raw_block(kind: tuple[str, str], indent: int, size: int, form: str) -> str:
    """A fence or raw HTML that is `size` long without its end, and has its end unless it is `open`.

    `form` is `line` for a single long line, `lines` for a few of them, both also with ` open`.
    """
    opener, closer = kind
    begin = " " * indent + opener + "\n" * ("lines" in form)
    row = "x" * 1000 + "\n\n" if "lines" in form else "x"
    filled = (begin + row * (size // len(row) + 1))[:size]
    if "open" in form:
        return filled + "\n"
    return filled + "\n" * ("lines" in form or opener in ("```", "~~~")) + closer + "\n"


RAW_TEXT = st.builds(
    make_raw_block,
    st.sampled_from(RAW_BLOCKS),
    st.integers(0, 3),
    st.sampled_from(SIZES) | st.integers(1, 100_000),
    st.sampled_from(["line", "line open", "lines", "lines open"]),
)
LONG_TEXTS = st.lists(
    RAW_TEXT
    | st.builds(lambda size: "x" * size + "\n", st.sampled_from(SIZES))
    | st.lists(st.sampled_from([*_PIECES, *MARKERS]), max_size=4).map("\n".join)
    | st.just("\n"),
    max_size=6,
).map("".join)
