"""Scala: sbt's build.sbt and project/, Mill's build file, scalafmt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.around import above, beside, path_of
from cub.repomap.stack.dependencies import known, version_of
from cub.repomap.stack.facts import Command, Facts, Manifest, Package, Reader, Technology
from cub.repomap.stack.formats.lines import code_lines, without_comments

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


def _sbt(manifest: Manifest) -> Facts:
    lines = list(code_lines(without_comments(manifest.text, "//")))
    source, folder = manifest.path, manifest.folder
    commands = (
        Command("build", "sbt compile", source, folder),
        Command("test", "sbt test", source, folder),
    )
    return Facts(
        technologies=(
            Technology("Scala", "language", version_of(_first(_SCALA, lines)), source),
            Technology("sbt", "build", "", source),
            *known("maven", _libraries(lines), source),
        ),
        commands=commands if not above(manifest, "build.sbt") else (),
        packages=tuple(_packages(lines, manifest)),
    )


def _first(pattern: re.Pattern[str], lines: list[str]) -> str:
    """What the pattern's group is in the first line that begins with it."""
    return next((found[1] for line in lines if (found := pattern.match(line))), "")


def _libraries(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        for found in _LIBRARY.finditer(line):
            yield found[1], found[2] or ""


def _packages(lines: list[str], manifest: Manifest) -> Iterator[Package]:
    """The root by its settings, then the projects that have a folder of their own."""
    if name := _first(_NAME, lines):
        words = _first(_DESCRIPTION, lines)
        yield Package(manifest.folder, name, words, manifest.path)
    for line in lines:
        found = _PROJECT.match(line)
        folder = path_of(manifest, found[2]) if found else ""
        if found and folder and folder != manifest.folder:
            yield Package(folder, found[1], "", manifest.path)


def _mill(manifest: Manifest) -> Facts:
    lines = list(code_lines(without_comments(manifest.text, "//")))
    source, folder = manifest.path, manifest.folder
    mill = "./mill" if beside(manifest, "mill") else "mill"
    versions = [found[1] for line in lines if (found := _MILL_SCALA.search(line))]
    libraries = [found.groups("") for line in lines for found in _IVY.finditer(line)]
    modules = [found[1] for line in lines if (found := _MILL_MODULE.match(line))]
    return Facts(
        technologies=(
            Technology("Scala", "language", version_of(versions[0] if versions else ""), source),
            Technology("Mill", "build", "", source),
            *known("maven", ((group, version) for group, version in libraries), source),
        ),
        commands=(
            Command("build", f"{mill} __.compile", source, folder),
            Command("test", f"{mill} __.test", source, folder),
        ),
        packages=tuple(
            Package(path_of(manifest, name), name, "", source)
            for name in modules
            if len(name) <= 100
        ),
    )


def _sbt_version(manifest: Manifest) -> Facts:
    version = version_of(_first(_SBT, list(code_lines(manifest.text))))
    return Facts(
        technologies=(Technology("sbt", "build", version, manifest.path),) if version else ()
    )


def _scalafmt(manifest: Manifest) -> Facts:
    version = version_of(_first(_SCALAFMT, list(code_lines(manifest.text))))
    folder = manifest.folder
    formats = (
        Command("lint", "sbt scalafmtCheckAll", manifest.path, folder),
        Command("format", "sbt scalafmtAll", manifest.path, folder),
    )
    return Facts(
        technologies=(Technology("scalafmt", "tool", version, manifest.path),),
        commands=formats if beside(manifest, "build.sbt") else (),
    )


READERS: tuple[Reader, ...] = (
    Reader(("build.sbt",), _sbt),
    Reader(("build.sc", "build.mill"), _mill),
    Reader(("project/build.properties",), _sbt_version),
    Reader((".scalafmt.conf",), _scalafmt),
)
