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
