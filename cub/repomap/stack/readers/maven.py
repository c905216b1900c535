"""Read pom.xml, without its parents from elsewhere; find the main classes of the JVM."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cub.repomap.data import load_table
from cub.repomap.stack.facts import (
    EntryPoint,
    Fact,
    ProjectPackage,
    Technology,
    iter_row_commands,
)
from cub.repomap.stack.formats import get_xml_text, parse_xml
from cub.repomap.stack.manifest import Manifest

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_FOLDERS = ("src/main/java", "src/main/kotlin", "src/main/scala", "src/main/groovy", "app", "src")
_ENDINGS = (".java", ".kt", ".scala", ".groovy")
_APPLICATIONS = ("Application.java", "Application.kt")
_REFERENCE = re.compile(r"\$\{([^${}]{1,100})\}")
_JAVA_PROPERTIES = (
    "maven.compiler.release", "java.version", "maven.compiler.source", "jdk.version",
)  # fmt: skip
_COMPILER_SETTINGS = ("release", "source", "target")
_LANGUAGES = {"kotlin-maven-plugin": "Kotlin", "scala-maven-plugin": "Scala"}
_MAIN_PROPERTIES = ("start-class", "exec.mainClass", "mainClass", "main.class")
_MAX_VALUE_CHARS = 500
_MAX_REFERENCE_DEPTH = 4


def read_pom(manifest: Manifest) -> Iterator[Fact]:
    """Read a project of Maven."""
    root = parse_xml(manifest.text)
    if root.tag != "project":
        raise ValueError("not a Maven project")
    properties = {one.tag: (one.text or "").strip() for one in root.iterfind("properties/*")}
    plugins = _get_plugins(root)
    yield from _list_languages(plugins, properties, manifest)
    yield from manifest.find_known("maven", _iter_groups(root, properties))
    yield from _list_plugin_facts(manifest, plugins)
    yield from _list_entry_points(root, properties, manifest)
    if "spring-boot-maven-plugin" in plugins:
        yield from find_spring_applications(manifest)
    yield from _list_packages(root, properties, manifest)


def _resolve(text: str, properties: dict[str, str]) -> str:
    """Return a text with its properties filled in; "" if one of them is not known."""
    for _ in range(_MAX_REFERENCE_DEPTH):
        text = text[:_MAX_VALUE_CHARS]
        text = _REFERENCE.sub(lambda reference: properties.get(reference[1], "${}"), text)
    return "" if "${" in text else text[:_MAX_VALUE_CHARS]


def _get_plugins(root: Element) -> dict[str, Element]:
    """Return the plugins by name; one that is used goes before a managed one."""
    used = root.iterfind("build/plugins/plugin")
    managed = root.iterfind("build/pluginManagement/plugins/plugin")
    plugins: dict[str, Element] = {}
    for plugin in (*used, *managed):
        plugins.setdefault(get_xml_text(plugin, "artifactId"), plugin)
    return plugins


def _list_languages(
    plugins: dict[str, Element], properties: dict[str, str], manifest: Manifest
) -> Iterator[Technology]:
    compiler = plugins.get("maven-compiler-plugin")
    values = [properties.get(key, "") for key in _JAVA_PROPERTIES]
    values += [get_xml_text(compiler, f"configuration/{key}") for key in _COMPILER_SETTINGS]
    java = next(filter(None, (_resolve(value, properties).strip() for value in values)), "")
    others = [name for name in _LANGUAGES if name in plugins]
    if java or not others:
        yield manifest.make_technology("Java", "language", java)
    for name in others:
        version = _resolve(get_xml_text(plugins[name], "version"), properties)
        yield manifest.make_technology(_LANGUAGES[name], "language", version)


def _iter_groups(root: Element, properties: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the groups of parent, dependencies and managed versions, without the project's own."""
    own_group = get_xml_text(root, "groupId") or get_xml_text(root, "parent/groupId")
    dependencies = (
        *root.iterfind("parent"),
        *root.iterfind("dependencies/dependency"),
        *root.iterfind("dependencyManagement/dependencies/dependency"),
    )
    for dependency in dependencies:
        group = get_xml_text(dependency, "groupId")
        if group != own_group and not group.startswith("${"):
            yield group, _resolve(get_xml_text(dependency, "version"), properties)


def _list_plugin_facts(manifest: Manifest, plugins: dict[str, Element]) -> Iterator[Fact]:
    """Yield tools and commands; a module of a larger project has only those that run it."""
    is_module = manifest.exists_above("pom.xml")
    maven = manifest.choose_program("./mvnw", "mvn")
    rows = load_table("tools")["maven"]
    for row in (rows[name] for name in plugins if name in rows):
        yield manifest.make_technology(row.get("name", ""), "tool")
        for purpose, goal in iter_row_commands(row):
            if purpose == "run" or not is_module:
                yield manifest.make_command(purpose, f"{maven} {goal}")


def _list_entry_points(
    root: Element, properties: dict[str, str], manifest: Manifest
) -> Iterator[EntryPoint]:
    values = [element.text or "" for element in root.iter("mainClass")]
    values += [properties.get(key, "") for key in _MAIN_PROPERTIES]
    names = dict.fromkeys(_resolve(value.strip(), properties) for value in values)
    for name in names:
        yield manifest.make_entry_point(name.rpartition(".")[2], find_class_file(manifest, name))


def _list_packages(
    root: Element, properties: dict[str, str], manifest: Manifest
) -> Iterator[ProjectPackage]:
    name, description = (
        _resolve(get_xml_text(root, key), properties) for key in ("artifactId", "description")
    )
    yield manifest.make_package(name, description)
    for module in root.iterfind("modules/module"):
        if folder := manifest.resolve_path((module.text or "").removesuffix("/pom.xml")):
            yield manifest.make_member(folder)


def find_class_file(manifest: Manifest, name: str) -> str:
    """Return the file that a main class is most likely in; the class itself if there is none."""
    stem = name.replace(".", "/").removesuffix("Kt")
    usual = [f"{folder}/{stem}{ending}" for folder in _FOLDERS for ending in _ENDINGS]
    file = manifest.find_beside(*usual)
    return manifest.resolve_path(file) if file else name


def find_spring_applications(manifest: Manifest) -> Iterator[EntryPoint]:
    """Yield the main classes of Spring Boot, by the usual ending of their names."""
    for folder in _FOLDERS[:2]:
        for path in manifest.list_below(folder):
            if path.endswith(_APPLICATIONS):
                name = path.rpartition("/")[2].rpartition(".")[0]
                target = manifest.resolve_path(f"{folder}/{path}")
                yield manifest.make_entry_point(name, target)
