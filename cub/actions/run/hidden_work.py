"""Find work that a commit will lack, because the attempt made git ignore it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cub.actions.run.attempt_state import Attempt
from cub.git.process import join_nul, split_nul
from cub.git.tool_artifacts import (
    TRANSIENT_PATTERNS,
    is_often_written,
    is_rebuildable,
    matches_any,
)
from cub.text import join_first

_RULE_FILE = ".gitignore"


def describe_ignored_files(ignored_paths: Sequence[str]) -> Iterator[str]:
    """Say which files the commit lacks, as git ignores them."""
    if new := list(_iter_work(ignored_paths)):
        yield f"{join_first(new)}: new, and ignored by git, so not part of the commit"


def find_hidden_work(attempt: Attempt) -> str:
    """Return the first new file that no commit will have through the attempt's doing; or "".

    That is a file that git ignores by a rule of the attempt's, or a repository of its own in the
    midst of the project.
    """
    state = attempt.state
    if state is None:
        return ""
    if state.repositories:
        return state.repositories[0]
    rules = [one for one in attempt.changes if one.path.rpartition("/")[2] == _RULE_FILE]
    names = [path for path in _iter_work(state.ignored_paths) if not _is_dot_file(path)]
    if not rules or not names:
        return ""
    place = attempt.place
    place.check_out(attempt.base.tree)  # with the rules of before
    words = ("check-ignore", "-z", "--no-index", "--stdin")
    ignored = set(split_nul(place.checks.query(*words, stdin=join_nul(names))))
    return next((path for path in names if path not in ignored), "")


def _is_dot_file(path: str) -> bool:
    return path.rstrip("/").rpartition("/")[2].startswith(".")


def _iter_work(ignored_paths: Sequence[str]) -> Iterator[str]:
    """Yield the ignored paths, except those that tools write."""
    for path in ignored_paths:
        *folders, name = path.rstrip("/").split("/")
        is_left_by_tool = matches_any(name, TRANSIENT_PATTERNS) or is_often_written(path)
        if not is_left_by_tool and not any(map(is_rebuildable, (*folders, name))):
            yield path
