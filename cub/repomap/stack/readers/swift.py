"""Read the files of Swift: Package.swift and CocoaPods."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cub.repomap.stack.facts import EntryPoint, Fact
from cub.repomap.stack.formats import iter_code_lines, strip_comments
from cub.repomap.stack.manifest import Manifest

_TOOLS = re.compile(r"//[ \t]*+swift-tools-version[ \t]*+:[ \t]*+([\d.]++)")
_NAME = re.compile(r'\bPackage\(\s*+name:[ \t]*+"([^"\n]++)"')
# The start of a target or a package, and the path that may belong to it.
_TARGET = re.compile(r'\.(\w{1,30})\(\s*+(?:name:\s*+"([^"\n]++)")?|\bpath:[ \t]*+"([^"\n]++)"')
_DEPENDENCY = re.compile(
    r'\.package\(\s*+(?:name:[ \t]*+"[^"\n]*+",\s*+)?url:\s*+"([^"\n]++)"'
    r'(?:,\s*+(?:from:|exact:|\.upToNextM\w{4}\(from:|\.exact\()[ \t]*+"([^"\n]++)")?'
)
_PLATFORM = re.compile(r"""platform[ \t]++:(\w++)(?:,[ \t]*+["']([\d.]++)["'])?""")
_PLATFORMS = {"ios": "iOS", "macos": "macOS", "osx": "macOS", "tvos": "tvOS", "watchos": "watchOS"}


class _Target(NamedTuple):
    kind: str
    name: str
    path: str


def read_package_swift(manifest: Manifest) -> Iterator[Fact]:
    """Read a package of Swift's package manager."""
    tools = _TOOLS.match(manifest.text.lstrip())
    text = strip_comments(manifest.text, "//")
    name = _NAME.search(text)
    if not name:
        raise ValueError("this names no package")
    targets = _parse_targets(text)
    dependencies = [
        (match[1].rstrip("/").rpartition("/")[2].removesuffix(".git"), match[2] or "")
        for match in _DEPENDENCY.finditer(text)
    ]
    yield manifest.make_technology("Swift", "language", tools[1] if tools else "")
    yield from manifest.find_known("swift", dependencies)
    if any(target.kind == "testTarget" for target in targets):
        yield manifest.make_command("test", "swift test")
    programs = list(_list_programs(targets, manifest))
    if len(programs) == 1:
        yield manifest.make_command("run", "swift run")
    yield from programs
    yield manifest.make_package(name[1])


def _parse_targets(text: str) -> list[_Target]:
    """Return the targets in order; what is in their lists of dependencies has no path."""
    targets: list[_Target] = []
    for kind, name, path in _TARGET.findall(text):
        if kind.lower().endswith("target") or kind == "package":
            targets.append(_Target(kind, name, ""))
        elif path and targets:
            targets[-1] = targets[-1]._replace(path=path)
    return [target for target in targets if target.name and target.kind != "package"]


def _list_programs(targets: list[_Target], manifest: Manifest) -> Iterator[EntryPoint]:
    """Yield the executables with their main file, if it has one of the usual names."""
    for kind, name, path in targets:
        folder = path or f"Sources/{name}"
        names = ("main.swift", f"{name}.swift", "entrypoint.swift", "App.swift", f"{name}App.swift")
        if kind == "executableTarget" and not folder.startswith(("Example", "Benchmark")):
            file = manifest.find_beside(*(f"{folder}/{usual_name}" for usual_name in names))
            yield manifest.make_entry_point(name, manifest.resolve_path(file or folder))


def read_podfile(manifest: Manifest) -> Iterator[Fact]:
    """Read the platforms of CocoaPods."""
    for platform in filter(None, map(_PLATFORM.match, iter_code_lines(manifest.text))):
        name, version = platform.groups("")
        yield manifest.make_technology(_PLATFORMS.get(name, ""), "runtime", version)
