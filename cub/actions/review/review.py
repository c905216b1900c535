"""Review what a change between two commits does to the files that cub shares with people.

cub's part is verified, the users' text is shown as a diff, and changed commands are listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cub.actions.managed_files import CONSTITUTION, CURSOR_RULE, MANAGED_FILES, MAP_FILE
from cub.actions.review.revision_pair import ChangedFile, RevisionPair, diff_versions
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
from cub.git.commit_tree import CommitRange, CommitTree, iter_changed_entries
from cub.git.objects import ObjectReader, TreeEntry
from cub.project.config import CONFIG_FILE
from cub.project.executable_config import classify_executable_path, list_config_commands
from cub.project.targets import find_target
from cub.prompt.templates import TemplateSet, load_shipped_templates

_MANAGED_FILES = {file.path: file for file in (*MANAGED_FILES, MAP_FILE, CURSOR_RULE)}
_FILE_NAMES = (*_MANAGED_FILES, CONFIG_FILE, CONSTITUTION)


@dataclass(frozen=True, slots=True)
class FileReview:
    """Describe one file: what happened to it as a whole, to cub's part, and to the user's text.

    `own_diff` is a unified diff of the text without cub's part; its line numbers count that text.
    `mode` has git's words for a change of the file's mode, such as a link instead of a file.
    """

    path: str
    kind: EditKind
    section: SectionReview | None = None
    own_diff: tuple[str, ...] = ()
    mode: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """Hold the whole answer of `cub diff REV`."""

    commit_range: CommitRange
    files: tuple[FileReview, ...]
    executable_changes: tuple[ExecutableChange, ...]
    warnings: tuple[PlanWarning, ...] = ()

    @property
    def has_hand_edits(self) -> bool:
        """Tell whether a section was edited manually."""
        return any(file.section and file.section.needs_attention for file in self.files)


def review_range(
    objects: ObjectReader,
    commit_range: CommitRange,
    *,
    root: Path,
    prefix: str = "",
    templates: TemplateSet | None = None,
) -> Review:
    """Compare two commits of the project at `prefix` in the repository, by git's objects only.

    Raises CubError if objects are missing, or if a new configuration can't be used.
    """
    old, new = (
        CommitTree(objects, commit, prefix) for commit in (commit_range.base, commit_range.head)
    )
    commits = RevisionPair(root, old, new, templates or load_shipped_templates())
    files: list[FileReview] = []
    executable_changes = list(list_changed_commands(commits, CONFIG_FILE))
    for path, change in iter_changed_entries(objects, old.find_entry(""), new.find_entry("")):
        file = ChangedFile(commits, path, change)
        if find_target(path) or path.endswith(_FILE_NAMES) or path in commits.linked_paths:
            files += _review_file(file)
        executable_changes += find_executable_changes(file)
    return Review(commit_range, tuple(files), tuple(executable_changes))


def _review_file(file: ChangedFile) -> Iterator[FileReview]:
    path, change, (before, after) = file.path, file.change, file.versions
    review: SectionReview | None = None
    if managed := _MANAGED_FILES.get(file.local_path):
        review = review_managed_file(managed, file)
    elif file.local_path == CONSTITUTION:
        review = review_constitution(file)
    elif file.local_path != CONFIG_FILE:
        if not find_target(path) and path not in file.commits.linked_paths:
            return
        old, new = _parse_side(path, change.old, before), _parse_side(path, change.new, after)
        review = review_section(file, old, new)
        before, after = _extract_user_text(old, new), _extract_user_text(new, old)
    own_diff = () if review and review.whole else diff_versions(path, before, after)
    kind: EditKind = "create" if not change.old else "update" if change.new else "delete"
    yield FileReview(path, kind, review, own_diff, file.mode_change)


def _parse_side(path: str, entry: TreeEntry | None, data: bytes | None) -> SectionSide:
    """Return what one side has of a section; links, large and UTF-16 files have none."""
    if entry is None or data is None:
        return SectionSide()
    document = Document(data, path)
    if entry.is_reference:
        return SectionSide(document=document)
    try:
        Document.parse(data, path)
    except CubError:
        return SectionSide(document=document)
    try:
        return SectionSide(find_section(document), document=document)
    except CubError as error:
        return SectionSide(fault=error, document=document)


def _extract_user_text(side: SectionSide, other_side: SectionSide) -> bytes:
    """Return one side's own text; if only this side has a section, its separator goes too."""
    if side.document is None:
        return b""
    if side.section is None:
        return side.document.data
    if other_side.section is None:
        return remove_section(side.document, side.section, top=True)
    return get_bytes_outside(side.document, side.section)


@dataclass(frozen=True, slots=True)
class ExecutableChange:
    """Describe a change to something that runs: a key of config.yaml, or a file."""

    kind: str
    path: str
    diff: tuple[str, ...]


def list_changed_commands(commits: RevisionPair, path: str) -> Iterator[ExecutableChange]:
    """Yield the commands that a configuration changes, or its whole change if it can't be read."""
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


def find_executable_changes(file: ChangedFile) -> Iterator[ExecutableChange]:
    """Yield the change of one file if it runs something; the root's configuration is separate."""
    path = file.path
    if path.endswith(f"/{CONFIG_FILE}"):
        yield from list_changed_commands(file.commits, path)
        return
    kind = classify_executable_path(path)
    if not kind and any(entry and entry.is_reference for entry in file.change):
        kind = classify_executable_path(f"{path}/")
    if kind:
        lines = (*file.mode_change, *file.format_diff())
        yield ExecutableChange(kind, path, lines or ("an empty file",))
