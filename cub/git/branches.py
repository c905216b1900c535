"""Branches and linked work trees, as a run needs them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from cub.errors import CubError
from cub.git.calling import ask, call
from cub.git.place import git_folder, head_of


def head(top: Path) -> str:
    """The commit that is checked out; "" before the first one."""
    return head_of(top).commit


def branch(top: Path) -> str:
    """The name of the branch that is checked out; "" where HEAD is detached."""
    return head_of(top).branch.removeprefix("refs/heads/")


def commits_ahead(top: Path, name: str) -> list[str]:
    """List what a merge of a branch would bring, the oldest commit first: short id and subject.

    Raises CubError if git fails.
    """
    words = ("log", "--reverse", "--no-show-signature", "--format=%h %s")
    said = call(top, *words, f"HEAD..refs/heads/{name}", "--")
    return said.decode("utf-8", "replace").splitlines()


def is_clean(top: Path) -> bool:
    """Whether nothing in a work tree is left to commit, untracked files included.

    Raises CubError if git fails.
    """
    return not call(top, "status", "--porcelain", "--untracked-files=normal")


def switch(top: Path, name: str) -> str:
    """Switch to a branch, made where HEAD is if there is none; returns its full name.

    Raises CubError for a name that git refuses, and if git can't switch.
    """
    full = _full(top, name)
    words = ("switch", "--quiet", "--no-guess")
    call(top, *words, *([name] if _exists(top, full) else ["-c", name]), fetching=True)
    return full


def add_worktree(top: Path, folder: Path, branch: str) -> None:
    """Check a branch out into a new folder; it is made where HEAD is if there is none."""
    full = _full(top, branch)
    words = ("worktree", "add", "--quiet")
    where = [folder.as_posix(), branch] if _exists(top, full) else ["-b", branch, folder.as_posix()]
    call(top, *words, *where, fetching=True)


def remove_worktree(top: Path, folder: Path) -> bool:
    """Remove a linked work tree; not, and False, if it holds what is not committed."""
    return ask(top, "worktree", "remove", folder.as_posix()).code == 0


def _full(top: Path, name: str) -> str:
    full = f"refs/heads/{name}"
    if name.startswith("-") or name == "HEAD" or ask(top, "check-ref-format", full).code:
        raise CubError("git does not take this as the name of a branch", where=name)
    return full


def _exists(top: Path, full: str) -> bool:
    return ask(top, "show-ref", "--verify", "--quiet", full).code == 0


def moved_at(top: Path) -> float:
    """When HEAD was last led to another commit or branch, in seconds since 1970; 0 if unknown."""
    for name in ("logs/HEAD", "HEAD"):
        with suppress(OSError):
            return (git_folder(top) / name).stat().st_mtime
    return 0.0


def last_commit_is(top: Path, parent: str, message: str) -> bool:
    """Whether the commit that is checked out came right after `parent`, with this message."""
    answer = ask(top, "log", "-1", "--format=%P%n%B", "HEAD")
    parents, _, text = answer.out.decode("utf-8", "replace").partition("\n")
    return answer.code == 0 and parents == parent and text.strip() == message.strip()
