"""What a command is about to change: the one value through which user files are changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher, unified_diff
from typing import Literal, TypeVar

from cub.edit.document import split_lines
from cub.errors import InternalError

Kind = Literal["create", "update", "delete"]
Line = TypeVar("Line", bytes, str)


@dataclass(frozen=True, slots=True)
class Edit:
    """One file's change. `path` is relative to the root, with `/`; None stands for no file.

    `notes` are changelog lines of a version step; `local` marks cub's own bookkeeping, which
    no one else sees and `--check` does not count. With `link`, a symbolic link itself goes, and
    not what it leads to; `before` is then its text.
    """

    path: str
    before: bytes | None
    after: bytes | None
    reason: str = ""
    notes: tuple[str, ...] = ()
    local: bool = False
    link: bool = False

    @property
    def kind(self) -> Kind:
        """What happens to the file as a whole."""
        if self.before is None:
            return "create"
        return "delete" if self.after is None else "update"

    @property
    def counts(self) -> tuple[int, int]:
        """Lines added and removed."""
        old, new = split_lines(self.before or b""), split_lines(self.after or b"")
        skip, tail = _common_ends(old, new)
        matches = SequenceMatcher(None, old[skip : len(old) - tail], new[skip : len(new) - tail])
        same = skip + tail + sum(block.size for block in matches.get_matching_blocks())
        return len(new) - same, len(old) - same

    def diff(self) -> Iterator[str]:
        """A unified diff that `git apply` reads, line by line, without line ends."""
        if self.link:
            yield f"diff --git a/{self.path} b/{self.path}"
            yield "deleted file mode 120000"
        yield f"--- {'/dev/null' if self.before is None else f'a/{self.path}'}"
        yield f"+++ {'/dev/null' if self.after is None else f'b/{self.path}'}"
        yield from _hunks(self.before or b"", self.after or b"")


@dataclass(frozen=True, slots=True)
class PlanWarning:
    """Something a person should know; it changes neither the plan nor the exit code."""

    message: str
    path: str = ""
    line: int | None = None
    hint: str = ""

    @property
    def where(self) -> str:
        """`file` or `file:line`, as in error messages."""
        return self.path if self.line is None else f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Plan:
    """Edits to be made together or not at all, and warnings to be shown with them."""

    edits: tuple[Edit, ...] = ()
    warnings: tuple[PlanWarning, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.edits

    @property
    def shared(self) -> tuple[Edit, ...]:
        """The edits that other people and machines get to see."""
        return tuple(edit for edit in self.edits if not edit.local)

    def diff(self) -> Iterator[str]:
        """The diffs of all shared edits, line by line."""
        for edit in self.shared:
            yield from edit.diff()

    def followed_by(self, then: Plan, *, both_reasons: bool = False) -> Plan:
        """One plan of two, the second of which was made for what the first one writes.

        An edit of both counts from the first one's `before`, and gives the first one's reason, or
        `both_reasons`.
        """
        if len({edit.path for edit in then.edits}) < len(then.edits):
            raise InternalError("two edits of one file in one plan")
        edits = {edit.path: edit for edit in self.edits}
        for edit in then.edits:
            first = edits.get(edit.path)
            edits[edit.path] = _joined(first, edit, both_reasons) if first else edit
        kept = (edit for edit in edits.values() if edit.before != edit.after)
        return Plan(tuple(kept), (*self.warnings, *then.warnings))


def _joined(first: Edit, then: Edit, both_reasons: bool) -> Edit:
    reasons = dict.fromkeys((first.reason, then.reason) if both_reasons else (first.reason,))
    return replace(
        first,
        after=then.after,
        reason="; ".join(reasons),
        notes=tuple(dict.fromkeys((*first.notes, *then.notes))),
        local=first.local and then.local,
    )


def text_diff(before: str, after: str, path: str, before_name: str, after_name: str) -> list[str]:
    """A short unified diff of two texts with names of their own, for messages."""
    lines = _hunks(*(text.encode("utf-8", "surrogateescape") for text in (before, after)))
    return [f"--- {path} ({before_name})", f"+++ {path} ({after_name})", *lines]


def _hunks(before: bytes, after: bytes) -> Iterator[str]:
    """Hunks with three lines of context; common ends are cut off first, so big files are cheap."""
    old, new = _display(before), _display(after)
    skip, tail = (max(0, n - 3) for n in _common_ends(old, new))
    diff = unified_diff(old[skip : len(old) - tail], new[skip : len(new) - tail], lineterm="")
    for line in list(diff)[2:]:
        if line.startswith("@@"):
            yield _shifted(line, skip)
        else:
            yield from line.split("\n")


def _display(data: bytes) -> list[str]:
    """Lines as git cuts them: at LF only."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    return lines if lines[-1] else lines[:-1]


def _common_ends(old: Sequence[Line], new: Sequence[Line]) -> tuple[int, int]:
    """How many lines two versions have in common at the start, and behind that at the end."""
    skip = _common(old, new)
    return skip, _common(old[skip:][::-1], new[skip:][::-1])


def _common(old: Sequence[Line], new: Sequence[Line]) -> int:
    pairs = zip(old, new, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))


def _shifted(header: str, skip: int) -> str:
    """A hunk header whose line numbers count from the start of the file."""
    old, new = header.split()[1:3]

    def moved(span: str) -> str:
        start, comma, length = span[1:].partition(",")
        return f"{span[0]}{int(start) + skip}{comma}{length}"

    return f"@@ {moved(old)} {moved(new)} @@"
