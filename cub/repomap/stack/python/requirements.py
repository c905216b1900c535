"""Requirements as Python projects write them: names, versions, and which ones have a name here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cub.repomap.stack.dependencies import known
from cub.repomap.stack.facts import Technology

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;#@]*)")
_SEPARATORS = re.compile(r"[-_.]+")
_MOST_LINES = 5000

Needed = tuple[str, str]  # a normalized name and its versions


def split(requirement: str) -> Needed:
    """The name and the versions of a requirement (PEP 508), ("", "") for what is none."""
    found = _REQUIREMENT.match(requirement[:200])
    if found is None:
        return "", ""
    versions = found[2].partition(" --")[0].strip(" ()\t\r\n\\")
    return normal(found[1]), versions if versions[:1] in tuple("<>=!~") else ""


def normal(name: str) -> str:
    """A package's name as indexes compare it."""
    return _SEPARATORS.sub("-", name[:200]).lower()


def technologies(needed: Iterable[Needed], source: str) -> tuple[Technology, ...]:
    """What is known of the packages that a program needs at run time."""
    return known("pypi", needed, source)


def lines(text: str) -> Iterator[str]:
    """The requirements of a requirements file, without options, comments and addresses."""
    for line in text.split("\n")[:_MOST_LINES]:
        bare = line.partition("#")[0].strip()
        if bare and bare[0] not in "-/." and not bare.startswith(("git+", "http", "file:")):
            yield bare
