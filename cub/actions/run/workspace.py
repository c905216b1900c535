"""A folder without git, as the ground of attempts: changes are seen, and can't be taken back."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from cub.files.read_files import read_prefix
from cub.git.commit import BeforeCommit
from cub.git.snapshot import FileChange
from cub.processes.command import TimeLimits


class CommitResult(NamedTuple):
    """What became of an accepted attempt's files: the commit that holds them, or why none does."""

    head: str = ""
    failure: str = ""


class PrivateFilesReport(NamedTuple):
    """What was put back of the person's: `files` that git does not know; what there is to tell."""

    files: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()


class Workspace(Protocol):
    """Where a client works. What `take_snapshot` gives is the ground's own; `.tree` names it."""

    @property
    def folder(self) -> Path:
        """Where clients and checks are started."""

    @property
    def toplevel(self) -> Path:
        """The top of the checkout, or the folder itself."""

    def take_snapshot(self, base: Any = None) -> Any:
        """How the files are now; after an attempt, `base` is how they were before it."""

    def list_changes(self, before: Any, after: Any) -> list[FileChange]:
        """What is different."""

    def read_file(self, path: str, max_bytes: int) -> bytes:
        """Read a changed file as it is now; b"" for one that is larger, or no regular file."""

    def read_file_before(self, before: Any, path: str) -> bytes:
        """Read a changed file as it was; where nobody kept that, what is there now."""

    def summarize_change(self, before: Any, after: Any) -> dict[str, Any]:
        """What the ledger is told of a change."""

    def write_patch(self, before: Any, after: Any, target: Path) -> bool:
        """Keep a change as a file; whether there was one to keep."""

    def back_up(self, before: Any, max_ignored_bytes: int) -> list[str]:
        """Have a copy of what git keeps, and of up to `max_ignored_bytes` bytes of the files that
        it ignores, out of an attempt's reach; what there is to tell.
        """

    def repair_repository(self, rescue_folder: Path) -> str:
        """Put back what is missing of it; what was wrong, "" if nothing was. What stands in its
        place is moved `rescue_folder`.
        """

    def read_git_settings(self) -> Any:
        """What decides how git behaves."""

    def restore_git_settings(self, before: Any, rescue_folder: Path) -> list[str]:
        """Put back what decides that; the names of what differed, which is kept in
        `rescue_folder`.
        """

    def remove_stale_locks(self, since: float) -> None:
        """Take away what a process that was ended left locked; none of them is there any more."""

    def restore_private_files(
        self,
        before: Any,
        rescue_folder: Path,
        excluded_paths: Collection[str] = (),
        *,
        restores_modes: bool = False,
    ) -> PrivateFilesReport:
        """Put back what is the person's alone, whatever comes of the attempt; what it had made of
        that is kept in `rescue_folder`. Files that are `excluded_paths` are the work of other
        attempts. `restores_modes` are the permissions of all files, which take time to look at.
        """

    def delete_new_files(self, before: Any) -> list[str]:
        """Remove the files that an attempt has made, for a full disk; what there is to tell."""

    def reset_index(self) -> None:
        """Have nothing staged, and nothing else in git's index that an attempt wrote."""

    def classify_head_move(self, before: Any, after: Any) -> str:
        """Whether somebody committed meanwhile: "", "forward", or "away" from where it began."""

    def adopt_commits(self, before: Any) -> list[str]:
        """Take over commits that were made meanwhile, on the branch of before, but for those that
        hold what is the person's alone; what there is to tell about it.
        """

    def list_uncommittable(self, before: Any, after: Any) -> list[str]:
        """Changes that no commit of this ground can hold: those inside of submodules."""

    def restore_files(
        self, before: Any, current: Any, excluded_paths: Collection[str] = ()
    ) -> list[str]:
        """Put the files back, but for those `excluded_paths`; what there is to tell about it."""

    def find_head(self, before: Any, after: Any) -> str:
        """The commit that is checked out when an attempt has been taken over; "" for none."""

    def commit(
        self,
        before: Any,
        after: Any,
        message: str,
        limits: TimeLimits,
        before_commit: BeforeCommit | None = None,
    ) -> CommitResult:
        """Commit what an attempt changed, as it was in `after`, and what the stores say by now.

        `before_commit` is told the parent and the tree of the commit before it is made.
        """

    def commit_stores(self, message: str, limits: TimeLimits) -> CommitResult:
        """Commit the stores alone."""


def read_small_file(root: Path, path: str, most: int) -> bytes:
    """Read a regular file; b"" for one of more than `most` bytes, and for what can't be read."""
    try:
        data = read_prefix(os.fspath(root), path, most + 1)
    except (OSError, ValueError):
        return b""
    return data if len(data) <= most else b""


_SKIPPED = frozenset(
    (".cub", "node_modules", "__pycache__", ".venv", "venv", ".pytest_cache", ".mypy_cache",
     ".ruff_cache", ".hypothesis", ".tox")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FolderSnapshot:
    """Files with their size and the time of their last change; there is no content of them."""

    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    head: str = ""
    conflicts: tuple[str, ...] = ()
    oversized_files: tuple[str, ...] = ()

    @property
    def tree(self) -> str:
        """A name for all of it."""
        return blake2b(repr(sorted(self.files.items())).encode(), digest_size=20).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Nothing that anything could be put back from."""
        return {}


@dataclass(frozen=True, slots=True)
class FolderWorkspace:
    """See `cub.actions.run.workspace.Workspace`."""

    folder: Path

    @property
    def toplevel(self) -> Path:
        """See `Workspace`."""
        return self.folder

    def take_snapshot(self, base: FolderSnapshot | None = None) -> FolderSnapshot:  # noqa: ARG002
        """See `Workspace`."""
        return FolderSnapshot(dict(_files(self.folder)))

    def list_changes(self, before: FolderSnapshot, after: FolderSnapshot) -> list[FileChange]:
        """See `Workspace`."""
        then, now = before.files, after.files
        kinds: dict[str, Literal["A", "M", "D"]]
        kinds = {path: "A" if path not in then else "M" for path in now}
        kinds |= {path: "D" for path in then if path not in now}
        different = sorted(path for path in kinds if then.get(path) != now.get(path))
        return [FileChange(path, kinds[path], False, False) for path in different]

    def read_file(self, path: str, max_bytes: int) -> bytes:
        """See `Workspace`."""
        return read_small_file(self.folder, path, max_bytes)

    def read_file_before(self, before: FolderSnapshot, path: str) -> bytes:
        """See `Workspace`."""
        del before
        return self.read_file(path, 1 << 20)

    def summarize_change(self, before: FolderSnapshot, after: FolderSnapshot) -> dict[str, Any]:
        """See `Workspace`."""
        return {"files": [change.path for change in self.list_changes(before, after)]}

    def write_patch(self, before: FolderSnapshot, after: FolderSnapshot, target: Path) -> bool:  # noqa: ARG002
        """See `Workspace`: there is nothing to compare with."""
        return False

    def back_up(self, before: FolderSnapshot, max_ignored_bytes: int) -> list[str]:  # noqa: ARG002
        """See `Workspace`."""
        return []

    def repair_repository(self, rescue_folder: Path) -> str:  # noqa: ARG002
        """See `Workspace`."""
        return ""

    def read_git_settings(self) -> None:
        """See `Workspace`."""

    def restore_git_settings(self, before: None, rescue_folder: Path) -> list[str]:  # noqa: ARG002
        """See `Workspace`."""
        return []

    def remove_stale_locks(self, since: float) -> None:
        """See `Workspace`."""

    def restore_private_files(
        self,
        before: FolderSnapshot,
        rescue_folder: Path,
        excluded_paths: Collection[str] = (),
        *,
        restores_modes: bool = False,
    ) -> PrivateFilesReport:
        """See `Workspace`: nobody knows what the files were."""
        del before, rescue_folder, excluded_paths, restores_modes
        return PrivateFilesReport()

    def delete_new_files(self, before: FolderSnapshot) -> list[str]:
        """See `Workspace`."""
        del before
        return []

    def reset_index(self) -> None:
        """See `Workspace`."""

    def classify_head_move(self, before: FolderSnapshot, after: FolderSnapshot) -> str:  # noqa: ARG002
        """See `Workspace`."""
        return ""

    def adopt_commits(self, before: FolderSnapshot) -> list[str]:  # noqa: ARG002
        """See `Workspace`."""
        return []

    def list_uncommittable(self, before: FolderSnapshot, after: FolderSnapshot) -> list[str]:  # noqa: ARG002
        """See `Workspace`."""
        return []

    def restore_files(
        self, before: FolderSnapshot, current: FolderSnapshot, excluded_paths: Collection[str] = ()
    ) -> list[str]:
        """See `Workspace`."""
        del excluded_paths
        left = len(self.list_changes(before, current))
        what = "1 changed file stays" if left == 1 else f"{left} changed files stay"
        return [f"{what} as the attempt left it: there is no git here"] if left else []

    def find_head(self, before: FolderSnapshot, after: FolderSnapshot) -> str:  # noqa: ARG002
        """See `Workspace`."""
        return ""

    def commit(
        self,
        before: FolderSnapshot,
        after: FolderSnapshot,
        message: str,
        limits: TimeLimits,
        before_commit: BeforeCommit | None = None,
    ) -> CommitResult:
        """See `Workspace`."""
        del before, after, message, limits, before_commit
        return CommitResult()

    def commit_stores(self, message: str, limits: TimeLimits) -> CommitResult:
        """See `Workspace`."""
        del message, limits
        return CommitResult()


def _files(root: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    for folder, inner, names in os.walk(root):
        below = Path(folder).relative_to(root).as_posix()
        inner[:] = [name for name in inner if name not in _SKIPPED]
        for name in names:
            try:
                status = os.lstat(f"{folder}/{name}")
            except OSError:
                continue
            yield f"{below}/{name}".removeprefix("./"), (status.st_size, status.st_mtime_ns)
