"""The symbols that later commits touch: the definitions that their hunks lie in.

What a line lies in is read off the indentation: the nearest definition above it that is indented
less, the nearest above that one that is indented still less, and so on.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.map.defined import Defined, defined
from tests.benchmarks.map.kinds import kind, language

COMMITS = 150
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
_CLOSING = re.compile(r"\s*[)}\]]|\s*end\b")


class Hunk(NamedTuple):
    """Lines of the old file; none of them for an insertion after `start`."""

    start: int
    length: int
    added: str


def git(folder: Path, *words: str) -> str:
    """What git says of a bare repository or a work tree."""
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), *words]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode(
        "utf-8", "replace"
    )


def base_of(repository: Path, commits: int = COMMITS) -> str:
    """A first parent of HEAD that enough commits come after, if half of the history has enough."""
    line = git(repository, "rev-list", "--first-parent", "HEAD").split()
    back, most = min(100, len(line) // 2), len(line) // 2
    while len(list(_to_source(repository, line[back]))) < commits and back < most:
        back = min(back * 3 // 2, most)
    return line[back]


def _to_source(repository: Path, base: str) -> Iterator[tuple[str, list[str]]]:
    """The commits since `base` that modify source files, oldest first, with those files."""
    words = (
        "log",
        "--no-merges",
        "--reverse",
        "--no-renames",
        "--diff-filter=M",
        "--format=%x01%H",
        "--name-only",
    )
    for entry in git(repository, *words, f"{base}..HEAD").split("\x01")[1:]:
        commit, *files = entry.split("\n")
        source = [file for file in files if file and kind(file) == "source"]
        if source:
            yield commit, source


def later(repository: Path, base: str, commits: int = COMMITS) -> list[list[str]]:
    """The names of the symbols that each of the following commits touches, where it touches any."""
    there = set(git(repository, "ls-tree", "-r", "-z", "--name-only", base).split("\0"))
    found = []
    for commit, files in _to_source(repository, base):
        try:
            names = touched(repository, commit, [file for file in files if file in there])
        except subprocess.CalledProcessError:  # a snapshot may lack the largest files
            continue
        if names:
            found.append(sorted(names))
        if len(found) == commits:
            break
    return found


def touched(repository: Path, commit: str, files: list[str]) -> set[str]:
    """The names of the definitions of the parent that a commit's hunks lie in."""
    names: set[str] = set()
    if not files:
        return names
    diff = git(
        repository, "diff", "-U0", "--no-color", "--no-ext-diff", f"{commit}^", commit, "--", *files
    )
    for part in re.split(r"^diff --git ", diff, flags=re.MULTILINE)[1:]:
        path = re.search(r"^--- a/(.*)$", part, re.MULTILINE)
        if path is None or path[1] not in files:
            continue
        old = git(repository, "show", f"{commit}^:{path[1]}")
        definitions = defined(language(path[1]), old)
        for hunk in _hunks(part):
            names |= _around(hunk, old.split("\n"), definitions)
    return names


def _hunks(diff: str) -> Iterator[Hunk]:
    lines = diff.split("\n")
    for number, line in enumerate(lines):
        match = _HUNK.match(line)
        if match:
            count = 1 if match[2] is None else int(match[2])
            rest = (one[1:] for one in lines[number + 1 :] if one.startswith("+"))
            yield Hunk(int(match[1]), count, next((one for one in rest if one.strip()), ""))


def _around(hunk: Hunk, lines: list[str], definitions: list[Defined]) -> set[str]:
    if hunk.length == 0:
        return enclosing(hunk.start + 1, hunk.added, definitions)
    names: set[str] = set()
    for number in range(hunk.start, min(hunk.start + hunk.length, len(lines) + 1)):
        names |= enclosing(number, lines[number - 1], definitions)
    return names


def enclosing(number: int, text: str, definitions: list[Defined]) -> set[str]:
    """The definitions that the line `number`, which reads `text`, opens or lies in."""
    if not text.strip():
        return set()
    here = {one.name for one in definitions if one.line == number and one.text == text}
    limit = len(text) - len(text.lstrip()) + bool(_CLOSING.match(text))
    for one in reversed([one for one in definitions if one.line < number]):
        if one.indent < limit:
            here.add(one.name)
            limit = one.indent
    return here
