"""Which of a manifest's dependencies have a name in the map."""

from __future__ import annotations

from collections.abc import Iterable

from cub.repomap.stack.facts import Technology
from cub.repomap.stack.frameworks import technology
from cub.repomap.stack.known_packages import Ecosystem


def known(
    ecosystem: Ecosystem, packages: Iterable[tuple[str, str]], source: str
) -> tuple[Technology, ...]:
    """The technologies among packages with their versions, each once, in the given order."""
    found: dict[str, Technology] = {}
    for package, version in packages:
        named = technology(ecosystem, package, version_of(version), source)
        if named and not (named.name in found and found[named.name].version):
            found[named.name] = named
    return tuple(found.values())


def version_of(value: object) -> str:
    """A version as a text, whether it is written as a text or as a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(str(value).split())
