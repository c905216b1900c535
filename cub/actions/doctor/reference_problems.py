"""Find imports that no agent can resolve, and referenced files that a clone lacks."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from cub.actions.doctor.findings import Finding
from cub.actions.project_state import ProjectState
from cub.actions.project_texts import open_agent_files
from cub.agent_profiles.claude import CLAUDE_LOCAL_FILE
from cub.edit.document import Document
from cub.edit.file_imports import IMPORT, PUNCTUATION, find_imports, is_import_path
from cub.edit.sections import find_section_or_none
from cub.errors import CubError
from cub.git.worktree import find_toplevel, list_ignored_paths
from cub.project.agent_reading import find_agent_reading, list_loaded_files

_LINK = re.compile(r"\]\(<?([^\s()<>#?]+)[^\s()]*\)|^ {0,3}\[[^\]]+\]:\s*<?([^\s<>#?]+)")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_IMPORTING_AGENTS = ("claude", "gemini")


class _Reference(NamedTuple):
    """Hold a path as a file names it, relative to the root, and its place."""

    path: str
    text: str
    file: str
    line: int


def find_reference_problems(state: ProjectState, home: Path | None) -> Iterator[Finding]:
    """Yield broken imports, then imported and linked files that git ignores."""
    texts = {path: _read_lines(state, path) for path in _list_read_files(state, home)}
    imports = [one for path, lines in texts.items() for one in _list_imports(path, lines)]
    found = [finding for one in imports for finding in _check_import(state, one)]
    yield from found
    links = [one for path, lines in texts.items() for one in _list_links(path, lines)]
    broken = {(finding.path, finding.line) for finding in found}
    whole = [one for one in imports if (one.file, one.line) not in broken]
    yield from _find_ignored_files(state, [*whole, *links])


def _list_read_files(state: ProjectState, home: Path | None) -> list[str]:
    """Return the instruction files of the project, and those that an agent imports."""
    project = state.project
    own = [path for path, file in state.files.items() if file.exists]
    environ = {"HOME": home.as_posix()} if home else {}
    files = open_agent_files(project, environ)
    loaded = [
        files.shorten(file.path)
        for agent in _IMPORTING_AGENTS
        for file in list_loaded_files(find_agent_reading(agent), files)
        if files.is_below(file.path, files.root)
    ]
    return list(dict.fromkeys((*own, *loaded)))


def _read_lines(state: ProjectState, path: str) -> list[str]:
    """Return the lines of a file; empty ones for those of a managed section."""
    try:
        data = state.tree.read(path) or b""
    except CubError:
        return []
    document = Document(data, path)
    lines = document.text.split("\n")
    if section := find_section_or_none(document):
        lines[section.start : section.end] = [""] * (section.end - section.start)
    return lines


def _list_imports(path: str, lines: list[str]) -> Iterator[_Reference]:
    known = find_imports("\n".join(lines))
    for number, line in enumerate(lines, 1) if known else ():
        for text in IMPORT.findall(line):
            if posixpath.normpath(text) in known and is_import_path(text):
                yield _Reference(_resolve(path, text), text, path, number)


def _resolve(path: str, text: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), text))


def _list_links(path: str, lines: Iterable[str]) -> Iterator[_Reference]:
    for number, line in enumerate(lines, 1):
        for inline, definition in _LINK.findall(line):
            text = inline or definition
            if not _SCHEME.match(text):
                yield _Reference(_resolve(path, text), text, path, number)


def _check_import(state: ProjectState, reference: _Reference) -> Iterator[Finding]:
    """Yield why an import can't be resolved in every checkout."""
    text, path = reference.text, reference.path
    if path.startswith(("/", "~", "../")) or path == "..":
        if reference.file != CLAUDE_LOCAL_FILE:
            message = f"the import @{text} is outside the project: other checkouts lack the file"
            fix = "copy the file into the project, and import the copy"
            yield Finding("D410", message, reference.file, reference.line, fix)
    elif not _exists(state, path):
        bare = text.rstrip(PUNCTUATION)
        message = f"the import @{text} names a file that does not exist"
        fix = f"create {path}, or remove the import"
        if bare != text and _exists(state, _resolve(reference.file, bare)):
            message = f"the import @{text} includes the `{text[len(bare) :]}` after the file name"
            fix = f"put a space after @{bare}"
        yield Finding("D409", message, reference.file, reference.line, fix)


def _exists(state: ProjectState, path: str) -> bool:
    try:
        folder, name = posixpath.split(path)
        return name in state.tree.list_names(folder)
    except CubError:
        return False


def _find_ignored_files(state: ProjectState, references: Iterable[_Reference]) -> Iterator[Finding]:
    """Yield the references to files that git ignores, and that other checkouts lack."""
    root = state.project.root
    inside = [
        one for one in references
        if not one.path.startswith(("/", "~", "..", ".cub/")) and "\0" not in one.path
        and one.file != CLAUDE_LOCAL_FILE
    ]  # fmt: skip
    top = find_toplevel(root)
    if not (top and inside):
        return
    names = {one.path: (root / one.path).relative_to(top).as_posix() for one in inside}
    ignored = list_ignored_paths(top, dict.fromkeys(names.values()))
    for one in inside:
        if names[one.path] in ignored:
            message = f"git ignores {one.path}, which this line references: other checkouts lack it"
            fix = f"remove {one.path} from .gitignore and commit it, or remove the reference"
            yield Finding("D414", message, one.file, one.line, fix)
