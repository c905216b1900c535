"""Read Gradle's files beside build files: settings, version catalog, properties and wrapper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.facts import Fact, ProjectPackage
from cub.repomap.stack.formats import (
    as_table,
    find_first,
    get_text_at,
    get_value_at,
    iter_code_lines,
    parse_toml,
    strip_comments,
)
from cub.repomap.stack.known_packages import format_version
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.readers.gradle import BUILD_FILES, PLUGIN_LANGUAGES, SETTINGS_FILES

_NAME = re.compile(r"""rootProject\.name[ \t]*+=[ \t]*+["']([^"'$]++)["']""")
_INCLUDE = re.compile(r"include\b|[\"']")
_PATH = re.compile(r"""["']:?([\w:./-]++)["']""")
_DISTRIBUTION = re.compile(r"distributionUrl=.*?/gradle-(\d[\w.-]{0,20})-(?:bin|all)\.zip")
_KOTLIN = re.compile(r"(?:kotlinVersion|kotlin_version|kotlin\.version)[ \t]*+=[ \t]*+([\w.-]++)")


def read_gradle_settings(manifest: Manifest) -> Iterator[Fact]:
    """Read the name and the parts of a build, which may have no build file in its root."""
    lines = list(iter_code_lines(strip_comments(manifest.text, "//")))
    yield manifest.make_technology("Gradle", "build")
    is_part = manifest.exists_above(*BUILD_FILES, *SETTINGS_FILES)
    if not is_part and not manifest.find_beside(*BUILD_FILES):
        gradle = manifest.choose_program("./gradlew", "gradle")
        yield from manifest.make_commands(build=f"{gradle} build", test=f"{gradle} test")
    yield manifest.make_package(find_first(_NAME, lines))
    yield from _list_parts(lines, manifest)


def _list_parts(lines: list[str], manifest: Manifest) -> Iterator[ProjectPackage]:
    """Yield the parts of the build, named if the build file has not the usual name."""
    for name in _iter_included(lines):
        folder = manifest.resolve_path(name.replace(":", "/"))
        has_manifest = any(f"{folder}/{build}" in manifest.paths for build in BUILD_FILES)
        if folder:
            yield manifest.make_member(folder, "" if has_manifest else folder.rpartition("/")[2])


def _iter_included(lines: list[str]) -> Iterator[str]:
    """Yield the names after `include`, which may continue in lines that begin with a quote."""
    in_statement = False
    for line in lines:
        continues = bool(_INCLUDE.match(line))
        in_statement = continues and (in_statement or line.startswith("include"))
        if in_statement:
            yield from _PATH.findall(line)


def read_version_catalog(manifest: Manifest) -> Iterator[Fact]:
    """Read the plugins and libraries of a version catalog."""
    entries = list(_iter_entries(parse_toml(manifest.text)))
    kotlin = [version for name, version in entries if PLUGIN_LANGUAGES["Kotlin"].fullmatch(name)]
    if kotlin:
        yield manifest.make_technology("Kotlin", "language", next(filter(None, kotlin), ""))
    yield from manifest.find_known("maven", entries)


def _iter_entries(tree: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield plugins by id, then libraries by group, with their versions."""
    for key in ("plugins", "libraries"):
        for entry in as_table(tree.get(key)).values():
            if isinstance(entry, str):
                name, _, version = entry.partition(":")
                yield name, format_version(version.rpartition(":")[2])
            else:
                yield _get_name(entry), _get_version(entry, tree)


def _get_name(entry: object) -> str:
    module = get_text_at(entry, "module").partition(":")[0]
    return get_text_at(entry, "id") or module or get_text_at(entry, "group")


def _get_version(entry: object, tree: dict[str, Any]) -> str:
    reference = get_text_at(entry, "version", "ref")
    return format_version(
        get_value_at(tree, "versions", reference) if reference else get_value_at(entry, "version")
    )


def read_gradle_wrapper(manifest: Manifest) -> Iterator[Fact]:
    """Read the version of Gradle."""
    if version := find_first(_DISTRIBUTION, iter_code_lines(manifest.text)):
        yield manifest.make_technology("Gradle", "build", version)


def read_gradle_properties(manifest: Manifest) -> Iterator[Fact]:
    """Read the version of Kotlin."""
    if version := find_first(_KOTLIN, iter_code_lines(manifest.text)):
        yield manifest.make_technology("Kotlin", "language", version)
