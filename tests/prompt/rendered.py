"""A prompt as a renderer shows it, read by Python's HTML parser: a judge of its own."""

from __future__ import annotations

import unicodedata
from html.parser import HTMLParser

from markdown_it import MarkdownIt

_HEADINGS = tuple(f"h{level}" for level in range(1, 7))


class _Reader(HTMLParser):
    """Collects the lines of all headings; a heading that is open takes what comes, as a browser.

    What is open within it, such as <marquee>, keeps its end from it (HTML 13.2.4.2, scope).
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HEADINGS or dict(attrs).get("role") == "heading":
            self._open.append(tag)
            self.lines.append("")
        elif self._open and tag == "marquee":
            self._open.append(tag)
        elif self._open and tag in ("br", "p", "div", "li"):
            self.lines.append("")

    def handle_endtag(self, tag: str) -> None:
        if self._open and (tag == self._open[-1] or {tag, self._open[-1]} <= {*_HEADINGS}):
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open:
            first, *more = data.split("\n")
            self.lines[-1] += first
            self.lines += more


def heading_lines(markdown: str) -> list[str]:
    """The lines of all headings of a text, as a person compares them: letters in lower case."""
    reader = _Reader()
    reader.feed(MarkdownIt("commonmark", {"html": True}).render(markdown))
    reader.close()
    return [letters for line in reader.lines if (letters := letters_of(line))]


def letters_of(text: str) -> str:
    """The letters of a text, in lower case and in their usual form."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(filter(str.isalnum, plain))
