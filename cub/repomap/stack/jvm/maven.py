"""Maven: pom.xml, read without its parents from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cub.repomap.stack.around import above, beside, path_of
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
from cub.repomap.stack.formats.markup import children, words, xml_tree
from cub.repomap.stack.jvm.java import class_file, spring_applications

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_REFERENCE = re.compile(r"\$\{([^${}]{1,100})\}")
_LONGEST = 500
_JAVA = ("maven.compiler.release", "java.version", "maven.compiler.source", "jdk.version")
_COMPILER = ("release", "source", "target")
_LANGUAGES = {"kotlin-maven-plugin": "Kotlin", "scala-maven-plugin": "Scala"}
_MAIN = ("start-class", "exec.mainClass", "mainClass", "main.class")
# Plugin: its name in the map, and its goals.
_PLUGINS: dict[str, tuple[str, tuple[tuple[Purpose, str], ...]]] = {
    "spotless-maven-plugin": (
        "Spotless",
        (("lint", "spotless:check"), ("format", "spotless:apply")),
    ),
    "fmt-maven-plugin": ("google-java-format", (("lint", "fmt:check"), ("format", "fmt:format"))),
    "maven-checkstyle-plugin": ("Checkstyle", (("lint", "checkstyle:check"),)),
    "maven-pmd-plugin": ("PMD", (("lint", "pmd:check"),)),
    "spotbugs-maven-plugin": ("SpotBugs", (("lint", "spotbugs:check"),)),
    "spring-boot-maven-plugin": ("", (("run", "spring-boot:run"),)),
    "quarkus-maven-plugin": ("", (("run", "quarkus:dev"),)),
    "jetty-maven-plugin": ("Jetty", (("run", "jetty:run"),)),
}


def _pom(manifest: Manifest) -> Facts:
    root, source = xml_tree(manifest.text), manifest.path
    if root.tag != "project":
        raise ValueError("this is no Maven project")
    properties = {each.tag: (each.text or "").strip() for each in children(root, "properties", "*")}
    plugins = _plugins(root)
    tools = [_PLUGINS[name][0] for name in plugins if name in _PLUGINS]
    return Facts(
        technologies=(
            *_languages(plugins, properties, source),
            Technology("Maven", "build", "", source),
            *known("maven", _dependencies(root, properties), source),
            *(Technology(name, "tool", "", source) for name in tools if name),
        ),
        commands=tuple(_commands(manifest, plugins)),
        entry_points=(
            *_entry_points(root, properties, manifest),
            *(spring_applications(manifest) if "spring-boot-maven-plugin" in plugins else ()),
        ),
        packages=tuple(_packages(root, properties, manifest)),
    )


def _resolved(text: str, properties: dict[str, str]) -> str:
    """A text with its properties put in; what stays unknown makes it empty."""
    for _ in range(4):
        text = _REFERENCE.sub(lambda found: properties.get(found[1], "${}"), text[:_LONGEST])
    return "" if "${" in text else text[:_LONGEST]


def _plugins(root: Element) -> dict[str, Element]:
    """The plugins by name; the configuration of one that is used goes before a managed one."""
    used = children(root, "build", "plugins", "plugin")
    managed = children(root, "build", "pluginManagement", "plugins", "plugin")
    found: dict[str, Element] = {}
    for plugin in (*used, *managed):
        found.setdefault(words(plugin, "artifactId"), plugin)
    return found


def _languages(
    plugins: dict[str, Element], properties: dict[str, str], source: str
) -> Iterator[Technology]:
    compiler = plugins.get("maven-compiler-plugin")
    asked = [properties.get(key, "") for key in _JAVA]
    asked += [words(compiler, "configuration", key) for key in _COMPILER]
    versions = (version_of(_resolved(text, properties)) for text in asked)
    java = next(filter(None, versions), "")
    others = [name for name in _LANGUAGES if name in plugins]
    if java or not others:
        yield Technology("Java", "language", java, source)
    for name in others:
        version = _resolved(words(plugins[name], "version"), properties)
        yield Technology(_LANGUAGES[name], "language", version_of(version), source)


def _dependencies(root: Element, properties: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The groups of parent, dependencies and managed versions, but not the project's own group."""
    parent, own = words(root, "parent", "groupId"), words(root, "groupId")
    listed = (
        *children(root, "parent"),
        *children(root, "dependencies", "dependency"),
        *children(root, "dependencyManagement", "dependencies", "dependency"),
    )
    for dependency in listed:
        group = words(dependency, "groupId")
        if group != (own or parent) and not group.startswith("${"):
            yield group, _resolved(words(dependency, "version"), properties)


def _commands(manifest: Manifest, plugins: dict[str, Element]) -> Iterator[Command]:
    """A module of a larger project has only what runs it."""
    leads = not above(manifest, "pom.xml")
    maven = "./mvnw" if beside(manifest, "mvnw") else "mvn"
    goals: list[tuple[Purpose, str]] = []
    if leads:
        goals += [("build", "package -DskipTests"), ("test", "test")]
    for name in plugins:
        goals += [goal for goal in _PLUGINS.get(name, ("", ()))[1] if leads or goal[0] == "run"]
    for purpose, goal in goals:
        yield Command(purpose, f"{maven} {goal}", manifest.path, manifest.folder)


def _entry_points(
    root: Element, properties: dict[str, str], manifest: Manifest
) -> Iterator[EntryPoint]:
    named = [each.text or "" for each in root.iter("mainClass")]
    named += [properties.get(key, "") for key in _MAIN]
    for text in dict.fromkeys(_resolved(name.strip(), properties) for name in named):
        if text:
            name = text.rpartition(".")[2]
            yield EntryPoint(name, class_file(manifest, text), manifest.path)


def _packages(root: Element, properties: dict[str, str], manifest: Manifest) -> Iterator[Package]:
    if name := _resolved(words(root, "artifactId"), properties):
        description = _resolved(words(root, "description"), properties)
        yield Package(manifest.folder, name, description, manifest.path)
    for module in children(root, "modules", "module"):
        folder = path_of(manifest, (module.text or "").removesuffix("/pom.xml"))
        if folder:
            yield Package(folder, "", "", manifest.path)


READERS: tuple[Reader, ...] = (Reader(("pom.xml",), _pom),)
