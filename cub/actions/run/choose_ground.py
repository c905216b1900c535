"""Where a run works: a clean checkout, a work tree of its own, or a folder without git."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cub import git
from cub.actions.own_files import local_files
from cub.actions.run.folders import INDEX, RunFolder
from cub.actions.run.ground import STORES, GitGround, Ground, git_ground
from cub.actions.run.plain_ground import PlainGround
from cub.actions.run.settings import RunSettings, branch_name
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.git import branches

_MANY = 5  # files that are named


def ground_of(
    stores: Stores, settings: RunSettings, folder: RunFolder, environ: Mapping[str, str]
) -> Ground:
    """The ground that the settings ask for; CubError if a run can't begin there.

    `environ` is what git's hooks get.
    """
    root = stores.project.root
    index, largest = folder.state / INDEX, settings.max_file_size
    here = git_ground(root, index, environ, stores=_committed(stores), largest=largest)
    if here is None:
        if settings.asked.worktree or settings.branch:
            what = "--worktree" if settings.asked.worktree else "a branch"
            raise CubError(f"{what} needs git, and there is no repository here")
        return PlainGround(root)
    if not settings.asked.worktree:
        _require_clean(here)
    if settings.commit and (who := here.checkout.identity(environ)):
        hint = 'git config user.name "Your Name"; git config user.email you@example.com'
        raise CubError(f"git does not know who commits: {who.splitlines()[-1]}", hint=hint)
    words = {"run": folder.id, "date": folder.id[:8], "epic": settings.asked.epic}
    branch = branch_name(settings.branch, words) if settings.branch else ""
    if settings.asked.worktree:
        return _apart(here, folder, branch or f"cub/{folder.id}", environ, largest)
    now = here.snapshot()  # what can't be looked at is refused
    if branch:
        branches.switch(here.checkout.top, branch)
    elif settings.commit and not now.branch:
        raise CubError(
            "HEAD is detached: what is committed here would be on no branch",
            hint="`git switch -c NAME`, or `cub run --branch NAME`",
        )
    return here


def _committed(stores: Stores) -> list[str]:
    """The files of tasks and ledger that commits of the project take along, as far as git lets."""
    local = local_files(stores.project.config)
    here = stores.root == stores.project.root
    return [name for name in STORES if here and name not in local]


def _apart(
    here: GitGround, folder: RunFolder, branch: str, environ: Mapping[str, str], largest: int
) -> GitGround:
    """A work tree of the run's own, on a branch of its own."""
    top = here.checkout.top
    if not branches.head(top):
        hint = "commit something first: `git commit --allow-empty -m start`"
        raise CubError("a work tree needs a commit to begin with", hint=hint)
    place = folder.root / ".cub" / "worktrees" / folder.id
    branches.add_worktree(top, place, branch)
    inner = place / here.folder.relative_to(top).as_posix()
    inner.mkdir(parents=True, exist_ok=True)
    ground = git_ground(inner, folder.state / INDEX, environ, largest=largest)
    assert ground is not None
    return ground


def remove_worktree(root: Path, place: Path) -> None:
    """Take a work tree away, if all that is in it is committed."""
    if top := git.top_level(root):
        branches.remove_worktree(top, place)


def _require_clean(ground: GitGround) -> None:
    own = f"{ground.folder.relative_to(ground.checkout.top).as_posix()}/.cub/".removeprefix("./")
    if dirty := [path for path in ground.checkout.dirt() if not path.startswith(own)]:
        more = [f"and {len(dirty) - _MANY} more"] if len(dirty) > _MANY else []
        raise CubError(
            "there are changes that are not committed",
            hint="commit or stash them, or work beside them with `cub run --worktree`",
            details=[*dirty[:_MANY], *more],
        )
