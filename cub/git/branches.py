"""Read branches, and the commits on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cub.git.process import run_git
from cub.git.worktree import read_head


def read_branch(toplevel: Path) -> str:
    """Return the name of the branch that is checked out; "" where HEAD is detached."""
    return read_head(toplevel).branch.removeprefix("refs/heads/")


def list_commits_ahead(toplevel: Path, name: str) -> list[str]:
    """List the commits that a merge of a branch would bring, the oldest first: short id, subject.

    Raises CubError if git fails.
    """
    words = ("log", "--reverse", "--no-show-signature", "--format=%h %s")
    log = run_git(toplevel, *words, f"HEAD..refs/heads/{name}", "--")
    return log.decode("utf-8", "replace").splitlines()


def read_commit_titles(toplevel: Path, commits: Sequence[str]) -> list[tuple[str, str]]:
    """Return the short id and the subject of each commit. Raises CubError if git fails."""
    words = ("log", "--no-walk=unsorted", "--no-show-signature", "--format=%h %s")
    log = run_git(toplevel, *words, *commits, "--").decode("utf-8", "replace")
    pairs = (line.partition(" ") for line in log.removesuffix("\n").split("\n"))
    return [(short, subject) for short, _, subject in pairs]
