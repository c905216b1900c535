"""What a change between two commits does to the files that cub shares with people: cub's part and
theirs apart, cub's part verified, and what executes marked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cub.actions.own_files import CURSOR_RULE, OWN_FILES
from cub.actions.verdict import SectionReview, section_review, whole_review
from cub.actions.view import View, view
from cub.edit.document import Document, lf_text
from cub.edit.plan import Kind, PlanWarning, text_diff
from cub.edit.sections import Section, find
from cub.edit.writing import remove
from cub.errors import CubError
from cub.git import Change, Endpoints, Objects, Revision, changed
from cub.project.config import CONFIG
from cub.project.executes import commands, kind_of
from cub.project.project import Project
from cub.project.targets import target_of
from cub.prompt.templates import TemplateSet, shipped

_WHOLE = {file.path: file for file in (*OWN_FILES, CURSOR_RULE)}


@dataclass(frozen=True, slots=True)
class FileReview:
    """One file: what happened to it as a whole, to cub's part, and to the person's own text.

    `own` is a unified diff of the text without cub's part; its line numbers count that text.
    """

    path: str
    kind: Kind
    section: SectionReview | None = None
    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Executed:
    """A change to something that runs: a key of config.yaml, or a file."""

    kind: str
    path: str
    diff: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """The whole answer of `cub diff REV`."""

    range: Endpoints
    files: tuple[FileReview, ...]
    executed: tuple[Executed, ...]
    warnings: tuple[PlanWarning, ...] = ()

    @property
    def touched(self) -> bool:
        """Whether a section was touched by hand."""
        return any(file.section and file.section.touched for file in self.files)


@dataclass(frozen=True)
class _Sides:
    """Both commits of a review."""

    root: Path
    old: Revision
    new: Revision
    templates: TemplateSet

    @cached_property
    def seen(self) -> View:
        """The project of the new commit, looked at only where a section has changed."""
        project = Project.of(self.root, self.new, committed=True)
        return view(project, templates=self.templates)

    def data(self, change: Change) -> tuple[bytes | None, bytes | None]:
        """The bytes before and after; a link counts as a file that holds its target."""
        entries = (change.old, change.new)
        return tuple(e and self.new.objects.blob(e.oid) for e in entries)  # type: ignore[return-value]


def review(
    objects: Objects,
    ends: Endpoints,
    *,
    root: Path,
    prefix: str = "",
    templates: TemplateSet | None = None,
) -> Review:
    """Compare two commits of the project that lies at `prefix` in the repository.

    Only objects of git are read. Raises CubError where some are missing, or where the
    configuration of the new commit can't be used.
    """
    old, new = (Revision(objects, commit, prefix) for commit in (ends.base, ends.head))
    sides = _Sides(root, old, new, templates or shipped())
    files: list[FileReview] = []
    executed: list[Executed] = []
    for path, change in changed(objects, old.entry(""), new.entry("")):
        if any(entry and entry.is_submodule for entry in change):
            continue
        if target_of(path) or path in _WHOLE:
            files.append(_file(path, sides, *sides.data(change)))
        executed += _executed(path, sides, change)
    return Review(ends, tuple(files), tuple(executed))


def _file(path: str, sides: _Sides, before: bytes | None, after: bytes | None) -> FileReview:
    kind: Kind = "create" if before is None else "delete" if after is None else "update"
    if path in _WHOLE:
        whole = whole_review(_WHOLE[path], sides.seen, before, after)
        return FileReview(path, kind, whole, () if whole else _diff(path, before, after))
    old, was, _ = _parsed(path, before)
    new, now, fault = _parsed(path, after)
    section = section_review(path, was, now, fault, lambda: sides.seen)
    theirs = [_own(document, part) for document, part in ((old, was), (new, now))]
    return FileReview(path, kind, section, _diff(path, *theirs))


def _parsed(
    path: str, data: bytes | None
) -> tuple[Document | None, Section | None, CubError | None]:
    """A side's document and section; a fault of its markers is a value."""
    if data is None:
        return None, None, None
    try:
        document = Document.parse(data, path)
        return document, find(document), None
    except CubError as error:
        return Document(data, path), None, error


def _own(document: Document | None, section: Section | None) -> bytes:
    """The person's text, as `cub remove` would give it back."""
    if document is None:
        return b""
    return remove(document, section, top=True) if section else document.data


def _diff(path: str, before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    if before == after:
        return ()
    old, new = (lf_text(side or b"") for side in (before, after))
    if old == new:
        return ("only line ends have changed",)
    return tuple(text_diff(old, new, path, "before", "after"))


def _executed(path: str, sides: _Sides, change: Change) -> Iterator[Executed]:
    if path == CONFIG:
        old, new = (commands(data) for data in sides.data(change))
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key):
                lines = [f"-{key}: {old[key]}"] if key in old else []
                lines += [f"+{key}: {new[key]}"] if key in new else []
                yield Executed("command", CONFIG, tuple(lines))
    elif kind := kind_of(path):
        yield Executed(kind, path, _diff(path, *sides.data(change)))
