"""What a run leaves to the person: commits on a branch of its own, and tasks that are parked."""

from __future__ import annotations

from shlex import quote
from typing import Any

from cub import git
from cub.actions.run.ground import GitGround
from cub.actions.run.queue import parked
from cub.actions.run.run import Run
from cub.errors import CubError
from cub.git import branches

MOST_NAMED = 10


def describe_branch(run: Run) -> dict[str, Any]:
    """Describe the branch of a work tree of the run's own; {} where it worked in the person's.

    `merge` is what to type where the person stands: it merges into what is checked out there.
    """
    ground, theirs = run.ground, git.top_level(run.opened.project.root)
    if not run.settings.asked.worktree or not isinstance(ground, GitGround) or not theirs:
        return {}
    try:
        name = branches.branch(ground.checkout.top)
        commits = branches.commits_ahead(theirs, name) if name else []
        is_clean = branches.is_clean(ground.checkout.top)
    except CubError:  # a repository that the last attempt broke: the run has said so
        return {}
    if not name:
        return {}
    told = {"name": name, "n": len(commits), "commits": commits[:MOST_NAMED]}
    if commits:
        elsewhere = "" if git.top_level(run.cwd) == theirs else f"-C {quote(str(theirs))} "
        told["merge"] = f"git {elsewhere}merge {quote(name)}"
    if not is_clean:
        told["left"] = str(ground.folder)
    return {"branch": told}


def describe_parked(run: Run) -> dict[str, Any]:
    """Describe the parked tasks that the run might have taken; {} for none."""
    tasks = run.opened.backend.read()
    rows = parked(tasks, run.settings.asked)
    titles = {row.id: str(tasks.record(row.id).get("title") or "") for row in rows[:MOST_NAMED]}
    named = [{"id": key, "title": title} for key, title in titles.items()]
    return {"left_parked": {"n": len(rows), "tasks": named}} if rows else {}
