"""What stands beside Gradle's build files: settings, version catalog, properties and wrapper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.around import above, beside, path_of
from cub.repomap.stack.dependencies import known, version_of
from cub.repomap.stack.facts import Command, Facts, Manifest, Package, Reader, Technology
from cub.repomap.stack.formats.lines import code_lines, without_comments
from cub.repomap.stack.formats.trees import at, table, text_at, toml_tree
from cub.repomap.stack.jvm.gradle import BUILD, SETTINGS
from cub.repomap.stack.jvm.gradle_plugins import LANGUAGES

_NAME = re.compile(r"""rootProject\.name[ \t]*+=[ \t]*+["']([^"'$]++)["']""")
_INCLUDE = re.compile(r"include\b|[\"']")
_PATH = re.compile(r"""["']:?([\w:./-]++)["']""")
_DISTRIBUTION = re.compile(r"distributionUrl=.*?/gradle-(\d[\w.-]{0,20})-(?:bin|all)\.zip")
_KOTLIN = re.compile(r"(?:kotlinVersion|kotlin_version|kotlin\.version)[ \t]*+=[ \t]*+([\w.-]++)")


def _settings(manifest: Manifest) -> Facts:
    lines = list(code_lines(without_comments(manifest.text, "//")))
    source, folder = manifest.path, manifest.folder
    names = [found[1] for line in lines if (found := _NAME.match(line))]
    root = [Package(folder, names[0], "", source)] if names else []
    return Facts(
        technologies=(Technology("Gradle", "build", "", source),),
        commands=tuple(_commands(manifest)),
        packages=(*root, *_parts(lines, manifest)),
    )


def _commands(manifest: Manifest) -> Iterator[Command]:
    """A build may have no build file in its root."""
    if not beside(manifest, *BUILD) and not above(manifest, *BUILD, *SETTINGS):
        gradle = "./gradlew" if beside(manifest, "gradlew") else "gradle"
        yield Command("build", f"{gradle} build", manifest.path, manifest.folder)
        yield Command("test", f"{gradle} test", manifest.path, manifest.folder)


def _parts(lines: list[str], manifest: Manifest) -> Iterator[Package]:
    """The parts of the build, named where the build file has not the usual name."""
    for name in _included(lines):
        folder = path_of(manifest, name.replace(":", "/"))
        usual = any(f"{folder}/{build}" in manifest.paths for build in BUILD)
        if folder:
            yield Package(folder, "" if usual else folder.rpartition("/")[2], "", manifest.path)


def _included(lines: list[str]) -> Iterator[str]:
    """The names behind `include`, which may go on in lines that begin with a quote."""
    going = False
    for line in lines:
        starts = bool(_INCLUDE.match(line))
        going = starts and (going or line.startswith("include"))
        if going:
            yield from _PATH.findall(line)


def _catalog(manifest: Manifest) -> Facts:
    tree = toml_tree(manifest.text)
    listed = list(_catalogued(tree))
    kotlin = [version for name, version in listed if LANGUAGES["Kotlin"].fullmatch(name)]
    language = Technology("Kotlin", "language", next(filter(None, kotlin), ""), manifest.path)
    return Facts(
        technologies=(*([language] if kotlin else []), *known("maven", listed, manifest.path))
    )


def _catalogued(tree: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Plugins by id, then libraries by group, with their versions."""
    for key in ("plugins", "libraries"):
        for entry in table(tree.get(key)).values():
            if isinstance(entry, str):
                name, _, version = entry.partition(":")
                yield name, version_of(version.rpartition(":")[2])
            else:
                yield _name(entry), _version(entry, tree)


def _name(entry: object) -> str:
    module = text_at(entry, "module").partition(":")[0]
    return text_at(entry, "id") or module or text_at(entry, "group")


def _version(entry: object, tree: dict[str, Any]) -> str:
    reference = text_at(entry, "version", "ref")
    return version_of(at(tree, "versions", reference) if reference else at(entry, "version"))


def _wrapper(manifest: Manifest) -> Facts:
    found = [_DISTRIBUTION.match(line) for line in code_lines(manifest.text)]
    return Facts(
        technologies=tuple(
            Technology("Gradle", "build", match[1], manifest.path) for match in found if match
        )
    )


def _properties(manifest: Manifest) -> Facts:
    found = [_KOTLIN.match(line) for line in code_lines(manifest.text)]
    return Facts(
        technologies=tuple(
            Technology("Kotlin", "language", version_of(match[1]), manifest.path)
            for match in found
            if match
        )
    )


READERS: tuple[Reader, ...] = (
    Reader(SETTINGS, _settings),
    Reader(("gradle/libs.versions.toml",), _catalog),
    Reader(("gradle/wrapper/gradle-wrapper.properties",), _wrapper),
    Reader(("gradle.properties",), _properties),
)
