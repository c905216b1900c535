"""Go: go.mod, go.work, main packages, golangci-lint and Mage."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.command_purposes import detect_name_purpose, rank_target_name
from cub.repomap.stack.facts import (
    EntryPoint,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    Technology,
)
from cub.repomap.stack.formats import iter_code_lines
from cub.repomap.stack.known_packages import find_known_technologies
from cub.repomap.stack.manifest_paths import find_beside, list_below, resolve_manifest_path

_DIRECTIVE = re.compile(r"(module|go|require)\b[ \t]*+(.*)")
_MAJOR = re.compile(r"(?:/v\d+|\.v\d+)$")
_TARGET = re.compile(r"func ([A-Z]\w*+)\((?:\w++ context\.Context)?\)")


def _module(manifest: Manifest) -> ManifestFacts:
    found = _directives(manifest.text)
    names = [_unquoted(rest) for rest in found.get("module", ())]
    if not any(names):  # an empty file keeps `./...` out of a folder
        return ManifestFacts()
    programs = list(_programs(manifest, names[0]))
    return ManifestFacts(
        technologies=(
            *_language(found, manifest.path),
            *find_known_technologies("go", _required(found), manifest.path),
        ),
        commands=tuple(_commands(manifest, programs)),
        entry_points=tuple(programs),
        packages=(ProjectPackage(manifest.folder, names[0], "", manifest.path),),
    )


def _directives(text: str) -> dict[str, list[str]]:
    """What stands behind each directive: in its line, or in the lines of its parentheses."""
    found: dict[str, list[str]] = {}
    inside = ""
    for line in iter_code_lines(text, "//"):
        directive = _DIRECTIVE.match(line)
        if inside and line.startswith(")"):
            inside = ""
        elif inside:
            found.setdefault(inside, []).append(line)
        elif line.endswith("("):
            inside = line[:-1].strip()
        elif directive:
            found.setdefault(directive[1], []).append(directive[2])
    return found


def _language(found: dict[str, list[str]], source: str) -> Iterator[Technology]:
    versions = [_unquoted(rest) for rest in found.get("go", ())]
    yield Technology("Go", "language", versions[0] if versions else "", source)


def _required(found: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """The modules that are required directly, without the major version in their paths."""
    for rest in found.get("require", ()):
        words, _, comment = rest.partition("//")
        path, version = [*words.split(), "", ""][:2]
        if path and not comment.strip().startswith("indirect"):
            yield _MAJOR.sub("", path.strip('"')), version


def _unquoted(rest: str) -> str:
    return rest.partition("//")[0].strip().strip('"`')


def _programs(manifest: Manifest, module: str) -> Iterator[EntryPoint]:
    """A main.go in the module's folder, and those in the folders of cmd/, as is the custom."""
    if find_beside(manifest, "main.go"):
        name = _MAJOR.sub("", module).rpartition("/")[2]
        yield EntryPoint(name, resolve_manifest_path(manifest, "main.go"), manifest.path)
    for path in list_below(manifest, "cmd"):
        folder, _, name = path.rpartition("/")
        if name == "main.go" and "/" not in folder:
            target = resolve_manifest_path(manifest, f"cmd/{path}")
            yield EntryPoint(folder or "cmd", target, manifest.path)


def _commands(manifest: Manifest, programs: list[EntryPoint]) -> Iterator[ProjectCommand]:
    source, folder = manifest.path, manifest.folder
    yield ProjectCommand("build", "go build ./...", source, folder)
    yield ProjectCommand("test", "go test ./...", source, folder)
    yield ProjectCommand("lint", "go vet ./...", source, folder)
    yield ProjectCommand("format", "go fmt ./...", source, folder)
    if len(programs) == 1 and " " not in programs[0].target:
        path = programs[0].target.removeprefix(f"{folder}/" if folder else "")
        yield ProjectCommand(
            "run", f"go run ./{path.rpartition('/')[0]}".rstrip("/"), source, folder
        )


def _workspace(manifest: Manifest) -> ManifestFacts:
    """Its modules speak for themselves: `./...` means none of them here."""
    return ManifestFacts(technologies=tuple(_language(_directives(manifest.text), manifest.path)))


def _golangci(manifest: Manifest) -> ManifestFacts:
    return ManifestFacts(
        technologies=(Technology("golangci-lint", "tool", "", manifest.path),),
        commands=(ProjectCommand("lint", "golangci-lint run", manifest.path, manifest.folder),),
    )


def _mage(manifest: Manifest) -> ManifestFacts:
    """Mage's targets are the exported functions."""
    lines = iter_code_lines(manifest.text, "//")
    found = {match[1] for line in lines if (match := _TARGET.match(line))}
    names = sorted(found, key=lambda name: (rank_target_name(name), name))
    path = manifest.path
    return ManifestFacts(
        technologies=(Technology("Mage", "build", "", path),),
        commands=tuple(
            ProjectCommand(
                purpose, f"mage {name[0].lower()}{name[1:]}", path, manifest.folder, "target"
            )
            for name in names
            if (purpose := detect_name_purpose(name))
        ),
    )


READERS: tuple[ManifestReader, ...] = (
    ManifestReader(("go.mod",), _module),
    ManifestReader(("go.work",), _workspace),
    ManifestReader(
        (".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"), _golangci
    ),
    ManifestReader(("magefile.go",), _mage),
)
