"""Find the dependencies that have a name in the map: those in `packages.toml`.

A package that is not in the table is a dependency like hundreds of others, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Literal

from cub.repomap.data import load_table
from cub.repomap.stack.facts import Technology, TechnologyRole

Ecosystem = Literal[
    "pypi", "npm", "crates", "go", "maven", "rubygems", "packagist", "nuget", "hex", "swift",
    "native", "docker", "terraform", "serverless", "asdf",
]  # fmt: skip


def find_known_technologies(
    ecosystem: Ecosystem, packages: Iterable[tuple[str, object]], source: str
) -> tuple[Technology, ...]:
    """Return the technologies among packages with their versions, each once, in this order."""
    known, technologies = _load_packages(ecosystem), dict[str, Technology]()
    for package, version in packages:
        if row := known.get(package.lower()):
            first = technologies.get(row[0])
            if first is None or not first.version:
                technologies[row[0]] = Technology(*row, format_version(version), source)
    return tuple(technologies.values())


@cache
def _load_packages(ecosystem: Ecosystem) -> dict[str, tuple[str, TechnologyRole]]:
    return {
        package: (name, role)
        for role, packages in load_table("packages")[ecosystem].items()
        for package, name in packages.items()
    }


def format_version(value: object) -> str:
    """Return a version as a string, whether it is written as a string or as a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(str(value).split())
