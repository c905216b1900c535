"""Convert HTML on stdin to Markdown on stdout: a program, so that no page can block cub.

Pages come from anyone, and the parser takes hours for some of them. The argument is the character
set, or "". It runs by its path and imports nothing of cub.
"""

from __future__ import annotations

import sys

# HTML that does not close its paragraphs is nested as deeply as it is long.
_MAX_DEPTH = 50_000
_WITHOUT_TEXT = ("script", "style", "noscript", "template", "svg", "iframe", "canvas")


def convert_html(data: bytes, charset: str) -> str:
    """Return a page as Markdown; a character set in the page counts if `charset` is ""."""
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(data, "html.parser", from_encoding=charset or None)
    for element in soup(_WITHOUT_TEXT):
        element.decompose()
    return str(MarkdownConverter(heading_style="ATX", strip=["img"]).convert_soup(soup))


if __name__ == "__main__":
    sys.setrecursionlimit(_MAX_DEPTH)
    markdown = convert_html(sys.stdin.buffer.read(), sys.argv[1])
    sys.stdout.buffer.write(markdown.encode("utf-8", "replace"))
