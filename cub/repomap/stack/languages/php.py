"""PHP: composer.json, and the files of PHPUnit, PHPStan and Laravel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.around import beside, path_of
from cub.repomap.stack.commands.purposes import purpose_of_target, rank_of_name
from cub.repomap.stack.dependencies import known, version_of
from cub.repomap.stack.facts import (
    Command,
    EntryPoint,
    Facts,
    Manifest,
    Package,
    Purpose,
    Reader,
    Technology,
)
from cub.repomap.stack.formats.trees import at, json_tree, table, text_at, texts

# Package: what one types for it. A tool without a file of its own is not set up.
_TOOLS: dict[str, tuple[tuple[Purpose, str], ...]] = {
    "pestphp/pest": (("test", "vendor/bin/pest"),),
    "phpunit/phpunit": (("test", "vendor/bin/phpunit"),),
    "laravel/pint": (("lint", "vendor/bin/pint --test"), ("format", "vendor/bin/pint")),
    "vimeo/psalm": (("typecheck", "vendor/bin/psalm"),),
    "squizlabs/php_codesniffer": (("lint", "vendor/bin/phpcs"),),
    "friendsofphp/php-cs-fixer": (("format", "vendor/bin/php-cs-fixer fix"),),
}


def _composer(manifest: Manifest) -> Facts:
    tree, source = json_tree(manifest.text), manifest.path
    needs = _needs(tree)
    php = Technology("PHP", "language", needs.get("php", ""), source)
    return Facts(
        technologies=(
            php,
            Technology("Composer", "manager", "", source),
            *known("packagist", needs.items(), source),
        ),
        commands=tuple(_commands(tree, needs, manifest)),
        entry_points=tuple(_entry_points(tree, manifest)),
        packages=tuple(_packages(tree, manifest)),
    )


def _needs(tree: dict[str, Any]) -> dict[str, str]:
    """The packages and versions of both tables."""
    both = (table(tree.get("require-dev")), table(tree.get("require")))
    return {name: version_of(wanted) for part in both for name, wanted in part.items()}


def _commands(tree: dict[str, Any], needs: dict[str, str], manifest: Manifest) -> Iterator[Command]:
    """The scripts, then what the tools among the packages are called with."""
    source, folder = manifest.path, manifest.folder
    yield Command("install", "composer install", source, folder)
    scripts = table(tree.get("scripts"))
    for name in sorted(scripts, key=lambda name: (rank_of_name(name), name)):
        line = " && ".join(map(_shell_line, texts(scripts[name])))
        purpose = "install" if name == "setup" else purpose_of_target(name, line)
        if purpose and not name.startswith(("post-", "pre-")):
            yield Command(purpose, f"composer {_script(name)}", source, folder, "target")
    for package, commands in _TOOLS.items():
        for purpose, text in commands if package in needs else ():
            yield Command(purpose, text, source, folder)


def _shell_line(line: str) -> str:
    """A line of a script as one would type it: `@lint` is another script, `@php` is PHP."""
    line = line.removeprefix("@php vendor/bin/")
    return line[1:] if line.startswith("@php ") else re.sub(r"^@(?!\W)", "composer ", line)


def _script(name: str) -> str:
    """A script that is called like a command of Composer's needs `run`."""
    own = ("install", "check", "run", "update", "validate", "outdated", "exec", "archive", "status")
    return f"run {name}" if name in own else name


def _entry_points(tree: dict[str, Any], manifest: Manifest) -> Iterator[EntryPoint]:
    for path in texts(tree.get("bin")):
        if target := path_of(manifest, path):
            yield EntryPoint(target.rpartition("/")[2], target, manifest.path)
    for name in ("public/index.php", "index.php"):
        if beside(manifest, name):
            yield EntryPoint("web", path_of(manifest, name), manifest.path)
            break
    if text_at(tree, "type") in ("", "library"):
        for space, folders in table(at(tree, "autoload", "psr-4")).items():
            for folder in texts(folders)[:1]:
                target = path_of(manifest, folder)
                if space and target:
                    yield EntryPoint(space.rstrip("\\"), target, manifest.path)


def _packages(tree: dict[str, Any], manifest: Manifest) -> Iterator[Package]:
    if name := text_at(tree, "name"):
        yield Package(manifest.folder, name, text_at(tree, "description"), manifest.path)


def _phpunit(manifest: Manifest) -> Facts:
    return Facts(
        technologies=(Technology("PHPUnit", "tool", "", manifest.path),),
        commands=(Command("test", "vendor/bin/phpunit", manifest.path, manifest.folder),),
    )


def _phpstan(manifest: Manifest) -> Facts:
    return Facts(
        technologies=(Technology("PHPStan", "tool", "", manifest.path),),
        commands=(Command("lint", "vendor/bin/phpstan analyse", manifest.path, manifest.folder),),
    )


def _artisan(manifest: Manifest) -> Facts:
    """Laravel's own program, which is there in Laravel's applications alone."""
    source, folder = manifest.path, manifest.folder
    return Facts(
        technologies=(Technology("Laravel", "framework", "", source),),
        commands=(
            Command("test", "php artisan test", source, folder),
            Command("run", "php artisan serve", source, folder),
        ),
        entry_points=(EntryPoint("artisan", source, source),),
    )


READERS: tuple[Reader, ...] = (
    Reader(("composer.json",), _composer),
    Reader(("artisan",), _artisan),
    Reader(("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"), _phpunit),
    Reader(("phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"), _phpstan),
)
