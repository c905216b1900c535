"""Read the files of Scala: sbt's build.sbt, Mill's build file, scalafmt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.facts import Fact
from cub.repomap.stack.formats import find_first, iter_code_lines, strip_comments
from cub.repomap.stack.manifest import Manifest

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
_SCALAFMT = re.compile(r'version[ \t]*+=[ \t]*+"?([\w.-]++)')
_MAX_MODULE_CHARS = 100


def read_build_sbt(manifest: Manifest) -> Iterator[Fact]:
    """Read a build of sbt."""
    lines = list(iter_code_lines(strip_comments(manifest.text, "//")))
    yield manifest.make_technology("Scala", "language", find_first(_SCALA, lines))
    yield from manifest.find_known("maven", _iter_libraries(_LIBRARY, lines))
    yield manifest.make_package(find_first(_NAME, lines), find_first(_DESCRIPTION, lines))
    for project in filter(None, map(_PROJECT.match, lines)):
        folder = manifest.resolve_path(project[2])
        if folder and folder != manifest.folder:
            yield manifest.make_member(folder, project[1])


def _iter_libraries(pattern: re.Pattern[str], lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        for library in pattern.finditer(line):
            yield library[1], library[2] or ""


def read_mill_build(manifest: Manifest) -> Iterator[Fact]:
    """Read a build of Mill."""
    lines = list(iter_code_lines(strip_comments(manifest.text, "//")))
    versions = (match[1] for line in lines if (match := _MILL_SCALA.search(line)))
    yield manifest.make_technology("Scala", "language", next(versions, ""))
    yield from manifest.find_known("maven", _iter_libraries(_IVY, lines))
    for module in filter(None, map(_MILL_MODULE.match, lines)):
        if len(name := module[1]) <= _MAX_MODULE_CHARS:
            yield manifest.make_member(manifest.resolve_path(name), name)


def read_scalafmt_conf(manifest: Manifest) -> Iterator[Fact]:
    """Read the version of scalafmt, which sbt runs."""
    version = find_first(_SCALAFMT, iter_code_lines(manifest.text))
    yield manifest.make_technology("scalafmt", "tool", version)
    if manifest.find_beside("build.sbt"):
        yield from manifest.make_commands(lint="sbt scalafmtCheckAll", format="sbt scalafmtAll")
