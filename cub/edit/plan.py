"""Describe what a command is about to change: user files are changed through a `Plan` only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from cub.edit.document import split_lines
from cub.edit.line_matching import iter_changes
from cub.edit.unified_diff import format_hunks, quote_header_name
from cub.errors import InternalError

EditKind = Literal["create", "update", "delete"]
# What happens to a managed section that was edited manually.
EditedPolicy = Literal["refuse", "move", "replace"]

_NOTHING, _EMPTY = "0" * 7, "e69de29"  # git's names of no file and of one without a byte
_FILE, _PROGRAM, _LINK = "100644", "100755", "120000"  # git's modes


@dataclass(frozen=True, slots=True)
class FileEdit:
    """Describe one file's change. `path` is relative to the root, with `/`; None means no file.

    `changelog` are changelog lines of a version step; `is_local` marks cub's own bookkeeping, which
    no one else sees and `--check` does not count. With `is_link`, a symbolic link itself goes, and
    not its target; `before` is then the link's text. `is_executable` decides on the mode of the
    file; None keeps it.
    """

    path: str
    before: bytes | None
    after: bytes | None
    reason: str = ""
    changelog: tuple[str, ...] = ()
    is_local: bool = False
    is_link: bool = False
    is_executable: bool | None = None

    @property
    def kind(self) -> EditKind:
        """Return what happens to the file as a whole."""
        if self.before is None:
            return "create"
        return "delete" if self.after is None else "update"

    @property
    def changed_line_counts(self) -> tuple[int, int]:
        """Return the numbers of lines added and removed."""
        changes = list(
            iter_changes(split_lines(self.before or b""), split_lines(self.after or b""))
        )
        added = sum(change.new_end - change.new for change in changes)
        return added, sum(change.old_end - change.old for change in changes)

    def format_diff(self) -> Iterator[str]:
        """Yield a unified diff that `git apply` and `patch` read, line by line, without line
        endings.

        What is not UTF-8 is kept as surrogates: encoded with them, it is the file's own bytes.
        """
        old, new = quote_header_name(f"a/{self.path}"), quote_header_name(f"b/{self.path}")
        hunks = list(format_hunks(self.before or b"", self.after or b""))
        if self.is_link or not hunks or self.is_executable is not None:
            yield f"diff --git {old.rstrip()} {new.rstrip()}"
            yield from self._format_modes()
        if not hunks:
            if self.before is None:  # an empty file: no line says that it comes or goes
                yield f"index {_NOTHING}..{_EMPTY}"
            elif self.after is None:
                yield f"index {_EMPTY}..{_NOTHING}"
            return
        yield f"--- {'/dev/null' if self.before is None else old}"
        yield f"+++ {'/dev/null' if self.after is None else new}"
        yield from hunks

    def _format_modes(self) -> Iterator[str]:
        mode = _LINK if self.is_link else _PROGRAM if self.is_executable else _FILE
        if self.kind == "update":
            yield from (f"old mode {_FILE if self.is_executable else _PROGRAM}", f"new mode {mode}")
        else:
            yield f"{'new' if self.before is None else 'deleted'} file mode {mode}"


@dataclass(frozen=True, slots=True)
class PlanWarning:
    """Describe something that a user should know; neither the plan nor the exit code changes."""

    message: str
    path: str = ""
    line: int | None = None
    hint: str = ""

    @property
    def location(self) -> str:
        """Return `file` or `file:line`, as in error messages."""
        return self.path if self.line is None else f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Plan:
    """Hold edits to be made together or not at all, and warnings to be shown with them."""

    edits: tuple[FileEdit, ...] = ()
    warnings: tuple[PlanWarning, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to write."""
        return not self.edits

    @property
    def shared_edits(self) -> tuple[FileEdit, ...]:
        """Return the edits that other people and machines get to see."""
        return tuple(edit for edit in self.edits if not edit.is_local)

    @property
    def contents(self) -> dict[str, bytes | None]:
        """Return the new bytes of each edited file by its path; None for a deletion."""
        return {edit.path: edit.after for edit in self.edits}

    def format_diff(self) -> Iterator[str]:
        """Yield the diffs of all shared edits, line by line."""
        # Empty files go last: a reader takes the names that follow one for further names of it.
        for edit in sorted(self.shared_edits, key=lambda edit: not (edit.before or edit.after)):
            yield from edit.format_diff()

    def append_plan(self, then: Plan, *, both_reasons: bool = False) -> Plan:
        """Return one plan of two, the second of which was made for what the first one writes.

        An edit in both counts from the first one's `before`, and has the first one's reason, or
        with `both_reasons` both.
        """
        if len({edit.path for edit in then.edits}) < len(then.edits):
            raise InternalError("two edits of one file in one plan")
        edits = {edit.path: edit for edit in self.edits}
        for edit in then.edits:
            first = edits.get(edit.path)
            edits[edit.path] = _join_edits(first, edit, both_reasons) if first else edit
        changes = (
            edit
            for edit in edits.values()
            if edit.before != edit.after or edit.is_executable is not None
        )
        return Plan(tuple(changes), (*self.warnings, *then.warnings))


def _join_edits(first: FileEdit, then: FileEdit, both_reasons: bool) -> FileEdit:
    reasons = dict.fromkeys((first.reason, then.reason) if both_reasons else (first.reason,))
    return replace(
        first,
        after=then.after,
        reason="; ".join(reasons),
        changelog=tuple(dict.fromkeys((*first.changelog, *then.changelog))),
        is_local=first.is_local and then.is_local,
        is_executable=first.is_executable if then.is_executable is None else then.is_executable,
    )
