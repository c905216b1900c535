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
    technologies: dict[str, Technology] = {}
    for package, version in packages:
        technology = find_known_technology(ecosystem, package, format_version(version), source)
        if technology:
            first = technologies.get(technology.name)
            if first is None or not first.version:
                technologies[technology.name] = technology
    return tuple(technologies.values())


def find_known_technology(
    ecosystem: Ecosystem, package: str, version: str, source: str
) -> Technology | None:
    """Return the technology that a package is; None for one that is not in the table."""
    known = _load_packages(ecosystem).get(package.lower())
    return Technology(*known, version, source) if known else None


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
