"""From what a file says of its folder to the few words that tell something new."""

from __future__ import annotations

import re

from cub.repomap.outline.plain import sentence
from cub.repomap.outline.prose import first_words, says_nothing
from cub.repomap.outline.words import shortened

LIMIT = 60
_ITSELF = (
    r"(?i)^(?:(?:this|the)\s+(?:\S+\s+)?|here\s+)(?:(?:sub-?)?package|module|crate|gem|folder|directory"
    r"|library|namespace|file|project|app|application|component|plugin|example|template|starter)(?:'s)?\s+"
)
_SELF = re.compile(
    rf"{_ITSELF}(?:is|provides?|contains?|implements?|defines?|holds?|includes?|houses?|offers?)\s+"
)
_DOES = re.compile(rf"{_ITSELF}(?=[a-z]{{3,}}s\s)")
_THIS = re.compile(r"^This is (?=an?\s|the\s)")
_IS = r"(?:is|provides|implements|contains|defines|holds)\s+"
_GO = re.compile(rf"^[Pp]ackage\s+(?:\w+\s+)?{_IS}")
_OPEN = re.compile(r",?\s+(?:such as|including|like|e\.g\.?|namely)$")  # a list came behind it
_ARTICLE = re.compile(r"^(?:an?|the|all|all the|all of the)\s+", re.IGNORECASE)
_EMPTY = frozenset({
    "a", "an", "and", "app", "code", "common", "containing", "contains", "copyright",
    "directory", "file", "files", "folder", "for", "from", "function", "functions", "in",
    "init", "is", "its", "library", "main", "module", "modules", "of", "on", "package",
    "packages", "project", "python", "related", "root", "source", "sources", "src", "stuff",
    "sub", "subpackage", "submodule", "test", "tests", "testing", "that", "the", "this", "to",
    "unit", "various", "with", "go", "rust", "javascript", "typescript", "java", "readme",
    "overview", "description", "introduction", "provide", "provides", "example", "examples",
    "sample", "samples",
})  # fmt: skip
_CLAUSE = re.compile(
    r";\s| \(| [-\u2013\u2014]+ |:\s|,\s(?=which|such|including|with|using|e\.g|i\.e|so\b)"
)


def in_short(text: str, folder: str, project: str = "") -> str:
    """The first sentence of `text` about a folder of this name, in few words; "" if it is empty.

    What the name of the folder and the one of the project say needs no repeating.
    """
    said = sentence(first_words(text))
    if says_nothing(said):
        return ""
    name = folder.rpartition("/")[2]
    named = [_of(name)] if name.lower() in said.lower() else []
    for pattern in (*named, _GO, _SELF, _DOES, _THIS):
        bare = pattern.sub("", said, count=1)
        if bare != said:
            said = _ARTICLE.sub("", bare)
    return _clause(_OPEN.sub("", said)) if _tells(said, f"{project}/{folder}") else ""


def _of(name: str) -> re.Pattern[str]:
    """A start that says nothing but the name."""
    name = re.escape(name)
    return re.compile(
        rf"(?i)^(?:{name}(?:\s+is\s+|\s*[-\u2013\u2014:]+\s+)|package\s+{name}\s+(?:{_IS})?)"
    )


def _tells(said: str, names: str) -> bool:
    """Whether there are words that the names do not say."""
    known = _EMPTY | {word.rstrip("s") for word in _words(names)}
    new = [word for word in _words(said) if word not in _EMPTY and word.rstrip("s") not in known]
    return bool(new) and (len(said) > 3 or not said.isascii())


def _words(text: str) -> list[str]:
    parts = re.sub(r"([a-z\d])([A-Z])", r"\1 \2", text)
    return [word.lower() for word in re.findall(r"[^\W_]+", parts)]


def _clause(text: str) -> str:
    """`text` up to the end of a clause or word, where it is too long."""
    if len(text) <= LIMIT:
        return text
    ends = [end.start() for end in _CLAUSE.finditer(text) if LIMIT * 0.4 < end.start() <= LIMIT]
    return text[: ends[-1]] if ends else shortened(text, LIMIT)
