"""What stands beside Gradle's build files: settings, version catalog, properties and wrapper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.facts import (
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    Technology,
)
from cub.repomap.stack.formats import (
    as_table,
    get_text_at,
    get_value_at,
    iter_code_lines,
    parse_toml,
    strip_comments,
)
from cub.repomap.stack.known_packages import find_known_technologies, format_version
from cub.repomap.stack.manifest_paths import exists_above, find_beside, resolve_manifest_path
from cub.repomap.stack.readers.gradle import BUILD_FILES, PLUGIN_LANGUAGES, SETTINGS_FILES

_NAME = re.compile(r"""rootProject\.name[ \t]*+=[ \t]*+["']([^"'$]++)["']""")
_INCLUDE = re.compile(r"include\b|[\"']")
_PATH = re.compile(r"""["']:?([\w:./-]++)["']""")
_DISTRIBUTION = re.compile(r"distributionUrl=.*?/gradle-(\d[\w.-]{0,20})-(?:bin|all)\.zip")
_KOTLIN = re.compile(r"(?:kotlinVersion|kotlin_version|kotlin\.version)[ \t]*+=[ \t]*+([\w.-]++)")


def _settings(manifest: Manifest) -> ManifestFacts:
    lines = list(iter_code_lines(strip_comments(manifest.text, "//")))
    source, folder = manifest.path, manifest.folder
    names = [found[1] for line in lines if (found := _NAME.match(line))]
    root = [ProjectPackage(folder, names[0], "", source)] if names else []
    return ManifestFacts(
        technologies=(Technology("Gradle", "build", "", source),),
        commands=tuple(_commands(manifest)),
        packages=(*root, *_parts(lines, manifest)),
    )


def _commands(manifest: Manifest) -> Iterator[ProjectCommand]:
    """A build may have no build file in its root."""
    if not find_beside(manifest, *BUILD_FILES) and not exists_above(
        manifest, *BUILD_FILES, *SETTINGS_FILES
    ):
        gradle = "./gradlew" if find_beside(manifest, "gradlew") else "gradle"
        yield ProjectCommand("build", f"{gradle} build", manifest.path, manifest.folder)
        yield ProjectCommand("test", f"{gradle} test", manifest.path, manifest.folder)


def _parts(lines: list[str], manifest: Manifest) -> Iterator[ProjectPackage]:
    """The parts of the build, named where the build file has not the usual name."""
    for name in _included(lines):
        folder = resolve_manifest_path(manifest, name.replace(":", "/"))
        usual = any(f"{folder}/{build}" in manifest.paths for build in BUILD_FILES)
        if folder:
            yield ProjectPackage(
                folder, "" if usual else folder.rpartition("/")[2], "", manifest.path
            )


def _included(lines: list[str]) -> Iterator[str]:
    """The names behind `include`, which may go on in lines that begin with a quote."""
    going = False
    for line in lines:
        starts = bool(_INCLUDE.match(line))
        going = starts and (going or line.startswith("include"))
        if going:
            yield from _PATH.findall(line)


def _catalog(manifest: Manifest) -> ManifestFacts:
    tree = parse_toml(manifest.text)
    listed = list(_catalogued(tree))
    kotlin = [version for name, version in listed if PLUGIN_LANGUAGES["Kotlin"].fullmatch(name)]
    language = Technology("Kotlin", "language", next(filter(None, kotlin), ""), manifest.path)
    return ManifestFacts(
        technologies=(
            *([language] if kotlin else []),
            *find_known_technologies("maven", listed, manifest.path),
        )
    )


def _catalogued(tree: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Plugins by id, then libraries by group, with their versions."""
    for key in ("plugins", "libraries"):
        for entry in as_table(tree.get(key)).values():
            if isinstance(entry, str):
                name, _, version = entry.partition(":")
                yield name, format_version(version.rpartition(":")[2])
            else:
                yield _name(entry), _version(entry, tree)


def _name(entry: object) -> str:
    module = get_text_at(entry, "module").partition(":")[0]
    return get_text_at(entry, "id") or module or get_text_at(entry, "group")


def _version(entry: object, tree: dict[str, Any]) -> str:
    reference = get_text_at(entry, "version", "ref")
    return format_version(
        get_value_at(tree, "versions", reference) if reference else get_value_at(entry, "version")
    )


def _wrapper(manifest: Manifest) -> ManifestFacts:
    found = [_DISTRIBUTION.match(line) for line in iter_code_lines(manifest.text)]
    return ManifestFacts(
        technologies=tuple(
            Technology("Gradle", "build", match[1], manifest.path) for match in found if match
        )
    )


def _properties(manifest: Manifest) -> ManifestFacts:
    found = [_KOTLIN.match(line) for line in iter_code_lines(manifest.text)]
    return ManifestFacts(
        technologies=tuple(
            Technology("Kotlin", "language", format_version(match[1]), manifest.path)
            for match in found
            if match
        )
    )


READERS: tuple[ManifestReader, ...] = (
    ManifestReader(SETTINGS_FILES, _settings),
    ManifestReader(("gradle/libs.versions.toml",), _catalog),
    ManifestReader(("gradle/wrapper/gradle-wrapper.properties",), _wrapper),
    ManifestReader(("gradle.properties",), _properties),
)
