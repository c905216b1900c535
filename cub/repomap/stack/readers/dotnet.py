""".NET: project files, solutions, global.json and the properties for all projects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cub.repomap.stack.facts import (
    EntryPoint,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    Technology,
)
from cub.repomap.stack.formats import (
    get_text_at,
    get_xml_text,
    iter_xml_children,
    parse_json,
    parse_xml,
)
from cub.repomap.stack.known_packages import find_known_technologies
from cub.repomap.stack.manifest_paths import match_siblings, resolve_manifest_path

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_LANGUAGES = {"csproj": "C#", "fsproj": "F#", "vbproj": "Visual Basic"}
_PROJECTS = tuple(f"*.{ending}" for ending in _LANGUAGES)
_SOLUTIONS = ("*.sln", "*.slnx")
_IN_SOLUTION = re.compile(r'Project\("[^"\n]*+"\)[ \t]*+=[ \t]*+"([^"\n]*+)",[ \t]*+"([^"\n]*+)"')


def _project(manifest: Manifest) -> ManifestFacts:
    root, source = _root(manifest), manifest.path
    name, _, ending = source.rpartition("/")[2].rpartition(".")
    sdk = root.get("Sdk", "").partition("/")[0]
    version = "".join(re.findall(r"^\d[\d.]*$", _property(root, "LangVersion")))  # or "latest"
    runs = _runs(root, sdk)
    command = ProjectCommand("run", "dotnet run", source, manifest.folder)
    return ManifestFacts(
        technologies=(
            Technology(_LANGUAGES[ending], "language", version, source),
            *_frameworks(root, source),
            *find_known_technologies("nuget", [(sdk, ""), *_packages(root)], source),
        ),
        commands=(
            *_commands(manifest),
            *([command] if runs else []),
        ),
        entry_points=(EntryPoint(name, _start(manifest), source),) if runs else (),
        packages=(ProjectPackage(manifest.folder, name, _property(root, "Description"), source),),
    )


def _root(manifest: Manifest) -> Element:
    root = parse_xml(manifest.text)
    if root.tag != "Project":
        raise ValueError("this is no project of MSBuild's")
    return root


def _property(root: Element, name: str) -> str:
    """The first value of a property that is not made of others."""
    found = (get_xml_text(each) for each in iter_xml_children(root, "PropertyGroup", name))
    return next((text for text in found if text and "$(" not in text), "")


def _frameworks(root: Element, source: str) -> Iterator[Technology]:
    wanted = _property(root, "TargetFrameworks") or _property(root, "TargetFramework")
    wanted = wanted or _property(root, "TargetFrameworkVersion")
    parts = [re.sub(r"^net(?=\d+\.\d)", "", part.strip()) for part in wanted.split(";")]
    if version := ", ".join(filter(None, parts)):
        yield Technology(".NET", "runtime", version, source)


def _packages(root: Element) -> Iterator[tuple[str, str]]:
    for kind in ("FrameworkReference", "PackageReference", "PackageVersion"):
        for each in iter_xml_children(root, "ItemGroup", kind):
            version = each.get("Version") or get_xml_text(each, "Version")
            yield each.get("Include", ""), "" if "$(" in version else version


def _runs(root: Element, sdk: str) -> bool:
    kind = _property(root, "OutputType").lower()
    tests = _property(root, "IsTestProject").lower() == "true" or any(
        name.lower() == "microsoft.net.test.sdk" for name, _ in _packages(root)
    )
    web = sdk in ("Microsoft.NET.Sdk.Web", "Microsoft.NET.Sdk.Worker") and kind != "library"
    return (web or kind in ("exe", "winexe")) and not tests


def _start(manifest: Manifest) -> str:
    """The file with the main program, where it has its usual name."""
    return (
        resolve_manifest_path(manifest, "".join(match_siblings(manifest, "Program.?s")[:1]))
        or manifest.path
    )


def _commands(manifest: Manifest) -> tuple[ProjectCommand, ...]:
    """What builds all there is; of several solutions in a folder, one has to be named."""
    source, folder = manifest.path, manifest.folder
    solutions = match_siblings(manifest, *_SOLUTIONS)
    name = source.rpartition("/")[2]
    which = f" {name}" if len(solutions) > 1 else ""
    if " " in which.strip() or (solutions and name != solutions[0]):
        return ()
    return (
        ProjectCommand("build", f"dotnet build{which}", source, folder),
        ProjectCommand("test", f"dotnet test{which}", source, folder),
        ProjectCommand("lint", f"dotnet format{which} --verify-no-changes", source, folder),
        ProjectCommand("format", f"dotnet format{which}", source, folder),
    )


def _solution(manifest: Manifest) -> ManifestFacts:
    """Projects are known by their own files; of the solution, what builds all of them."""
    text = manifest.text
    paths = [found[2] for found in _IN_SOLUTION.finditer(text)]
    if manifest.path.endswith(".slnx"):
        paths = [each.get("Path", "") for each in parse_xml(text).iter("Project")]
    elif "Microsoft Visual Studio Solution File" not in text:
        raise ValueError("this is no solution of Visual Studio's")
    folders = {
        resolve_manifest_path(manifest, path).rpartition("/")[0] for path in paths if "." in path
    }
    return ManifestFacts(
        commands=_commands(manifest),
        packages=tuple(
            ProjectPackage(folder, "", "", manifest.path) for folder in sorted(folders) if folder
        ),
    )


def _sdk(manifest: Manifest) -> ManifestFacts:
    version = get_text_at(parse_json(manifest.text), "sdk", "version")
    return ManifestFacts(
        technologies=(Technology(".NET SDK", "tool", version, manifest.path),) if version else ()
    )


def _properties(manifest: Manifest) -> ManifestFacts:
    """What all projects below have in common; the versions of packages may stand apart."""
    root = _root(manifest)
    packages = list(_packages(root))
    return ManifestFacts(
        technologies=(
            *_frameworks(root, manifest.path),
            *find_known_technologies("nuget", packages, manifest.path),
        )
    )


READERS: tuple[ManifestReader, ...] = (
    ManifestReader(_SOLUTIONS, _solution),
    ManifestReader(_PROJECTS, _project),
    ManifestReader(("global.json",), _sdk),
    ManifestReader(("Directory.Build.props", "Directory.Packages.props"), _properties),
)
