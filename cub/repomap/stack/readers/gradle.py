"""Read Gradle's files: builds in Groovy and in Kotlin, settings, version catalog."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from cub.repomap.data import load_table
from cub.repomap.stack.facts import (
    EntryPoint,
    Fact,
    ProjectCommand,
    ProjectPackage,
    Technology,
    iter_row_commands,
)
from cub.repomap.stack.formats import (
    as_table,
    find_first,
    format_version,
    get_text_at,
    get_value_at,
    iter_code_lines,
    parse_toml,
    strip_comments,
)
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.readers.maven import find_class_file, find_spring_applications

_VERSION = r"""(?:[ \t)]*+version[ \t(]*+["']([^"'\s$]{1,40})["'])?"""
_BY_ID = re.compile(rf"""\bid[ \t(]*+["']([\w.-]++)["']{_VERSION}""")
_KOTLIN = re.compile(rf"""\bkotlin\(["']([\w.-]++)["']\){_VERSION}""")
_APPLIED = re.compile(r"""^apply\b.{0,20}\bplugin[ \t]*+[:=][ \t]*+["']([\w.-]++)["']""")
_ALIAS = re.compile(r"\balias[ \t(]*+\w++\.plugins\.([\w.]++)")
_SHORT = re.compile(r"`?([a-z][a-z-]*+)`?")

PLUGIN_LANGUAGES = {
    "Kotlin": re.compile(r"(?:org\.jetbrains\.kotlin\b|kotlin).*"),
    "Scala": re.compile(r"scala"),
    "Groovy": re.compile(r"groovy"),
    "Java": re.compile(r"java|java-.*|application|war|org\.springframework\.boot"),
}
BUILD_FILES = ("build.gradle.kts", "build.gradle")
SETTINGS_FILES = ("settings.gradle.kts", "settings.gradle")
_JAVA = re.compile(
    r"(?:JavaLanguageVersion\.of|jvmToolchain)\((\d{1,2})\)"
    r"|(?:sourceCompatibility|options\.release(?:\.set)?)[ \t=(]*+"
    r"""(?:JavaVersion\.VERSION_)?["']?(\d[\d._]{0,5})"""
)
_DEPENDENCY = re.compile(r"""["']([\w.-]++):[\w.-]++(?::([^"'\s:$@]{1,40}))?[^"'\n]{0,99}["']""")
_MAIN = re.compile(r"""\bmainClass(?:Name)?(?:\.set)?[ \t=(]*+["']([\w.$]++)["']""")
_DESCRIPTION = re.compile(r"""description[ \t]*+=?[ \t]*+["']([^"'$]++)["']""")


class GradlePlugin(NamedTuple):
    """Describe a plugin; one that is not applied is only named, for other parts of the build."""

    id: str
    version: str
    is_applied: bool


def read_gradle_build(manifest: Manifest) -> Iterator[Fact]:
    """Read a build file."""
    lines = list(iter_code_lines(strip_comments(manifest.text, "//")))
    plugins = find_plugins(lines)
    yield from _list_languages(lines, plugins, manifest)
    # The groups of dependencies; a plugin's name begins like the group of its program.
    groups = [(plugin.id, plugin.version) for plugin in plugins]
    groups += [(one[1], one[2] or "") for line in lines for one in _DEPENDENCY.finditer(line)]
    yield from manifest.find_known("maven", groups)
    yield from _list_commands(manifest, plugins)
    yield from _list_entry_points(lines, manifest)
    if any(one.id == "org.springframework.boot" and one.is_applied for one in plugins):
        yield from find_spring_applications(manifest)
    # The name of the root is in the settings.
    name = manifest.folder.rpartition("/")[2]
    yield manifest.make_package(name, find_first(_DESCRIPTION, lines))


def find_plugins(lines: list[str]) -> list[GradlePlugin]:
    """Return the plugins that these lines of code name, in order."""
    plugins: list[GradlePlugin] = []
    in_block = False
    for line in lines:
        in_block = in_block or line.startswith("plugins")
        is_applied = "apply false" not in line and "apply(false)" not in line
        plugins += [
            GradlePlugin(name, version, is_applied)
            for name, version in _iter_line_plugins(line, in_block)
        ]
        in_block = in_block and "}" not in line
    return plugins


def _iter_line_plugins(line: str, in_block: bool) -> Iterator[tuple[str, str]]:
    """Yield the ids and versions that a line names, which may be in the block `plugins`."""
    if in_block:
        aliases = load_table("tools")["gradle_aliases"]
        yield from ((plugin[1], plugin[2] or "") for plugin in _BY_ID.finditer(line))
        for plugin in _KOTLIN.finditer(line):
            yield f"org.jetbrains.kotlin.{plugin[1]}", plugin[2] or ""
        yield from ((aliases.get(alias, alias), "") for alias in _ALIAS.findall(line))
        if short := _SHORT.fullmatch(line):
            yield short[1], ""
    if applied := _APPLIED.match(line):
        yield applied[1], ""


def _list_languages(
    lines: list[str], plugins: list[GradlePlugin], manifest: Manifest
) -> Iterator[Technology]:
    """Yield the languages; beside another language, Java's version is that of the runtime."""
    versions = (match[1] or match[2] for line in lines if (match := _JAVA.search(line)))
    java = next(versions, "").replace("_", ".").removeprefix("1.").rstrip(".")
    versions_by_language = {
        name: [plugin.version for plugin in plugins if pattern.fullmatch(plugin.id)]
        for name, pattern in PLUGIN_LANGUAGES.items()
    }
    has_java = bool(versions_by_language.pop("Java"))
    others = {name: named for name, named in versions_by_language.items() if named}
    for name, named in others.items():
        yield manifest.make_technology(name, "language", next(filter(None, named), ""))
    if others and java:
        yield manifest.make_technology("JVM", "runtime", java)
    elif java or has_java:
        yield manifest.make_technology("Java", "language", java)


def _list_commands(manifest: Manifest, plugins: list[GradlePlugin]) -> Iterator[ProjectCommand]:
    """Yield the commands; a part of a larger build has only one that runs it, for the root."""
    rows = load_table("tools")["gradle"]
    applied = [plugin.id for plugin in plugins if plugin.is_applied]
    tasks = dict.fromkeys(
        task for name in applied for task in iter_row_commands(rows.get(name, {}))
    )
    folder = manifest.folder
    if not manifest.exists_above(*BUILD_FILES, *SETTINGS_FILES):
        gradle = manifest.choose_program("./gradlew", "gradle")
        yield from manifest.make_commands(build=f"{gradle} build", test=f"{gradle} test")
        for purpose, task in tasks:
            yield manifest.make_command(purpose, f"{gradle} {task}")
    elif " " not in folder and any(name in manifest.paths for name in SETTINGS_FILES):
        gradle = "./gradlew" if "gradlew" in manifest.paths else "gradle"
        for purpose, task in tasks:
            if purpose == "run":
                line = f"{gradle} :{folder.replace('/', ':')}:{task}"
                yield ProjectCommand(purpose, line, manifest.path)


def _list_entry_points(lines: list[str], manifest: Manifest) -> Iterator[EntryPoint]:
    names = (match[1] for line in lines if (match := _MAIN.search(line)))
    for name in dict.fromkeys(names):
        target = find_class_file(manifest, name)
        yield manifest.make_entry_point(name.rpartition(".")[2], target)


_NAME = re.compile(r"""rootProject\.name[ \t]*+=[ \t]*+["']([^"'$]++)["']""")
_INCLUDE = re.compile(r"include\b|[\"']")
_PATH = re.compile(r"""["']:?([\w:./-]++)["']""")


def read_gradle_settings(manifest: Manifest) -> Iterator[Fact]:
    """Read the name and the parts of a build, which may have no build file in its root."""
    lines = list(iter_code_lines(strip_comments(manifest.text, "//")))
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
                module = get_text_at(entry, "module").partition(":")[0]
                name = get_text_at(entry, "id") or module or get_text_at(entry, "group")
                reference = get_text_at(entry, "version", "ref")
                keys = ("versions", reference) if reference else ("version",)
                yield name, format_version(get_value_at(tree if reference else entry, *keys))
