"""Baselines: maps that anyone could make, of public top-level definitions, at the same budget.

All are printed alike: the path of a file, and below it the opening lines of its definitions, cut
at 56 characters. They differ only in which definitions come first.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from cub.tokens import estimate_tokens
from tests.benchmarks.map.defined import Defined, defined
from tests.benchmarks.map.kinds import kind, language

_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_IMPORT = re.compile(
    r"^\s*(?:import|from|use|require|require_relative|include|using|#\s*include|export .* from"
    r"|mod|pub use|source|\.|.*\brequire\(|[^\n]*\bfrom\b\s*['\"])[^\n]*",
    re.MULTILINE,
)
_INNER = frozenset({"index", "__init__", "mod", "lib", "main"})

Entry = tuple[str, Defined]


@dataclass(frozen=True, slots=True)
class Sources:
    """The text of each source file and of each test, and the definitions that may be shown."""

    texts: dict[str, str]
    entries: list[Entry]

    @classmethod
    def of(cls, files: dict[str, str]) -> Sources:
        code = {path: text for path, text in files.items() if kind(path) in ("source", "test")}
        shown = [
            (path, one)
            for path, text in sorted(code.items())
            if kind(path) == "source"
            for one in defined(language(path), text)
            if one.top and one.public
        ]
        return cls(code, shown)


def page(entries: Iterable[Entry], tokens: int) -> str:
    """As many of the entries as the budget holds, by file."""
    left = tokens
    by_file: dict[str, list[str]] = {}
    for path, one in entries:
        line, shown = f"  {one.text.strip()[:56]}", by_file.get(path, [])
        cost = estimate_tokens(line) + (0 if shown else estimate_tokens(path + ":"))
        if line not in shown and cost <= left:
            by_file[path] = [*shown, line]
            left -= cost
    return "".join(f"{path}:\n" + "\n".join(lines) + "\n" for path, lines in by_file.items())


def at_random(sources: Sources, seed: int) -> list[Entry]:
    """Any of them."""
    return random.Random(seed).sample(sources.entries, len(sources.entries))


def largest_files(sources: Sources) -> list[Entry]:
    """Those of the largest files first."""
    return sorted(sources.entries, key=lambda e: (-len(sources.texts[e[0]]), e[0], e[1].line))


def most_referenced(sources: Sources) -> list[Entry]:
    """Those whose name the most other files say, shared by those that define it."""
    said: Counter[str] = Counter()
    for text in sources.texts.values():
        said.update(set(_WORD.findall(text)))
    definers = Counter(name for name, _ in {(one.name, path) for path, one in sources.entries})
    return sorted(
        sources.entries,
        key=lambda e: (-(said[e[1].name] - 1) / definers[e[1].name], e[0], e[1].line),
    )


def most_imported(sources: Sources) -> list[Entry]:
    """Those of the files that the most import lines name."""
    said: Counter[str] = Counter()
    for text in sources.texts.values():
        lines = "\n".join(match[0] for match in _IMPORT.finditer(text))
        said.update(set(_WORD.findall(lines)))
    return sorted(sources.entries, key=lambda e: (-said[_module(e[0])], e[0], e[1].line))


def _module(path: str) -> str:
    """The word that an import of the file has to say."""
    file = PurePosixPath(path)
    stem = file.name.split(".")[0]
    folder = stem in _INNER or file.suffix == ".go"
    return file.parent.name if folder else stem


BASELINES: dict[str, Callable[[Sources], list[Entry]]] = {
    "largest files": largest_files,
    "in-degree": most_referenced,
    "most imported": most_imported,
}
