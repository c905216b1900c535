"""What a change between two commits does to the files that cub shares with people: cub's part and
theirs apart, cub's part verified, and what executes marked.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cub.actions.own_files import CONSTITUTION, CURSOR_RULE, MAP_FILE, OWN_FILES
from cub.actions.review.commits import Commits
from cub.actions.review.differences import difference, mode_lines
from cub.actions.review.executed import Executed, changed_commands, executed_by
from cub.actions.review.own_verdict import constitution_review, whole_review
from cub.actions.review.verdict import Found, SectionReview, section_review
from cub.edit.document import Document
from cub.edit.plan import Kind, PlanWarning
from cub.edit.sections import find, without
from cub.edit.writing import remove
from cub.errors import CubError
from cub.git import Change, Endpoints, Entry, Objects, Revision, changed
from cub.project.config import CONFIG
from cub.project.targets import target_of
from cub.prompt.templates import TemplateSet, shipped

_WHOLE = {file.path: file for file in (*OWN_FILES, MAP_FILE, CURSOR_RULE)}
_TEXTS = (CONFIG, CONSTITUTION)  # what sections say depends on them
_NAMES = (*_WHOLE, *_TEXTS)


@dataclass(frozen=True, slots=True)
class FileReview:
    """One file: what happened to it as a whole, to cub's part, and to the person's own text.

    `own` is a unified diff of the text without cub's part; its line numbers count that text.
    `mode` has git's words for a change of the file's mode, such as a link in place of a file.
    """

    path: str
    kind: Kind
    section: SectionReview | None = None
    own: tuple[str, ...] = ()
    mode: tuple[str, ...] = ()


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


def review(
    objects: Objects,
    ends: Endpoints,
    *,
    root: Path,
    prefix: str = "",
    templates: TemplateSet | None = None,
) -> Review:
    """Compare two commits of the project that lies at `prefix` in the repository.

    Only objects of git are read. Raises CubError where some are missing, or where a section has
    changed in a project whose new configuration can't be used.
    """
    old, new = (Revision(objects, commit, prefix) for commit in (ends.base, ends.head))
    commits = Commits(root, old, new, templates or shipped())
    files: list[FileReview] = []
    executed = list(changed_commands(commits, CONFIG))
    for path, change in changed(objects, old.entry(""), new.entry("")):
        if target_of(path) or path.endswith(_NAMES) or path in commits.linked:
            files += _file(path, commits, change)
        executed += executed_by(path, commits, change)
    return Review(ends, tuple(files), tuple(executed))


def _file(path: str, commits: Commits, change: Change) -> Iterator[FileReview]:
    home = commits.home(path, change)
    local = posixpath.relpath(path, home or ".")
    kind: Kind = "create" if change.old is None else "delete" if change.new is None else "update"
    before, after = commits.data(change)
    if local in _WHOLE:
        wanted = partial(commits.wanted, path, home)
        whole = whole_review(_WHOLE[local], path, before, after, commits.templates, wanted)
        own = () if whole else difference(path, before, after)
        yield FileReview(path, kind, whole, own, mode_lines(change))
    elif local in _TEXTS:
        text = None
        if local == CONSTITUTION:
            text = constitution_review(path, before, after, commits.templates)
        own = () if text else difference(path, before, after)
        yield FileReview(path, kind, text, own, mode_lines(change))
    elif target_of(path) or path in commits.linked:
        old, was = _parsed(path, change.old, before)
        new, now = _parsed(path, change.new, after)
        need = partial(commits.need, path, home)
        section = section_review(path, was, now, commits.templates, need)
        own = difference(path, _own(old, was, now), _own(new, now, was))
        yield FileReview(path, kind, section, own, mode_lines(change))


def _parsed(path: str, entry: Entry | None, data: bytes | None) -> tuple[Document | None, Found]:
    """A side's document and what there is of a section; a fault of its markers is a value.

    Links, and files of an encoding that has no ASCII markers, have no section.
    """
    if entry is None or data is None:
        return None, Found()
    if entry.is_elsewhere:
        return Document(data, path), Found()
    try:
        document = Document.parse(data, path)
    except CubError:
        return Document(data, path), Found()
    try:
        return document, Found(find(document))
    except CubError as error:
        return document, Found(fault=error)


def _own(document: Document | None, found: Found, beside: Found) -> bytes:
    """The person's text on one side of a change; `beside` is what the other side has.

    Where only one side has a section, its separator goes with it, as `cub remove` has it.
    """
    if document is None:
        return b""
    if found.section is None:
        return document.data
    if beside.section is None:
        return remove(document, found.section, top=True)
    return without(document, found.section)
