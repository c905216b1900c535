"""Gradle's build files, in Groovy and in Kotlin: what their lines declare."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.around import above, beside
from cub.repomap.stack.dependencies import known, version_of
from cub.repomap.stack.facts import (
    Command,
    EntryPoint,
    Facts,
    Manifest,
    Package,
    Reader,
    Technology,
)
from cub.repomap.stack.formats.lines import code_lines, without_comments
from cub.repomap.stack.jvm.gradle_plugins import LANGUAGES, TASKS, Plugin, find
from cub.repomap.stack.jvm.java import class_file, spring_applications

BUILD = ("build.gradle.kts", "build.gradle")
SETTINGS = ("settings.gradle.kts", "settings.gradle")
_JAVA = re.compile(
    r"(?:JavaLanguageVersion\.of|jvmToolchain)\((\d{1,2})\)"
    r"|(?:sourceCompatibility|options\.release(?:\.set)?)[ \t=(]*+"
    r"""(?:JavaVersion\.VERSION_)?["']?(\d[\d._]{0,5})"""
)
_DEPENDENCY = re.compile(r"""["']([\w.-]++):[\w.-]++(?::([^"'\s:$@]{1,40}))?[^"'\n]{0,99}["']""")
_MAIN = re.compile(r"""\bmainClass(?:Name)?(?:\.set)?[ \t=(]*+["']([\w.$]++)["']""")
_DESCRIPTION = re.compile(r"""description[ \t]*+=?[ \t]*+["']([^"'$]++)["']""")


def _build(manifest: Manifest) -> Facts:
    lines = list(code_lines(without_comments(manifest.text, "//")))
    plugins = find(lines)
    return Facts(
        technologies=(
            *_languages(lines, plugins, manifest.path),
            Technology("Gradle", "build", "", manifest.path),
            *known("maven", _dependencies(lines, plugins), manifest.path),
        ),
        commands=tuple(_commands(manifest, plugins)),
        entry_points=(
            *_entry_points(lines, manifest),
            *(spring_applications(manifest) if _is_spring(plugins) else ()),
        ),
        packages=tuple(_packages(lines, manifest)),
    )


def _languages(lines: list[str], plugins: list[Plugin], source: str) -> Iterator[Technology]:
    """Java's version is that of the runtime where another language is compiled for it."""
    seen = (found[1] or found[2] for line in lines if (found := _JAVA.search(line)))
    java = version_of(next(seen, "").replace("_", ".").removeprefix("1.").rstrip("."))
    others = [one for name, one in _named(plugins, source) if name != "Java"]
    yield from others
    if others and java:
        yield Technology("JVM", "runtime", java, source)
    elif java or any(LANGUAGES["Java"].fullmatch(plugin.id) for plugin in plugins):
        yield Technology("Java", "language", java, source)


def _named(plugins: list[Plugin], source: str) -> Iterator[tuple[str, Technology]]:
    for name, pattern in LANGUAGES.items():
        fitting = [plugin for plugin in plugins if pattern.fullmatch(plugin.id)]
        versions = [plugin.version for plugin in fitting if plugin.version]
        if fitting:
            yield (
                name,
                Technology(name, "language", version_of(versions[0] if versions else ""), source),
            )


def _dependencies(lines: list[str], plugins: list[Plugin]) -> Iterator[tuple[str, str]]:
    """The groups of dependencies; a plugin's name begins like the group of what it is for."""
    for plugin in plugins:
        yield plugin.id, plugin.version
    for line in lines:
        for found in _DEPENDENCY.finditer(line):
            yield found[1], found[2] or ""


def _commands(manifest: Manifest, plugins: list[Plugin]) -> Iterator[Command]:
    """A part of a larger build has only what runs it, told to the whole build."""
    source, folder = manifest.path, manifest.folder
    applied = [plugin.id for plugin in plugins if plugin.applied]
    tasks = [task for name in applied for task in TASKS.get(name, ())]
    gradle = "./gradlew" if beside(manifest, "gradlew") else "gradle"
    if not above(manifest, *BUILD, *SETTINGS):
        yield Command("build", f"{gradle} build", source, folder)
        yield Command("test", f"{gradle} test", source, folder)
        for purpose, task in dict.fromkeys(tasks):
            yield Command(purpose, f"{gradle} {task}", source, folder)
    elif " " not in folder and any(name in manifest.paths for name in SETTINGS):
        gradle = "./gradlew" if "gradlew" in manifest.paths else "gradle"
        for purpose, task in dict.fromkeys(tasks):
            if purpose == "run":
                yield Command(purpose, f"{gradle} :{folder.replace('/', ':')}:{task}", source)


def _is_spring(plugins: list[Plugin]) -> bool:
    return any(one.id == "org.springframework.boot" and one.applied for one in plugins)


def _entry_points(lines: list[str], manifest: Manifest) -> Iterator[EntryPoint]:
    found = (found[1] for line in lines if (found := _MAIN.search(line)))
    for name in dict.fromkeys(found):
        short = name.rpartition(".")[2]
        yield EntryPoint(short, class_file(manifest, name), manifest.path)


def _packages(lines: list[str], manifest: Manifest) -> Iterator[Package]:
    """A build file has no name of its own: that of the root is in the settings."""
    found = (found[1] for line in lines if (found := _DESCRIPTION.match(line)))
    description = next(found, "")
    name = manifest.folder.rpartition("/")[2]
    if name or (description and not beside(manifest, *SETTINGS)):
        yield Package(manifest.folder, name, description, manifest.path)


READERS: tuple[Reader, ...] = (Reader(BUILD, _build),)
