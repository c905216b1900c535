"""Find work that checks may see and a commit will lack, because the attempt made git ignore it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from cub.actions.run.git_workspace import GitWorkspace
from cub.git.process import join_nul, split_nul, try_git
from cub.git.snapshot import FileChange, Snapshot
from cub.git.tool_artifacts import (
    TRANSIENT_PATTERNS,
    is_often_written,
    is_rebuildable,
    matches_any,
)
from cub.git.worktree import list_submodule_paths
from cub.repomap.listing.file_listing import compile_ignore_patterns
from cub.text import join_first

_MAX_RULES = 1 << 20  # bytes of a file with rules
_FIELDS = 4  # of a line of check-ignore: file, line number, rule, path


def describe_ignored_files(after: Snapshot) -> list[str]:
    """Describe files that the commit lacks: those that git ignores now, or ignored before."""
    messages = []
    if after.exposed_paths:
        names = join_first(after.exposed_paths)
        messages.append(f"{names}: ignored by git before the attempt, so not part of the commit")
    if new := list(_iter_work(after)):
        messages.append(f"{join_first(new)}: new, and ignored by git, so not part of the commit")
    return messages


def find_hidden_work(
    workspace: GitWorkspace,
    before: Snapshot,
    after: Snapshot,
    changes: list[FileChange],
    started_at: float,
) -> str:
    """Return the first new file that no commit will have through the attempt's doing; or "".

    That is a file that git ignores by a rule of the attempt's, made since `started_at` (seconds
    since 1970), or a repository of its own in the midst of the project.
    """
    modules = list_submodule_paths(workspace.toplevel)
    for change in changes:
        if change.kind == "A" and change.is_submodule and change.path not in modules:
            return f"{change.path}/"
    nested = [p for p in after.ignored_paths if os.path.lexists(workspace.toplevel / p / ".git")]
    newly_ignored = _iter_newly_ignored(workspace, before, list(_iter_work(after)), started_at)
    return next(chain(nested, newly_ignored), "")


def _iter_work(after: Snapshot) -> Iterator[str]:
    """Yield the newly ignored paths, except those that tools write."""
    for path in after.ignored_paths:
        *folders, name = path.rstrip("/").split("/")
        is_left_by_tool = matches_any(name, TRANSIENT_PATTERNS) or is_often_written(path)
        if not is_left_by_tool and not any(map(is_rebuildable, (*folders, name))):
            yield path


def _iter_newly_ignored(
    workspace: GitWorkspace, before: Snapshot, paths: list[str], started_at: float
) -> Iterator[str]:
    """Yield the paths that the rules of before do not ignore, but for names such as `.env`."""
    visible = [path for path in paths if not path.rstrip("/").rpartition("/")[2].startswith(".")]
    if not visible:
        return
    words = ("check-ignore", "-v", "-z", "--no-index", "--stdin")
    parts = split_nul(try_git(workspace.toplevel, *words, stdin=join_nul(visible)).stdout)
    for source, _, _, path in zip(*[iter(parts)] * _FIELDS, strict=True):
        file = workspace.toplevel / source
        if source.startswith(".git/"):
            continue  # it is what it was before: git's own files are restored
        if file.is_relative_to(workspace.toplevel):
            rules = workspace.read_file_before(before, source)
            folder = source.rpartition("/")[0]
            is_old = _matches_rules(rules, path[len(folder) + 1 if folder else 0 :])
        else:
            is_old = _read_change_time(file) < started_at
        if not is_old:
            yield path


def _matches_rules(rules: bytes, path: str) -> bool:
    lines = rules[:_MAX_RULES].decode("utf-8", "surrogateescape").splitlines()
    return compile_ignore_patterns(lines).match_file(path)


def _read_change_time(file: Path) -> float:
    """Return when a file of the user's own rules was changed; 0.0 if that is not known."""
    try:
        return file.stat().st_ctime
    except OSError:
        return 0.0
