"""What a change between two commits does to the files that cub shares with people: cub's part and
theirs apart, cub's part verified, and what executes marked.

The changes of a review to what runs, or tells an agent what to run.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cub.actions.managed_files import CONSTITUTION, CURSOR_RULE, MANAGED_FILES, MAP_FILE
from cub.actions.review.revision_pair import RevisionPair, describe_mode_change, diff_versions
from cub.actions.review.section_verdict import (
    SectionReview,
    SectionSide,
    review_constitution,
    review_managed_file,
    review_section,
)
from cub.edit.document import Document
from cub.edit.plan import EditKind, PlanWarning
from cub.edit.section_writer import remove_section
from cub.edit.sections import find_section, get_bytes_outside
from cub.errors import CubError
from cub.git import (
    CommitRange,
    CommitTree,
    EntryChange,
    ObjectReader,
    TreeEntry,
    iter_changed_entries,
)
from cub.project.config import CONFIG_FILE
from cub.project.executable_config import classify_executable_path, list_config_commands
from cub.project.targets import find_target
from cub.prompt.templates import TemplateSet, load_shipped_templates

_WHOLE = {file.path: file for file in (*MANAGED_FILES, MAP_FILE, CURSOR_RULE)}
_TEXTS = (CONFIG_FILE, CONSTITUTION)  # what sections say depends on them
_NAMES = (*_WHOLE, *_TEXTS)


@dataclass(frozen=True, slots=True)
class FileReview:
    """One file: what happened to it as a whole, to cub's part, and to the person's own text.

    `own_diff` is a unified diff of the text without cub's part; its line numbers count that text.
    `mode` has git's words for a change of the file's mode, such as a link in place of a file.
    """

    path: str
    kind: EditKind
    section: SectionReview | None = None
    own_diff: tuple[str, ...] = ()
    mode: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """The whole answer of `cub diff REV`."""

    commit_range: CommitRange
    files: tuple[FileReview, ...]
    executable_changes: tuple[ExecutableChange, ...]
    warnings: tuple[PlanWarning, ...] = ()

    @property
    def has_hand_edits(self) -> bool:
        """Whether a section was touched by hand."""
        return any(file.section and file.section.needs_attention for file in self.files)


def review_range(
    objects: ObjectReader,
    commit_range: CommitRange,
    *,
    root: Path,
    prefix: str = "",
    templates: TemplateSet | None = None,
) -> Review:
    """Compare two commits of the project that lies at `prefix` in the repository.

    Only objects of git are read. Raises CubError where some are missing, or where a section has
    changed in a project whose new configuration can't be used.
    """
    old, new = (
        CommitTree(objects, commit, prefix) for commit in (commit_range.base, commit_range.head)
    )
    commits = RevisionPair(root, old, new, templates or load_shipped_templates())
    files: list[FileReview] = []
    executed = list(list_changed_commands(commits, CONFIG_FILE))
    for path, change in iter_changed_entries(objects, old.find_entry(""), new.find_entry("")):
        if find_target(path) or path.endswith(_NAMES) or path in commits.linked_paths:
            files += _file(path, commits, change)
        executed += find_executable_changes(path, commits, change)
    return Review(commit_range, tuple(files), tuple(executed))


def _file(path: str, commits: RevisionPair, change: EntryChange) -> Iterator[FileReview]:
    home = commits.find_project_folder(path, change)
    local = posixpath.relpath(path, home or ".")
    kind: EditKind = (
        "create" if change.old is None else "delete" if change.new is None else "update"
    )
    before, after = commits.read_entries(change)
    if local in _WHOLE:
        wanted = partial(commits.find_file_spec, path, home)
        whole = review_managed_file(_WHOLE[local], path, before, after, commits.templates, wanted)
        own = () if whole else diff_versions(path, before, after)
        yield FileReview(path, kind, whole, own, describe_mode_change(change))
    elif local in _TEXTS:
        text = None
        if local == CONSTITUTION:
            text = review_constitution(path, before, after, commits.templates)
        own = () if text else diff_versions(path, before, after)
        yield FileReview(path, kind, text, own, describe_mode_change(change))
    elif find_target(path) or path in commits.linked_paths:
        old, was = _parse_side(path, change.old, before)
        new, now = _parse_side(path, change.new, after)
        need = partial(commits.find_section_spec, path, home)
        section = review_section(path, was, now, commits.templates, need)
        own = diff_versions(path, _user_text(old, was, now), _user_text(new, now, was))
        yield FileReview(path, kind, section, own, describe_mode_change(change))


def _parse_side(
    path: str, entry: TreeEntry | None, data: bytes | None
) -> tuple[Document | None, SectionSide]:
    """A side's document and what there is of a section; a fault of its markers is a value.

    Links, and files of an encoding that has no ASCII markers, have no section.
    """
    if entry is None or data is None:
        return None, SectionSide()
    if entry.is_reference:
        return Document(data, path), SectionSide()
    try:
        document = Document.parse(data, path)
    except CubError:
        return Document(data, path), SectionSide()
    try:
        return document, SectionSide(find_section(document))
    except CubError as error:
        return document, SectionSide(fault=error)


def _user_text(document: Document | None, found: SectionSide, beside: SectionSide) -> bytes:
    """The person's text on one side of a change; `beside` is what the other side has.

    Where only one side has a section, its separator goes with it, as `cub remove` has it.
    """
    if document is None:
        return b""
    if found.section is None:
        return document.data
    if beside.section is None:
        return remove_section(document, found.section, top=True)
    return get_bytes_outside(document, found.section)


@dataclass(frozen=True, slots=True)
class ExecutableChange:
    """A change to something that runs: a key of config.yaml, or a file."""

    kind: str
    path: str
    diff: tuple[str, ...]


def list_changed_commands(commits: RevisionPair, path: str) -> Iterator[ExecutableChange]:
    """What a configuration has run, key by key; the whole change where it can't be read."""
    before, after = commits.read_files(path)
    try:
        old, new = (list_config_commands(data, path) for data in (before, after))
    except CubError as error:
        if before != after:
            yield ExecutableChange(
                "command", path, (str(error), *diff_versions(path, before, after))
            )
        return
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            lines = [f"-{key}: {old[key]}"] if key in old else []
            lines += [f"+{key}: {new[key]}"] if key in new else []
            yield ExecutableChange("command", path, tuple(lines))


def find_executable_changes(
    path: str, commits: RevisionPair, change: EntryChange
) -> Iterator[ExecutableChange]:
    """The change of one file, where it is one that counts; the root's configuration is apart."""
    if path.endswith(f"/{CONFIG_FILE}"):
        yield from list_changed_commands(commits, path)
        return
    kind = classify_executable_path(path)
    if not kind and any(entry and entry.is_reference for entry in change):
        kind = classify_executable_path(f"{path}/")
    if kind:
        lines = (*describe_mode_change(change), *diff_versions(path, *commits.read_entries(change)))
        yield ExecutableChange(kind, path, lines or ("an empty file",))
