"""Read composer.json."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.command_purposes import detect_target_purpose, rank_target_name
from cub.repomap.stack.facts import EntryPoint, Fact, ProjectCommand
from cub.repomap.stack.formats import (
    as_table,
    as_texts,
    format_version,
    get_text_at,
    get_value_at,
    parse_json,
)
from cub.repomap.stack.manifest import Manifest

# Scripts of these names are called with `run`.
_COMPOSER_WORDS = frozenset({
    "install", "check", "run", "update", "validate", "outdated", "exec", "archive", "status",
})  # fmt: skip


def read_composer_json(manifest: Manifest) -> Iterator[Fact]:
    """Read a package of Composer."""
    tree = parse_json(manifest.text)
    tables = as_table(tree.get("require-dev")) | as_table(tree.get("require"))
    packages = {name: format_version(value) for name, value in tables.items()}
    yield manifest.make_technology("PHP", "language", packages.get("php", ""))
    yield from manifest.find_known("packagist", packages.items())
    yield from _list_commands(tree, packages, manifest)
    yield from _list_entry_points(tree, manifest)
    yield manifest.make_package(get_text_at(tree, "name"), get_text_at(tree, "description"))


def _list_commands(
    tree: dict[str, Any], packages: dict[str, str], manifest: Manifest
) -> Iterator[ProjectCommand]:
    """Yield the scripts, then the commands of the tools among the packages."""
    scripts = as_table(tree.get("scripts"))
    for name in sorted(scripts, key=lambda name: (rank_target_name(name), name)):
        line = " && ".join(map(_format_script_line, as_texts(scripts[name])))
        purpose = "install" if name == "setup" else detect_target_purpose(name, line)
        if purpose and not name.startswith(("post-", "pre-")):
            script = f"run {name}" if name in _COMPOSER_WORDS else name
            yield manifest.make_command(purpose, f"composer {script}", "target")
    yield from manifest.make_tool_commands("packagist", packages)


def _format_script_line(line: str) -> str:
    """Return a script's line as it would be typed: `@lint` is another script, `@php` is PHP."""
    line = line.removeprefix("@php vendor/bin/")
    return line[1:] if line.startswith("@php ") else re.sub(r"^@(?!\W)", "composer ", line)


def _list_entry_points(tree: dict[str, Any], manifest: Manifest) -> Iterator[EntryPoint]:
    for target in map(manifest.resolve_path, as_texts(tree.get("bin"))):
        yield manifest.make_entry_point(target.rpartition("/")[2], target)
    if index := manifest.find_beside("public/index.php", "index.php"):
        yield manifest.make_entry_point("web", manifest.resolve_path(index))
    if get_text_at(tree, "type") in ("", "library"):
        for namespace, folders in as_table(get_value_at(tree, "autoload", "psr-4")).items():
            for target in map(manifest.resolve_path, as_texts(folders)[:1]):
                yield manifest.make_entry_point(namespace.rstrip("\\"), target)
