"""What one types for a tool that a package has installed, where no script does it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.around import beside, matching
from cub.repomap.stack.facts import Command, Manifest, Purpose
from cub.repomap.stack.node.manager import Manager
from cub.repomap.stack.node.needs import versions

# The package, what one types, and the files of which one must be there, if any.
_TOOLS: tuple[tuple[Purpose, str, str, tuple[str, ...]], ...] = (
    ("test", "vitest", "vitest run", ()),
    ("test", "jest", "jest", ()),
    ("test", "mocha", "mocha", ()),
    ("test", "ava", "ava", ()),
    ("lint", "@biomejs/biome", "biome check", ("biome.json", "biome.jsonc")),
    ("lint", "oxlint", "oxlint", ()),
    ("lint", "eslint", "eslint .", ("eslint.config.*", ".eslintrc*")),
    ("format", "prettier", "prettier --write .", (".prettierrc*", "prettier.config.*")),
    ("typecheck", "vue-tsc", "vue-tsc --noEmit", ("tsconfig.json",)),
    ("typecheck", "svelte-check", "svelte-check", ()),
    ("typecheck", "typescript", "tsc --noEmit", ("tsconfig.json",)),
)


def inferred(tree: dict[str, Any], manager: Manager, manifest: Manifest) -> Iterator[Command]:
    """One command for each purpose that an installed and configured tool has."""
    installed = versions(tree)
    done: set[Purpose] = set()
    for purpose, package, line, files in _TOOLS:
        if purpose in done or package not in installed:
            continue
        if not files or beside(manifest, *files) or matching(manifest, *files):
            done.add(purpose)
            typed = f"{manager.execute} {line}"
            yield Command(purpose, typed, manifest.path, manifest.folder)
