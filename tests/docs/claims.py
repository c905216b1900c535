"""Read the claims of README and FAQ, and the sentences of a page that could be some."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLAIMS = Path(__file__).with_name("claims.toml")
PAGES = ("README.md", "docs/faq.md")

_NO_PROSE = re.compile(
    r"^```.*?^```\n|^<details>.*?</summary>|^</details>|^#.*?$|^\|?[-| ]+\|$|^!\[.*?\)$",
    re.DOTALL | re.MULTILINE,
)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
# A link to another page promises nothing, and the first row of a table names its columns.
_SENTENCE_OF_WORDS = re.compile(
    r"(?!see |\| (?:Command|Agent|Instead of cub) \|).*\w \w", re.IGNORECASE
)
_ITEM = re.compile(r"\n\s*\n|\n(?=[-|] )|\n(?=\d+\. )")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\[]|cub\b|macOS)|(?<=[.!?]\*\*)\s+|: (?=see\b)")


def read_claims() -> dict[str, dict[str, str]]:
    """Return, for each page, the claims with the test that holds each; "" where none is claimed."""
    return tomllib.loads(CLAIMS.read_text(encoding="utf-8"))


def list_sentences(page: str) -> Iterator[str]:
    """Yield the sentences and the table rows of a page, without code blocks, headings and links."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for item in _ITEM.split(_NO_PROSE.sub("\n\n", text)):
        plain = normalize(item)
        parts = [plain] if plain.startswith("|") else _SENTENCE.split(plain)
        yield from (part for part in parts if _SENTENCE_OF_WORDS.match(part))


def normalize(text: str) -> str:
    """Return a text on one line, with the words of its links alone."""
    return " ".join(_LINK.sub(r"\1", text).replace("**", "").split()).removeprefix("- ")
