"""Gradle's build files, in Groovy and in Kotlin: what their lines declare.

The plugins that a Gradle build file applies, and what they are good for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

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
from cub.repomap.stack.formats import iter_code_lines, strip_comments
from cub.repomap.stack.known_packages import find_known_technologies, format_version
from cub.repomap.stack.manifest_paths import exists_above, find_beside
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
# A version catalog calls a plugin what it likes; these are what most people call them.
_ALIASES = {
    "android.application": "com.android.application",
    "android.library": "com.android.library",
    "detekt": "io.gitlab.arturbosch.detekt",
    "ktlint": "org.jlleitschuh.gradle.ktlint",
    "spotless": "com.diffplug.spotless",
    "spring.boot": "org.springframework.boot",
}
TASKS: dict[str, tuple[tuple[CommandPurpose, str], ...]] = {
    "application": (("run", "run"),),
    "checkstyle": (("lint", "checkstyleMain"),),
    "com.android.application": (("lint", "lint"),),
    "com.diffplug.spotless": (("lint", "spotlessCheck"), ("format", "spotlessApply")),
    "io.gitlab.arturbosch.detekt": (("lint", "detekt"),),
    "io.quarkus": (("run", "quarkusDev"),),
    "io.micronaut.application": (("run", "run"),),
    "org.jetbrains.intellij": (("run", "runIde"),),
    "org.jlleitschuh.gradle.ktlint": (("lint", "ktlintCheck"), ("format", "ktlintFormat")),
    "org.springframework.boot": (("run", "bootRun"),),
    "pmd": (("lint", "pmdMain"),),
}


class GradlePlugin(NamedTuple):
    """A plugin by its id; one that is not applied is only named, for other parts of the build."""

    id: str
    version: str
    is_applied: bool


def find_plugins(lines: list[str]) -> list[GradlePlugin]:
    """The plugins that these lines of code name, in order."""
    found: list[GradlePlugin] = []
    inside = False
    for line in lines:
        inside = inside or line.startswith("plugins")
        applied = "apply false" not in line and "apply(false)" not in line
        found += [GradlePlugin(name, version, applied) for name, version in _of_line(line, inside)]
        inside = inside and "}" not in line
    return found


def _of_line(line: str, inside: bool) -> Iterator[tuple[str, str]]:
    for found in _BY_ID.finditer(line) if inside else ():
        yield found[1], found[2] or ""
    for found in _KOTLIN.finditer(line) if inside else ():
        yield f"org.jetbrains.kotlin.{found[1]}", found[2] or ""
    for found in _ALIAS.finditer(line) if inside else ():
        yield _ALIASES.get(found[1], found[1]), ""
    if short := _SHORT.fullmatch(line) if inside else None:
        yield short[1], ""
    if applied := _APPLIED.match(line):
        yield applied[1], ""


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


def _build(manifest: Manifest) -> ManifestFacts:
    lines = list(iter_code_lines(strip_comments(manifest.text, "//")))
    plugins = find_plugins(lines)
    return ManifestFacts(
        technologies=(
            *_languages(lines, plugins, manifest.path),
            Technology("Gradle", "build", "", manifest.path),
            *find_known_technologies("maven", _dependencies(lines, plugins), manifest.path),
        ),
        commands=tuple(_commands(manifest, plugins)),
        entry_points=(
            *_entry_points(lines, manifest),
            *(find_spring_applications(manifest) if _is_spring(plugins) else ()),
        ),
        packages=tuple(_packages(lines, manifest)),
    )


def _languages(lines: list[str], plugins: list[GradlePlugin], source: str) -> Iterator[Technology]:
    """Java's version is that of the runtime where another language is compiled for it."""
    seen = (found[1] or found[2] for line in lines if (found := _JAVA.search(line)))
    java = format_version(next(seen, "").replace("_", ".").removeprefix("1.").rstrip("."))
    others = [one for name, one in _named(plugins, source) if name != "Java"]
    yield from others
    if others and java:
        yield Technology("JVM", "runtime", java, source)
    elif java or any(PLUGIN_LANGUAGES["Java"].fullmatch(plugin.id) for plugin in plugins):
        yield Technology("Java", "language", java, source)


def _named(plugins: list[GradlePlugin], source: str) -> Iterator[tuple[str, Technology]]:
    for name, pattern in PLUGIN_LANGUAGES.items():
        fitting = [plugin for plugin in plugins if pattern.fullmatch(plugin.id)]
        versions = [plugin.version for plugin in fitting if plugin.version]
        if fitting:
            yield (
                name,
                Technology(
                    name, "language", format_version(versions[0] if versions else ""), source
                ),
            )


def _dependencies(lines: list[str], plugins: list[GradlePlugin]) -> Iterator[tuple[str, str]]:
    """The groups of dependencies; a plugin's name begins like the group of what it is for."""
    for plugin in plugins:
        yield plugin.id, plugin.version
    for line in lines:
        for found in _DEPENDENCY.finditer(line):
            yield found[1], found[2] or ""


def _commands(manifest: Manifest, plugins: list[GradlePlugin]) -> Iterator[ProjectCommand]:
    """A part of a larger build has only what runs it, told to the whole build."""
    source, folder = manifest.path, manifest.folder
    applied = [plugin.id for plugin in plugins if plugin.is_applied]
    tasks = [task for name in applied for task in TASKS.get(name, ())]
    gradle = "./gradlew" if find_beside(manifest, "gradlew") else "gradle"
    if not exists_above(manifest, *BUILD_FILES, *SETTINGS_FILES):
        yield ProjectCommand("build", f"{gradle} build", source, folder)
        yield ProjectCommand("test", f"{gradle} test", source, folder)
        for purpose, task in dict.fromkeys(tasks):
            yield ProjectCommand(purpose, f"{gradle} {task}", source, folder)
    elif " " not in folder and any(name in manifest.paths for name in SETTINGS_FILES):
        gradle = "./gradlew" if "gradlew" in manifest.paths else "gradle"
        for purpose, task in dict.fromkeys(tasks):
            if purpose == "run":
                yield ProjectCommand(
                    purpose, f"{gradle} :{folder.replace('/', ':')}:{task}", source
                )


def _is_spring(plugins: list[GradlePlugin]) -> bool:
    return any(one.id == "org.springframework.boot" and one.is_applied for one in plugins)


def _entry_points(lines: list[str], manifest: Manifest) -> Iterator[EntryPoint]:
    found = (found[1] for line in lines if (found := _MAIN.search(line)))
    for name in dict.fromkeys(found):
        short = name.rpartition(".")[2]
        yield EntryPoint(short, find_class_file(manifest, name), manifest.path)


def _packages(lines: list[str], manifest: Manifest) -> Iterator[ProjectPackage]:
    """A build file has no name of its own: that of the root is in the settings."""
    found = (found[1] for line in lines if (found := _DESCRIPTION.match(line)))
    description = next(found, "")
    name = manifest.folder.rpartition("/")[2]
    if name or (description and not find_beside(manifest, *SETTINGS_FILES)):
        yield ProjectPackage(manifest.folder, name, description, manifest.path)


READERS: tuple[ManifestReader, ...] = (ManifestReader(BUILD_FILES, _build),)
