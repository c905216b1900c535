"""Read the files of Go: go.mod, main packages and Mage."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.command_purposes import iter_named_targets
from cub.repomap.stack.facts import EntryPoint, Fact, ProjectCommand
from cub.repomap.stack.formats import iter_code_lines
from cub.repomap.stack.manifest import Manifest

_DIRECTIVE = re.compile(r"(module|go|require)\b[ \t]*+(.*)")
_MAJOR = re.compile(r"(?:/v\d+|\.v\d+)$")
_TARGET = re.compile(r"func ([A-Z]\w*+)\((?:\w++ context\.Context)?\)")


def read_go_mod(manifest: Manifest) -> Iterator[Fact]:
    """Read a module and its main packages."""
    directives = _parse_directives(manifest.text)
    module = next(map(_unquote, directives.get("module", [])), "")
    if not module:
        return  # an empty file keeps `./...` out of a folder
    yield manifest.make_technology(
        "Go", "language", next(map(_unquote, directives.get("go", [])), "")
    )
    yield from manifest.find_known("go", _iter_required(directives))
    programs = list(_list_programs(manifest, module))
    yield from programs
    yield from _list_commands(manifest, programs)
    yield manifest.make_package(module)


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


def _list_commands(manifest: Manifest, programs: list[EntryPoint]) -> Iterator[ProjectCommand]:
    yield from manifest.make_commands(
        build="go build ./...", test="go test ./...", lint="go vet ./...", format="go fmt ./..."
    )
    if len(programs) == 1 and " " not in programs[0].target:
        path = programs[0].target.removeprefix(f"{manifest.folder}/" if manifest.folder else "")
        folder = path.rpartition("/")[0]
        yield manifest.make_command("run", f"go run ./{folder}".rstrip("/"))


def read_magefile(manifest: Manifest) -> Iterator[Fact]:
    """Read Mage's targets, which are the exported functions."""
    targets = filter(None, map(_TARGET.match, iter_code_lines(manifest.text, "//")))
    for purpose, name in iter_named_targets(target[1] for target in targets):
        yield manifest.make_command(purpose, f"mage {name[0].lower()}{name[1:]}", "target")
