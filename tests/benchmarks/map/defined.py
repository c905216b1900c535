"""What the source defines, by one regular expression or a few a language.

Rough on purpose, and nothing of cub's: a line that opens a definition, how far it is indented, and
whether it reads as public. Only names count, so a definition that is found twice does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tests.benchmarks.map.patterns import MEMBERS, PATTERNS, PRIVATE, PUBLIC, WORDS

_DOCSTRING = re.compile(r"(\"\"\"|\'\'\').*?\1", re.DOTALL)


class Defined(NamedTuple):
    """A definition: the line that opens it, from 1."""

    name: str
    line: int
    indent: int
    top: bool
    public: bool
    text: str


def defined(language: str, source: str) -> list[Defined]:
    """Every definition in the text of a file, in order."""
    if language == "python":
        source = _DOCSTRING.sub(lambda match: "\n" * match[0].count("\n"), source)
    found = {(one.line, one.name): one for one in _matches(language, source)}
    return sorted(found.values(), key=lambda one: (one.line, one.name))


def _matches(language: str, source: str) -> Iterator[Defined]:
    starts = [0, *(match.end() for match in re.finditer("\n", source))]
    exports = language in ("javascript", "typescript") and "\nexport " in f"\n{source}"
    for top, patterns in ((True, PATTERNS), (False, MEMBERS)):
        for pattern in patterns.get(language, ()):
            for match in pattern.finditer(source):
                name = match["name"]
                if name in WORDS:
                    continue
                line = _line(starts, match.start("name"))
                text = source[starts[line - 1] :].split("\n", 1)[0]
                indent = len(text) - len(text.lstrip())
                public = _public(language, name, text, exports=exports)
                yield Defined(
                    name, line, indent, top and _at_top(language, text, indent), public, text
                )


def _line(starts: list[int], offset: int) -> int:
    from bisect import bisect_right

    return bisect_right(starts, offset)


_DEEP = {"csharp": re.compile(r"\b(class|interface|struct|enum|record|delegate)\b")}
_NESTED = {"ruby": re.compile(r"\s*(class|module)\b"), "go": re.compile(r"\t[A-Z]")}


def _at_top(language: str, text: str, indent: int) -> bool:
    """Types may stand in a namespace; all else is of the top level only at the margin."""
    if indent == 0:
        return True
    if language in _NESTED:
        return bool(_NESTED[language].match(text))
    return language in _DEEP and indent <= 4 and bool(_DEEP[language].search(text))


def _public(language: str, name: str, text: str, *, exports: bool) -> bool:
    if name.startswith("_"):
        return False
    if language == "go":
        return name[0].isupper()
    if exports:
        return text.lstrip().startswith("export")
    if language in PUBLIC:
        return bool(PUBLIC[language].search(text))
    return not PRIVATE.search(text)
