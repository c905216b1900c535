"""Read the files of .NET: projects, solutions and the properties for all projects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cub.repomap.stack.facts import Fact, ProjectCommand, Technology
from cub.repomap.stack.formats import (
    get_xml_text,
    parse_xml,
)
from cub.repomap.stack.manifest import Manifest

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_LANGUAGES = {"csproj": "C#", "fsproj": "F#", "vbproj": "Visual Basic"}
_TEST_SDK = "MSTest.Sdk"
_TEST_PACKAGES = frozenset({"microsoft.net.test.sdk", "tunit", "xunit.v3"})
_SERVICES = ("Microsoft.NET.Sdk.Web", "Microsoft.NET.Sdk.Worker")
_IN_SOLUTION = re.compile(r'Project\("[^"\n]*+"\)[ \t]*+=[ \t]*+"([^"\n]*+)",[ \t]*+"([^"\n]*+)"')


def read_project_file(manifest: Manifest) -> Iterator[Fact]:
    """Read a project of MSBuild."""
    root = _parse_project(manifest)
    name, _, ending = manifest.name.rpartition(".")
    sdk = root.get("Sdk", "").partition("/")[0]
    version = "".join(re.findall(r"^\d[\d.]*$", _get_property(root, "LangVersion")))  # or "latest"
    yield manifest.make_technology(_LANGUAGES[ending], "language", version)
    yield from _list_frameworks(root, manifest)
    yield from manifest.find_known("nuget", [(sdk, ""), *_iter_packages(root)])
    names = {package.lower() for package, _ in _iter_packages(root)}
    is_marked = _get_property(root, "IsTestProject").lower() == "true"
    is_test = is_marked or sdk == _TEST_SDK or not _TEST_PACKAGES.isdisjoint(names)
    yield from _list_commands(manifest, has_tests=is_test)
    kind = _get_property(root, "OutputType").lower()
    is_service = sdk in _SERVICES and kind != "library"
    if not is_test and (is_service or kind in ("exe", "winexe")):
        yield manifest.make_command("run", "dotnet run")
        main_file = "".join(manifest.match_siblings("Program.?s")[:1])
        yield manifest.make_entry_point(name, manifest.resolve_path(main_file) or manifest.path)
    yield manifest.make_package(name, _get_property(root, "Description"))


def _parse_project(manifest: Manifest) -> Element:
    root = parse_xml(manifest.text)
    if root.tag != "Project":
        raise ValueError("not an MSBuild project")
    return root


def _get_property(root: Element, name: str) -> str:
    """Return the first value of a property that is not made of others."""
    values = (get_xml_text(child, ".") for child in root.iterfind(f"PropertyGroup/{name}"))
    return next((value for value in values if value and "$(" not in value), "")


def _list_frameworks(root: Element, manifest: Manifest) -> Iterator[Technology]:
    names = ("TargetFrameworks", "TargetFramework", "TargetFrameworkVersion")
    frameworks = next(filter(None, (_get_property(root, name) for name in names)), "")
    parts = [re.sub(r"^net(?=\d+\.\d)", "", part.strip()) for part in frameworks.split(";")]
    if version := ", ".join(filter(None, parts)):
        yield manifest.make_technology(".NET", "runtime", version)


def _iter_packages(root: Element) -> Iterator[tuple[str, str]]:
    for kind in ("FrameworkReference", "PackageReference", "PackageVersion"):
        for child in root.iterfind(f"ItemGroup/{kind}"):
            version = child.get("Version") or get_xml_text(child, "Version")
            yield child.get("Include", ""), "" if "$(" in version else version


def _list_commands(manifest: Manifest, *, has_tests: bool) -> tuple[ProjectCommand, ...]:
    """Return what builds everything; of several solutions in a folder, one has to be named.

    Without tests, `dotnet test` would succeed and test nothing.
    """
    solutions = manifest.match_siblings("*.sln", "*.slnx")
    argument = f" {manifest.name}" if len(solutions) > 1 else ""
    if " " in argument.strip() or (solutions and manifest.name != solutions[0]):
        return ()
    test = {"test": f"dotnet test{argument}"} if has_tests else {}
    return manifest.make_commands(
        build=f"dotnet build{argument}",
        **test,
        lint=f"dotnet format{argument} --verify-no-changes",
        format=f"dotnet format{argument}",
    )


def read_solution(manifest: Manifest) -> Iterator[Fact]:
    """Read what builds all projects of a solution; their own files tell of them."""
    paths = [project[2] for project in _IN_SOLUTION.finditer(manifest.text)]
    if manifest.path.endswith(".slnx"):
        paths = [child.get("Path", "") for child in parse_xml(manifest.text).iter("Project")]
    elif "Microsoft Visual Studio Solution File" not in manifest.text:
        raise ValueError("not a Visual Studio solution")
    folders = {manifest.resolve_path(path).rpartition("/")[0] for path in paths if "." in path}
    yield from _list_commands(manifest, has_tests=True)
    yield from map(manifest.make_member, filter(None, sorted(folders)))


def read_shared_properties(manifest: Manifest) -> Iterator[Fact]:
    """Read what all projects below have in common, such as the versions of packages."""
    root = _parse_project(manifest)
    yield from _list_frameworks(root, manifest)
    yield from manifest.find_known("nuget", _iter_packages(root))
