"""Where the classes of the JVM's languages are, for all of their build tools.

Maven: pom.xml, read without its parents from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

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
from cub.repomap.stack.formats import get_xml_text, iter_xml_children, parse_xml
from cub.repomap.stack.known_packages import find_known_technologies, format_version
from cub.repomap.stack.manifest_paths import (
    exists_above,
    find_beside,
    list_below,
    resolve_manifest_path,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


_FOLDERS = ("src/main/java", "src/main/kotlin", "src/main/scala", "src/main/groovy", "app", "src")
_ENDINGS = (".java", ".kt", ".scala", ".groovy")
_APPLICATIONS = ("Application.java", "Application.kt")


def find_class_file(manifest: Manifest, name: str) -> str:
    """The file that a main class is most likely in; the class itself if there is none."""
    path = name.replace(".", "/").removesuffix("Kt")
    usual = [f"{folder}/{path}{ending}" for folder in _FOLDERS for ending in _ENDINGS]
    found = find_beside(manifest, *usual)
    return resolve_manifest_path(manifest, found) if found else name


def find_spring_applications(manifest: Manifest) -> Iterator[EntryPoint]:
    """The main classes of Spring Boot, which finds them by itself, where they end as most do."""
    for folder in _FOLDERS[:2]:
        for path in list_below(manifest, folder):
            if path.endswith(_APPLICATIONS):
                name = path.rpartition("/")[2].rpartition(".")[0]
                yield EntryPoint(
                    name, resolve_manifest_path(manifest, f"{folder}/{path}"), manifest.path
                )


_REFERENCE = re.compile(r"\$\{([^${}]{1,100})\}")
_LONGEST = 500
_JAVA = ("maven.compiler.release", "java.version", "maven.compiler.source", "jdk.version")
_COMPILER = ("release", "source", "target")
_LANGUAGES = {"kotlin-maven-plugin": "Kotlin", "scala-maven-plugin": "Scala"}
_MAIN = ("start-class", "exec.mainClass", "mainClass", "main.class")
# Plugin: its name in the map, and its goals.
_PLUGINS: dict[str, tuple[str, tuple[tuple[CommandPurpose, str], ...]]] = {
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


def _pom(manifest: Manifest) -> ManifestFacts:
    root, source = parse_xml(manifest.text), manifest.path
    if root.tag != "project":
        raise ValueError("this is no Maven project")
    properties = {
        each.tag: (each.text or "").strip() for each in iter_xml_children(root, "properties", "*")
    }
    plugins = _plugins(root)
    tools = [_PLUGINS[name][0] for name in plugins if name in _PLUGINS]
    return ManifestFacts(
        technologies=(
            *_languages(plugins, properties, source),
            Technology("Maven", "build", "", source),
            *find_known_technologies("maven", _dependencies(root, properties), source),
            *(Technology(name, "tool", "", source) for name in tools if name),
        ),
        commands=tuple(_commands(manifest, plugins)),
        entry_points=(
            *_entry_points(root, properties, manifest),
            *(find_spring_applications(manifest) if "spring-boot-maven-plugin" in plugins else ()),
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
    used = iter_xml_children(root, "build", "plugins", "plugin")
    managed = iter_xml_children(root, "build", "pluginManagement", "plugins", "plugin")
    found: dict[str, Element] = {}
    for plugin in (*used, *managed):
        found.setdefault(get_xml_text(plugin, "artifactId"), plugin)
    return found


def _languages(
    plugins: dict[str, Element], properties: dict[str, str], source: str
) -> Iterator[Technology]:
    compiler = plugins.get("maven-compiler-plugin")
    asked = [properties.get(key, "") for key in _JAVA]
    asked += [get_xml_text(compiler, "configuration", key) for key in _COMPILER]
    versions = (format_version(_resolved(text, properties)) for text in asked)
    java = next(filter(None, versions), "")
    others = [name for name in _LANGUAGES if name in plugins]
    if java or not others:
        yield Technology("Java", "language", java, source)
    for name in others:
        version = _resolved(get_xml_text(plugins[name], "version"), properties)
        yield Technology(_LANGUAGES[name], "language", format_version(version), source)


def _dependencies(root: Element, properties: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The groups of parent, dependencies and managed versions, but not the project's own group."""
    parent, own = get_xml_text(root, "parent", "groupId"), get_xml_text(root, "groupId")
    listed = (
        *iter_xml_children(root, "parent"),
        *iter_xml_children(root, "dependencies", "dependency"),
        *iter_xml_children(root, "dependencyManagement", "dependencies", "dependency"),
    )
    for dependency in listed:
        group = get_xml_text(dependency, "groupId")
        if group != (own or parent) and not group.startswith("${"):
            yield group, _resolved(get_xml_text(dependency, "version"), properties)


def _commands(manifest: Manifest, plugins: dict[str, Element]) -> Iterator[ProjectCommand]:
    """A module of a larger project has only what runs it."""
    leads = not exists_above(manifest, "pom.xml")
    maven = "./mvnw" if find_beside(manifest, "mvnw") else "mvn"
    goals: list[tuple[CommandPurpose, str]] = []
    if leads:
        goals += [("build", "package -DskipTests"), ("test", "test")]
    for name in plugins:
        goals += [goal for goal in _PLUGINS.get(name, ("", ()))[1] if leads or goal[0] == "run"]
    for purpose, goal in goals:
        yield ProjectCommand(purpose, f"{maven} {goal}", manifest.path, manifest.folder)


def _entry_points(
    root: Element, properties: dict[str, str], manifest: Manifest
) -> Iterator[EntryPoint]:
    named = [each.text or "" for each in root.iter("mainClass")]
    named += [properties.get(key, "") for key in _MAIN]
    for text in dict.fromkeys(_resolved(name.strip(), properties) for name in named):
        if text:
            name = text.rpartition(".")[2]
            yield EntryPoint(name, find_class_file(manifest, text), manifest.path)


def _packages(
    root: Element, properties: dict[str, str], manifest: Manifest
) -> Iterator[ProjectPackage]:
    if name := _resolved(get_xml_text(root, "artifactId"), properties):
        description = _resolved(get_xml_text(root, "description"), properties)
        yield ProjectPackage(manifest.folder, name, description, manifest.path)
    for module in iter_xml_children(root, "modules", "module"):
        folder = resolve_manifest_path(manifest, (module.text or "").removesuffix("/pom.xml"))
        if folder:
            yield ProjectPackage(folder, "", "", manifest.path)


READERS: tuple[ManifestReader, ...] = (ManifestReader(("pom.xml",), _pom),)
