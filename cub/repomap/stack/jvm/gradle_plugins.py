"""The plugins that a Gradle build file applies, and what they are good for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cub.repomap.stack.facts import Purpose

_VERSION = r"""(?:[ \t)]*+version[ \t(]*+["']([^"'\s$]{1,40})["'])?"""
_BY_ID = re.compile(rf"""\bid[ \t(]*+["']([\w.-]++)["']{_VERSION}""")
_KOTLIN = re.compile(rf"""\bkotlin\(["']([\w.-]++)["']\){_VERSION}""")
_APPLIED = re.compile(r"""^apply\b.{0,20}\bplugin[ \t]*+[:=][ \t]*+["']([\w.-]++)["']""")
_ALIAS = re.compile(r"\balias[ \t(]*+\w++\.plugins\.([\w.]++)")
_SHORT = re.compile(r"`?([a-z][a-z-]*+)`?")

LANGUAGES = {
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
TASKS: dict[str, tuple[tuple[Purpose, str], ...]] = {
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


class Plugin(NamedTuple):
    """A plugin by its id; one that is not applied is only named, for other parts of the build."""

    id: str
    version: str
    applied: bool


def find(lines: list[str]) -> list[Plugin]:
    """The plugins that these lines of code name, in order."""
    found: list[Plugin] = []
    inside = False
    for line in lines:
        inside = inside or line.startswith("plugins")
        applied = "apply false" not in line and "apply(false)" not in line
        found += [Plugin(name, version, applied) for name, version in _of_line(line, inside)]
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
