"""Read the files of Scala: sbt's build.sbt and project/, Mill's build file, scalafmt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cub.repomap.stack.facts import ManifestFacts, ProjectPackage
from cub.repomap.stack.formats import iter_code_lines, strip_comments
from cub.repomap.stack.known_packages import find_known_technologies, format_version
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
_SBT = re.compile(r"sbt\.version[ \t]*+=[ \t]*+([\w.-]++)")
_SCALAFMT = re.compile(r'version[ \t]*+=[ \t]*+"?([\w.-]++)')
_MAX_MODULE_CHARS = 100


def read_build_sbt(manifest: Manifest) -> ManifestFacts:
    """Read a build of sbt."""
    lines = list(iter_code_lines(strip_comments(manifest.text, "//")))
    is_part = manifest.exists_above("build.sbt")
    return ManifestFacts(
        (
            manifest.make_technology(
                "Scala", "language", format_version(_find_first(_SCALA, lines))
            ),
            manifest.make_technology("sbt", "build"),
            *find_known_technologies("maven", _iter_libraries(_LIBRARY, lines), manifest.path),
        ),
        () if is_part else manifest.make_commands(build="sbt compile", test="sbt test"),
        packages=tuple(_list_packages(lines, manifest)),
    )


def _find_first(pattern: re.Pattern[str], lines: Iterable[str]) -> str:
    """Return the pattern's group in the first line that begins with it, "" for none."""
    return next((match[1] for line in lines if (match := pattern.match(line))), "")


def _iter_libraries(pattern: re.Pattern[str], lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        for library in pattern.finditer(line):
            yield library[1], library[2] or ""


def _list_packages(lines: list[str], manifest: Manifest) -> Iterator[ProjectPackage]:
    """Yield the root by its settings, then the projects that have a folder of their own."""
    if name := _find_first(_NAME, lines):
        yield manifest.make_package(name, _find_first(_DESCRIPTION, lines))
    for project in filter(None, map(_PROJECT.match, lines)):
        folder = manifest.resolve_path(project[2])
        if folder and folder != manifest.folder:
            yield manifest.make_member(folder, project[1])


def read_mill_build(manifest: Manifest) -> ManifestFacts:
    """Read a build of Mill."""
    lines = list(iter_code_lines(strip_comments(manifest.text, "//")))
    mill = "./mill" if manifest.find_beside("mill") else "mill"
    versions = (match[1] for line in lines if (match := _MILL_SCALA.search(line)))
    modules = [match[1] for line in lines if (match := _MILL_MODULE.match(line))]
    return ManifestFacts(
        (
            manifest.make_technology("Scala", "language", format_version(next(versions, ""))),
            manifest.make_technology("Mill", "build"),
            *find_known_technologies("maven", _iter_libraries(_IVY, lines), manifest.path),
        ),
        manifest.make_commands(build=f"{mill} __.compile", test=f"{mill} __.test"),
        packages=tuple(
            manifest.make_member(manifest.resolve_path(name), name)
            for name in modules
            if len(name) <= _MAX_MODULE_CHARS
        ),
    )


def read_sbt_properties(manifest: Manifest) -> ManifestFacts:
    """Read the version of sbt."""
    version = format_version(_find_first(_SBT, iter_code_lines(manifest.text)))
    return ManifestFacts((manifest.make_technology("sbt", "build", version),) if version else ())


def read_scalafmt_conf(manifest: Manifest) -> ManifestFacts:
    """Read the version of scalafmt, which sbt runs."""
    version = format_version(_find_first(_SCALAFMT, iter_code_lines(manifest.text)))
    commands = manifest.make_commands(lint="sbt scalafmtCheckAll", format="sbt scalafmtAll")
    return ManifestFacts(
        (manifest.make_technology("scalafmt", "tool", version),),
        commands if manifest.find_beside("build.sbt") else (),
    )
