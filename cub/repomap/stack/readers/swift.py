"""Swift: Package.swift, CocoaPods, and the files of Swift's tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cub.repomap.stack.facts import (
    EntryPoint,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    Technology,
)
from cub.repomap.stack.formats import iter_code_lines, strip_comments
from cub.repomap.stack.known_packages import find_known_technologies
from cub.repomap.stack.manifest_paths import find_beside, resolve_manifest_path

_TOOLS = re.compile(r"//[ \t]*+swift-tools-version[ \t]*+:[ \t]*+([\d.]++)")
_NAME = re.compile(r'\bPackage\(\s*+name:[ \t]*+"([^"\n]++)"')
# What begins a target or a package, and the path that may belong to it.
_TARGET = re.compile(r'\.(\w{1,30})\(\s*+(?:name:\s*+"([^"\n]++)")?|\bpath:[ \t]*+"([^"\n]++)"')
_NEED = re.compile(
    r'\.package\(\s*+(?:name:[ \t]*+"[^"\n]*+",\s*+)?url:\s*+"([^"\n]++)"'
    r'(?:,\s*+(?:from:|exact:|\.upToNextM\w{4}\(from:|\.exact\()[ \t]*+"([^"\n]++)")?'
)
_POD = re.compile(r"""pod[ \t]++["']([\w./+-]++)["'](?:,[ \t]*+["']([^"'\n]++)["'])?""")
_PLATFORM = re.compile(r"""platform[ \t]++:(\w++)(?:,[ \t]*+["']([\d.]++)["'])?""")
_PLATFORMS = {"ios": "iOS", "macos": "macOS", "osx": "macOS", "tvos": "tvOS", "watchos": "watchOS"}


class _Target(NamedTuple):
    kind: str
    name: str
    path: str


def _package(manifest: Manifest) -> ManifestFacts:
    tools = _TOOLS.match(manifest.text.lstrip())
    text = strip_comments(manifest.text, "//")
    named = _NAME.search(text)
    if not named:
        raise ValueError("this names no package")
    targets = _targets(text)
    needs = [(_repository(found[1]), found[2] or "") for found in _NEED.finditer(text)]
    programs = tuple(_programs(targets, manifest))
    return ManifestFacts(
        technologies=(
            Technology("Swift", "language", tools[1] if tools else "", manifest.path),
            Technology("Swift Package Manager", "manager", "", manifest.path),
            *find_known_technologies("swift", needs, manifest.path),
        ),
        commands=tuple(_commands(targets, programs, manifest)),
        entry_points=programs,
        packages=(ProjectPackage(manifest.folder, named[1], "", manifest.path),),
    )


def _repository(url: str) -> str:
    return url.rstrip("/").rpartition("/")[2].removesuffix(".git")


def _targets(text: str) -> list[_Target]:
    """The targets in order; what stands in their lists of dependencies has no path."""
    found: list[_Target] = []
    for kind, name, path in _TARGET.findall(text):
        if kind.lower().endswith("target") or kind == "package":
            found.append(_Target(kind, name, ""))
        elif path and found:
            found[-1] = found[-1]._replace(path=path)
    return [one for one in found if one.name and one.kind != "package"]


def _programs(targets: list[_Target], manifest: Manifest) -> Iterator[EntryPoint]:
    """The executables with their main file, where it has one of the usual names."""
    for kind, name, path in targets:
        folder = path or f"Sources/{name}"
        usual = ("main.swift", f"{name}.swift", "entrypoint.swift", "App.swift", f"{name}App.swift")
        if kind == "executableTarget" and not folder.startswith(("Example", "Benchmark")):
            file = find_beside(manifest, *(f"{folder}/{each}" for each in usual))
            yield EntryPoint(name, resolve_manifest_path(manifest, file or folder), manifest.path)


def _commands(
    targets: list[_Target], programs: tuple[EntryPoint, ...], manifest: Manifest
) -> Iterator[ProjectCommand]:
    source, folder = manifest.path, manifest.folder
    yield ProjectCommand("build", "swift build", source, folder)
    if any(kind == "testTarget" for kind, *_ in targets):
        yield ProjectCommand("test", "swift test", source, folder)
    if len(programs) == 1:
        yield ProjectCommand("run", "swift run", source, folder)


def _pods(manifest: Manifest) -> ManifestFacts:
    lines = list(iter_code_lines(manifest.text))
    pods = [found.groups("") for line in lines if (found := _POD.match(line))]
    platforms = [found.groups("") for line in lines if (found := _PLATFORM.match(line))]
    return ManifestFacts(
        technologies=(
            *(
                Technology(_PLATFORMS[name], "runtime", version, manifest.path)
                for name, version in platforms
                if name in _PLATFORMS
            ),
            Technology("CocoaPods", "manager", "", manifest.path),
            *find_known_technologies(
                "swift",
                ((name.partition("/")[0], version) for name, version in pods),
                manifest.path,
            ),
        ),
        commands=(ProjectCommand("install", "pod install", manifest.path, manifest.folder),),
    )


def _swiftlint(manifest: Manifest) -> ManifestFacts:
    return ManifestFacts(
        technologies=(Technology("SwiftLint", "tool", "", manifest.path),),
        commands=(ProjectCommand("lint", "swiftlint", manifest.path, manifest.folder),),
    )


def _swiftformat(manifest: Manifest) -> ManifestFacts:
    return ManifestFacts(
        technologies=(Technology("SwiftFormat", "tool", "", manifest.path),),
        commands=(ProjectCommand("format", "swiftformat .", manifest.path, manifest.folder),),
    )


def _swift_format(manifest: Manifest) -> ManifestFacts:
    """The tool that comes with Swift, and not the older SwiftFormat."""
    return ManifestFacts(
        technologies=(Technology("swift-format", "tool", "", manifest.path),),
        commands=(
            ProjectCommand("format", "swift format -i -r .", manifest.path, manifest.folder),
        ),
    )


READERS: tuple[ManifestReader, ...] = (
    ManifestReader(("Package.swift",), _package),
    ManifestReader(("Podfile",), _pods),
    ManifestReader((".swiftlint.yml",), _swiftlint),
    ManifestReader((".swiftformat",), _swiftformat),
    ManifestReader((".swift-format",), _swift_format),
)
