"""Whether types are checked strictly, as the configuration of the checkers says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.repomap.stack.facts import Read

_LARGEST = 262_144
# Name of the file at the root, what it has to say, and what that means.
_ROWS = (
    ("tsconfig.json", r'^(?:(?!//).)*"strict"\s*:\s*true', "TypeScript"),
    ("tsconfig.base.json", r'^(?:(?!//).)*"strict"\s*:\s*true', "TypeScript"),
    ("pyproject.toml", r"^\[tool\.mypy\]\s*$(?:\n(?!\[).*)*?\nstrict\s*=\s*true", "mypy"),
    ("mypy.ini", r"^\[mypy\]\s*$(?:\n(?!\[).*)*?\nstrict\s*=\s*[Tt]rue", "mypy"),
    ("setup.cfg", r"^\[mypy\]\s*$(?:\n(?!\[).*)*?\nstrict\s*=\s*[Tt]rue", "mypy"),
    ("pyproject.toml", r"^typeCheckingMode\s*=\s*[\"']strict", "Pyright"),
    ("pyrightconfig.json", r'"typeCheckingMode"\s*:\s*"strict"', "Pyright"),
)


def strictness(paths: Sequence[str], read: Read) -> Iterator[str]:
    """`mypy is strict (pyproject.toml)` and the like, each checker once."""
    there, said = frozenset(paths), set[str]()
    for path, pattern, checker in _ROWS:
        if path in there and checker not in said and _says(path, pattern, read):
            said.add(checker)
            yield f"{checker} is strict ({path})"


def _says(path: str, pattern: str, read: Read) -> bool:
    try:
        text = read(path)[:_LARGEST].decode("utf-8", "replace").replace("\r\n", "\n")
    except OSError:
        return False
    return bool(re.search(pattern, text, re.MULTILINE))
