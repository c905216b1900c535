"""Read the files of Go: go.mod, go.work, main packages and Mage."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.command_purposes import detect_name_purpose, rank_target_name
from cub.repomap.stack.facts import EntryPoint, ManifestFacts, ProjectCommand, Technology
from cub.repomap.stack.formats import iter_code_lines
from cub.repomap.stack.known_packages import find_known_technologies
from cub.repomap.stack.manifest import Manifest

_DIRECTIVE = re.compile(r"(module|go|require)\b[ \t]*+(.*)")
_MAJOR = re.compile(r"(?:/v\d+|\.v\d+)$")
_TARGET = re.compile(r"func ([A-Z]\w*+)\((?:\w++ context\.Context)?\)")


def read_go_mod(manifest: Manifest) -> ManifestFacts:
    """Read a module and its main packages."""
    directives = _parse_directives(manifest.text)
    module = "".join(map(_unquote, directives.get("module", [])[:1]))
    if not any(map(_unquote, directives.get("module", []))):
        return ManifestFacts()  # an empty file keeps `./...` out of a folder
    programs = tuple(_list_programs(manifest, module))
    return ManifestFacts(
        (
            _make_language(directives, manifest),
            *find_known_technologies("go", _iter_required(directives), manifest.path),
        ),
        tuple(_list_commands(manifest, programs)),
        programs,
        (manifest.make_package(module),),
    )


def _parse_directives(text: str) -> dict[str, list[str]]:
    """Return what follows each directive: in its line, or in the lines of its parentheses."""
    directives: dict[str, list[str]] = {}
    block = ""
    for line in iter_code_lines(text, "//"):
        directive = _DIRECTIVE.match(line)
        if block and line.startswith(")"):
            block = ""
        elif block:
            directives.setdefault(block, []).append(line)
        elif line.endswith("("):
            block = line[:-1].strip()
        elif directive:
            directives.setdefault(directive[1], []).append(directive[2])
    return directives


def _make_language(directives: dict[str, list[str]], manifest: Manifest) -> Technology:
    versions = map(_unquote, directives.get("go", []))
    return manifest.make_technology("Go", "language", next(versions, ""))


def _iter_required(directives: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Yield the modules that are required directly, without the major version in their paths."""
    for rest in directives.get("require", ()):
        words, _, comment = rest.partition("//")
        path, version = [*words.split(), "", ""][:2]
        if path and not comment.strip().startswith("indirect"):
            yield _MAJOR.sub("", path.strip('"')), version


def _unquote(rest: str) -> str:
    return rest.partition("//")[0].strip().strip('"`')


def _list_programs(manifest: Manifest, module: str) -> Iterator[EntryPoint]:
    """Yield the main.go of the module's folder, and those of the folders in cmd/."""
    if manifest.find_beside("main.go"):
        name = _MAJOR.sub("", module).rpartition("/")[2]
        yield manifest.make_entry_point(name, manifest.resolve_path("main.go"))
    for path in manifest.list_below("cmd"):
        folder, _, name = path.rpartition("/")
        if name == "main.go" and "/" not in folder:
            target = manifest.resolve_path(f"cmd/{path}")
            yield manifest.make_entry_point(folder or "cmd", target)


def _list_commands(
    manifest: Manifest, programs: tuple[EntryPoint, ...]
) -> Iterator[ProjectCommand]:
    yield from manifest.make_commands(
        build="go build ./...", test="go test ./...", lint="go vet ./...", format="go fmt ./..."
    )
    if len(programs) == 1 and " " not in programs[0].target:
        path = programs[0].target.removeprefix(f"{manifest.folder}/" if manifest.folder else "")
        folder = path.rpartition("/")[0]
        yield manifest.make_command("run", f"go run ./{folder}".rstrip("/"))


def read_go_work(manifest: Manifest) -> ManifestFacts:
    """Read the version of a workspace; `./...` means none of its modules here."""
    return ManifestFacts((_make_language(_parse_directives(manifest.text), manifest),))


def read_magefile(manifest: Manifest) -> ManifestFacts:
    """Read Mage's targets, which are the exported functions."""
    lines = iter_code_lines(manifest.text, "//")
    names = {target[1] for line in lines if (target := _TARGET.match(line))}
    return ManifestFacts(
        (manifest.make_technology("Mage", "build"),),
        tuple(
            manifest.make_command(purpose, f"mage {name[0].lower()}{name[1:]}", "target")
            for name in sorted(names, key=lambda name: (rank_target_name(name), name))
            if (purpose := detect_name_purpose(name))
        ),
    )
