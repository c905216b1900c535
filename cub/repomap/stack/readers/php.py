"""PHP: composer.json, and the files of PHPUnit, PHPStan and Laravel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.command_purposes import detect_target_purpose, rank_target_name
from cub.repomap.stack.facts import (
    CommandPurpose,
    EntryPoint,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    Technology,
)
from cub.repomap.stack.formats import as_table, as_texts, get_text_at, get_value_at, parse_json
from cub.repomap.stack.known_packages import find_known_technologies, format_version
from cub.repomap.stack.manifest_paths import find_beside, resolve_manifest_path

# Package: what one types for it. A tool without a file of its own is not set up.
_TOOLS: dict[str, tuple[tuple[CommandPurpose, str], ...]] = {
    "pestphp/pest": (("test", "vendor/bin/pest"),),
    "phpunit/phpunit": (("test", "vendor/bin/phpunit"),),
    "laravel/pint": (("lint", "vendor/bin/pint --test"), ("format", "vendor/bin/pint")),
    "vimeo/psalm": (("typecheck", "vendor/bin/psalm"),),
    "squizlabs/php_codesniffer": (("lint", "vendor/bin/phpcs"),),
    "friendsofphp/php-cs-fixer": (("format", "vendor/bin/php-cs-fixer fix"),),
}


def _composer(manifest: Manifest) -> ManifestFacts:
    tree, source = parse_json(manifest.text), manifest.path
    needs = _needs(tree)
    php = Technology("PHP", "language", needs.get("php", ""), source)
    return ManifestFacts(
        technologies=(
            php,
            Technology("Composer", "manager", "", source),
            *find_known_technologies("packagist", needs.items(), source),
        ),
        commands=tuple(_commands(tree, needs, manifest)),
        entry_points=tuple(_entry_points(tree, manifest)),
        packages=tuple(_packages(tree, manifest)),
    )


def _needs(tree: dict[str, Any]) -> dict[str, str]:
    """The packages and versions of both tables."""
    both = (as_table(tree.get("require-dev")), as_table(tree.get("require")))
    return {name: format_version(wanted) for part in both for name, wanted in part.items()}


def _commands(
    tree: dict[str, Any], needs: dict[str, str], manifest: Manifest
) -> Iterator[ProjectCommand]:
    """The scripts, then what the tools among the packages are called with."""
    source, folder = manifest.path, manifest.folder
    yield ProjectCommand("install", "composer install", source, folder)
    scripts = as_table(tree.get("scripts"))
    for name in sorted(scripts, key=lambda name: (rank_target_name(name), name)):
        line = " && ".join(map(_shell_line, as_texts(scripts[name])))
        purpose = "install" if name == "setup" else detect_target_purpose(name, line)
        if purpose and not name.startswith(("post-", "pre-")):
            yield ProjectCommand(purpose, f"composer {_script(name)}", source, folder, "target")
    for package, commands in _TOOLS.items():
        for purpose, text in commands if package in needs else ():
            yield ProjectCommand(purpose, text, source, folder)


def _shell_line(line: str) -> str:
    """A line of a script as one would type it: `@lint` is another script, `@php` is PHP."""
    line = line.removeprefix("@php vendor/bin/")
    return line[1:] if line.startswith("@php ") else re.sub(r"^@(?!\W)", "composer ", line)


def _script(name: str) -> str:
    """A script that is called like a command of Composer's needs `run`."""
    own = ("install", "check", "run", "update", "validate", "outdated", "exec", "archive", "status")
    return f"run {name}" if name in own else name


def _entry_points(tree: dict[str, Any], manifest: Manifest) -> Iterator[EntryPoint]:
    for path in as_texts(tree.get("bin")):
        if target := resolve_manifest_path(manifest, path):
            yield EntryPoint(target.rpartition("/")[2], target, manifest.path)
    for name in ("public/index.php", "index.php"):
        if find_beside(manifest, name):
            yield EntryPoint("web", resolve_manifest_path(manifest, name), manifest.path)
            break
    if get_text_at(tree, "type") in ("", "library"):
        for space, folders in as_table(get_value_at(tree, "autoload", "psr-4")).items():
            for folder in as_texts(folders)[:1]:
                target = resolve_manifest_path(manifest, folder)
                if space and target:
                    yield EntryPoint(space.rstrip("\\"), target, manifest.path)


def _packages(tree: dict[str, Any], manifest: Manifest) -> Iterator[ProjectPackage]:
    if name := get_text_at(tree, "name"):
        yield ProjectPackage(manifest.folder, name, get_text_at(tree, "description"), manifest.path)


def _phpunit(manifest: Manifest) -> ManifestFacts:
    return ManifestFacts(
        technologies=(Technology("PHPUnit", "tool", "", manifest.path),),
        commands=(ProjectCommand("test", "vendor/bin/phpunit", manifest.path, manifest.folder),),
    )


def _phpstan(manifest: Manifest) -> ManifestFacts:
    return ManifestFacts(
        technologies=(Technology("PHPStan", "tool", "", manifest.path),),
        commands=(
            ProjectCommand("lint", "vendor/bin/phpstan analyse", manifest.path, manifest.folder),
        ),
    )


def _artisan(manifest: Manifest) -> ManifestFacts:
    """Laravel's own program, which is there in Laravel's applications alone."""
    source, folder = manifest.path, manifest.folder
    return ManifestFacts(
        technologies=(Technology("Laravel", "framework", "", source),),
        commands=(
            ProjectCommand("test", "php artisan test", source, folder),
            ProjectCommand("run", "php artisan serve", source, folder),
        ),
        entry_points=(EntryPoint("artisan", source, source),),
    )


READERS: tuple[ManifestReader, ...] = (
    ManifestReader(("composer.json",), _composer),
    ManifestReader(("artisan",), _artisan),
    ManifestReader(("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"), _phpunit),
    ManifestReader(("phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"), _phpstan),
)
