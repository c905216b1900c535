"""Scala: sbt's build.sbt and project/, Mill's build file, scalafmt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.facts import (
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    Technology,
)
from cub.repomap.stack.formats import iter_code_lines, strip_comments
from cub.repomap.stack.known_packages import find_known_technologies, format_version
from cub.repomap.stack.manifest_paths import exists_above, find_beside, resolve_manifest_path

_SETTING = (
    r"""(?:(?:ThisBuild|Global)[ \t]*+/[ \t]*+|val[ \t]++)?%s[ \t]*+:?=[ \t]*+"([^"\n]++)\""""
)
_SCALA = re.compile(_SETTING % "(?:scalaVersion|scala\\w{0,20}[vV]ersion)")
_NAME = re.compile(_SETTING % "name")
_DESCRIPTION = re.compile(_SETTING % "description")
_PROJECT = re.compile(r"""lazy val `?([\w-]++)`?[ \t]*+=[^"]{0,200}\bfile\("([^"\n]++)"\)""")
_LIBRARY = re.compile(
    r""""([\w.-]++)"[ \t]*+%{1,3}[ \t]*+"[\w.-]++"[ \t]*+%[ \t]*+(?:"([^"\n]++)")?"""
)
_IVY = re.compile(r"""(?:ivy|mvn)"([\w.-]++):{1,3}[\w.-]++:{1,2}([^"\n$]++)?\"""")
_MILL_SCALA = re.compile(r"""(?:def|val)[ \t]++scalaVersion\b[^="]{0,40}=[ \t]*+"([^"\n]++)\"""")
_MILL_MODULE = re.compile(r"object[ \t]++`?([\w-]++)`?[ \t]++extends\b.{0,200}Module")
_SBT = re.compile(r"sbt\.version[ \t]*+=[ \t]*+([\w.-]++)")
_SCALAFMT = re.compile(r'version[ \t]*+=[ \t]*+"?([\w.-]++)')


def _sbt(manifest: Manifest) -> ManifestFacts:
    lines = list(iter_code_lines(strip_comments(manifest.text, "//")))
    source, folder = manifest.path, manifest.folder
    commands = (
        ProjectCommand("build", "sbt compile", source, folder),
        ProjectCommand("test", "sbt test", source, folder),
    )
    return ManifestFacts(
        technologies=(
            Technology("Scala", "language", format_version(_first(_SCALA, lines)), source),
            Technology("sbt", "build", "", source),
            *find_known_technologies("maven", _libraries(lines), source),
        ),
        commands=commands if not exists_above(manifest, "build.sbt") else (),
        packages=tuple(_packages(lines, manifest)),
    )


def _first(pattern: re.Pattern[str], lines: list[str]) -> str:
    """What the pattern's group is in the first line that begins with it."""
    return next((found[1] for line in lines if (found := pattern.match(line))), "")


def _libraries(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        for found in _LIBRARY.finditer(line):
            yield found[1], found[2] or ""


def _packages(lines: list[str], manifest: Manifest) -> Iterator[ProjectPackage]:
    """The root by its settings, then the projects that have a folder of their own."""
    if name := _first(_NAME, lines):
        words = _first(_DESCRIPTION, lines)
        yield ProjectPackage(manifest.folder, name, words, manifest.path)
    for line in lines:
        found = _PROJECT.match(line)
        folder = resolve_manifest_path(manifest, found[2]) if found else ""
        if found and folder and folder != manifest.folder:
            yield ProjectPackage(folder, found[1], "", manifest.path)


def _mill(manifest: Manifest) -> ManifestFacts:
    lines = list(iter_code_lines(strip_comments(manifest.text, "//")))
    source, folder = manifest.path, manifest.folder
    mill = "./mill" if find_beside(manifest, "mill") else "mill"
    versions = [found[1] for line in lines if (found := _MILL_SCALA.search(line))]
    libraries = [found.groups("") for line in lines for found in _IVY.finditer(line)]
    modules = [found[1] for line in lines if (found := _MILL_MODULE.match(line))]
    return ManifestFacts(
        technologies=(
            Technology(
                "Scala", "language", format_version(versions[0] if versions else ""), source
            ),
            Technology("Mill", "build", "", source),
            *find_known_technologies(
                "maven", ((group, version) for group, version in libraries), source
            ),
        ),
        commands=(
            ProjectCommand("build", f"{mill} __.compile", source, folder),
            ProjectCommand("test", f"{mill} __.test", source, folder),
        ),
        packages=tuple(
            ProjectPackage(resolve_manifest_path(manifest, name), name, "", source)
            for name in modules
            if len(name) <= 100
        ),
    )


def _sbt_version(manifest: Manifest) -> ManifestFacts:
    version = format_version(_first(_SBT, list(iter_code_lines(manifest.text))))
    return ManifestFacts(
        technologies=(Technology("sbt", "build", version, manifest.path),) if version else ()
    )


def _scalafmt(manifest: Manifest) -> ManifestFacts:
    version = format_version(_first(_SCALAFMT, list(iter_code_lines(manifest.text))))
    folder = manifest.folder
    formats = (
        ProjectCommand("lint", "sbt scalafmtCheckAll", manifest.path, folder),
        ProjectCommand("format", "sbt scalafmtAll", manifest.path, folder),
    )
    return ManifestFacts(
        technologies=(Technology("scalafmt", "tool", version, manifest.path),),
        commands=formats if find_beside(manifest, "build.sbt") else (),
    )


READERS: tuple[ManifestReader, ...] = (
    ManifestReader(("build.sbt",), _sbt),
    ManifestReader(("build.sc", "build.mill"), _mill),
    ManifestReader(("project/build.properties",), _sbt_version),
    ManifestReader((".scalafmt.conf",), _scalafmt),
)
