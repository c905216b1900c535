"""Which package manager a JavaScript project uses, and what one types with it."""

from __future__ import annotations

from typing import NamedTuple

from cub.repomap.stack.around import above, beside
from cub.repomap.stack.facts import Manifest

# The lock files, and other files that only one manager has.
_FILES = {
    "pnpm": ("pnpm-lock.yaml", "pnpm-workspace.yaml"),
    "yarn": ("yarn.lock", ".yarnrc.yml", ".yarnrc"),
    "bun": ("bun.lock", "bun.lockb"),
    "npm": ("package-lock.json", "npm-shrinkwrap.json"),
}
_NAMES = {"npm": "npm", "pnpm": "pnpm", "yarn": "Yarn", "bun": "Bun"}
_EXECUTES = {"npm": "npx", "pnpm": "pnpm exec", "yarn": "yarn", "bun": "bunx"}
# Scripts that `npm` runs without `run`, and those that `pnpm` and `yarn` take for their own words.
_SHORT = frozenset({"test", "start"})
_OWN_WORDS = frozenset({
    "install", "setup", "link", "pack", "publish", "deploy", "add", "audit", "config", "exec",
    "fetch", "import", "init", "list", "prune", "rebuild", "remove", "root", "store", "up", "why",
})  # fmt: skip


class Manager(NamedTuple):
    """`name` is what one types; `sure` says that a file or a field names it."""

    name: str
    version: str = ""
    sure: bool = False

    @property
    def title(self) -> str:
        """Its name as people write it."""
        return _NAMES[self.name]

    @property
    def execute(self) -> str:
        """What stands in front of a program that the project has installed."""
        return _EXECUTES[self.name]

    def run(self, script: str) -> str:
        """What one types for a script of package.json."""
        if self.name == "npm":
            return f"npm {script}" if script in _SHORT else f"npm run {script}"
        plain = self.name in ("pnpm", "yarn") and script not in _OWN_WORDS
        return f"{self.name} {script}" if plain else f"{self.name} run {script}"


def manager_of(manifest: Manifest, field: str = "") -> Manager:
    """By the field packageManager ("pnpm@9.1.0"), then by the files beside, then by those above."""
    name, _, version = field.partition("@")
    if name in _NAMES:
        return Manager(name, version.partition("+")[0], sure=True)
    for stands in (beside, above):
        for manager, files in _FILES.items():
            if stands(manifest, *files):
                return Manager(manager, sure=True)
    return Manager("npm")
