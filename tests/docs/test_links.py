"""Links between pages lead somewhere, and from the index a reader gets to every page."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
INDEX = "docs/index.md"
FRONT = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


class Link(NamedTuple):
    """A link of `page` (relative to the root), in the line where its paragraph begins."""

    page: str
    line: int
    target: str


def pages() -> list[str]:
    found = [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in FRONT)]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


@cache
def _tokens(page: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse((ROOT / page).read_text("utf-8"))


def links(page: str) -> Iterator[Link]:
    """The links and images of a page that stay in the repository."""
    for token in _tokens(page):
        for child in token.children or ():
            target = child.attrs.get("href") or child.attrs.get("src")
            if isinstance(target, str) and not _ELSEWHERE.match(target):
                yield Link(page, token.map[0] + 1 if token.map else 0, target)


def anchors(page: str) -> set[str]:
    """What a page's headings can be reached by, the way GitHub makes anchors of them."""
    found: set[str] = set()
    tokens = _tokens(page)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            text = "".join(t.content for t in inline.children or () if t.type != "html_inline")
            slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
            numbered = (slug if n == 0 else f"{slug}-{n}" for n in range(len(found) + 1))
            found.add(next(name for name in numbered if name not in found))
    return found


def fault(link: Link) -> str:
    """Why a link leads nowhere; "" if it leads somewhere."""
    path, _, anchor = link.target.partition("#")
    here = posixpath.dirname(link.page)
    target = posixpath.normpath(posixpath.join(here, path)) if path else link.page
    if target.startswith("..") or not (ROOT / target).exists():
        return f"{link.page}:{link.line}: there is no {target}"
    if anchor and (not target.endswith(".md") or anchor not in anchors(target)):
        return f"{link.page}:{link.line}: {target} has no heading #{anchor}"
    return ""


@pytest.mark.parametrize("page", pages())
def test_every_link_leads_to_a_file_and_a_heading(page: str) -> None:
    assert [reason for link in links(page) if (reason := fault(link))] == []


def test_the_index_leads_to_every_page() -> None:
    named = {posixpath.normpath(f"docs/{link.target.partition('#')[0]}") for link in links(INDEX)}
    wanted = {page for page in pages() if page.startswith("docs/") and page != INDEX}
    assert wanted - named == set(), f"{INDEX} has no link to these pages"


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("nowhere.md", "docs/index.md:7: there is no docs/nowhere.md"),
        ("../../outside.md", "docs/index.md:7: there is no ../outside.md"),
        ("tutorial.md#nothing", "docs/index.md:7: docs/tutorial.md has no heading #nothing"),
        ("tutorial.md#install", ""),
        ("../LICENSE", ""),
    ],
)
def test_a_broken_link_is_noticed(target: str, reason: str) -> None:
    assert fault(Link(INDEX, 7, target)) == reason
