"""What a package.json says that the package needs, and what of it has a name in the map."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.dependencies import known
from cub.repomap.stack.facts import Technology
from cub.repomap.stack.formats.trees import table

_VERSION = re.compile(r"[\^~<>=v\d][\w.<>=~^|*+ -]*")
_AT_RUN_TIME = ("dependencies", "peerDependencies")
# What turns into plain JavaScript at build time stands among what developers need.
_COMPILED = frozenset(
    {"Svelte", "SvelteKit", "Astro", "Nuxt", "VitePress", "Docusaurus", "Electron"}
)


def technologies(tree: dict[str, Any], source: str) -> Iterator[Technology]:
    """The known packages. Of what only developers need, the tools; and all, in a private package,
    which is a program of its own.
    """
    found = known("npm", _listed(tree, *_AT_RUN_TIME), source)
    yield from found
    private = tree.get("private") is True and not table(tree.get("workspaces"))
    for one in known("npm", _listed(tree, "devDependencies"), source):
        if one.role in ("build", "tool") or private or one.name in _COMPILED:
            yield one


def versions(tree: dict[str, Any]) -> dict[str, str]:
    """All packages that are needed, for whatever purpose, with their versions."""
    return dict(_listed(tree, "devDependencies", *_AT_RUN_TIME))


def _listed(tree: dict[str, Any], *keys: str) -> Iterator[tuple[str, str]]:
    for key in keys:
        for name, wanted in table(tree.get(key)).items():
            version = wanted if isinstance(wanted, str) and len(wanted) <= 40 else ""
            yield name, version if _VERSION.fullmatch(version) else ""
