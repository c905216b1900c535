"""Syntax errors in the files that an attempt changed: evidence against it, whatever checks say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from cub.actions.run.checking import Check, Compared
from cub.actions.run.ground import Ground
from cub.checks.items import Item, neat
from cub.git.snapshot import FileChange
from cub.repomap.listing.kinds import Kind, Kinds
from cub.repomap.listing.languages import language_of
from cub.repomap.symbols.syntax_errors import JUDGED_LANGUAGES, find_syntax_error

COMMAND = "syntax of the changed files"
_MOST = 200  # files
_LARGEST = 1 << 20  # bytes
# Folders of files that are input to a test or to a template engine, and may be broken on purpose.
_DATA = re.compile(
    r"(?:.*/)?(?:.*[-_.])?(?:data|testdata|fixtures?|__fixtures__|golden|goldens|snapshots?"
    r"|__snapshots__|samples?|corpus|cases|inputs?|templates?|skeletons?|archetypes?)/.*",
    re.IGNORECASE,
)


def check_syntax(ground: Ground, before: Any, changed: Sequence[FileChange]) -> Compared | None:
    """Parse the changed sources that cub has a reliable grammar for.

    What was broken before stays out of it. None where there is no new syntax error.
    """
    files = [one for one in changed if one.kind != "D" and not one.submodule]
    items = tuple(_find_errors(ground, before, files))
    return Compared(Check(COMMAND, 1, items=items), False, items) if items else None


def _find_errors(ground: Ground, before: Any, files: Sequence[FileChange]) -> Iterator[Item]:
    judged = ((one, language) for one in files if (language := _judged_language(one.path)))
    for one, language in islice(judged, _MOST):
        fault = find_syntax_error(language, ground.read(one.path, _LARGEST))
        if fault is None:
            continue
        old = ground.read_before(before, one.path) if one.kind == "M" else b""
        if find_syntax_error(language, old) is None:
            yield neat(Item("build", f"{one.path}:{fault.line}", fault.message))


def _judged_language(path: str) -> str:
    """The grammar that a file is judged by; "" where it is none of people's sources."""
    language = language_of(path)
    if language is None or language.grammar not in JUDGED_LANGUAGES or _DATA.fullmatch(path):
        return ""
    foreign = Kinds(()).of(path) in (Kind.VENDORED, Kind.GENERATED)
    return "" if foreign else language.grammar
