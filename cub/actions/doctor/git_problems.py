"""Find what keeps git from committing the work of a run."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from cub.actions.doctor.findings import Finding
from cub.actions.run.run_options import RunSettings
from cub.edit.section_writer import cut_own_section
from cub.errors import CubError
from cub.git.process import (
    decode_output,
    disable_repository_filters,
    run_git,
    split_nul,
    strip_git_variables,
    try_git,
)
from cub.git.worktree import find_toplevel, read_head
from cub.text import join_first

OLDEST_GIT = (2, 23)  # the first one with `git switch`
_VERSION = re.compile(r"(\d+)\.(\d+)[\d.]*")
_FATAL = "fatal: "
NO_COMMIT = "the repository has no commit yet"
FIRST_COMMIT_FIX = 'git add . && git commit -m "Start"'
IDENTITY_FIX = 'git config user.name "Your Name"; git config user.email you@example.com'


def find_git_problems(
    root: Path, settings: RunSettings, environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield what is wrong with git and the repository around `root` for a run.

    If one of the first three is wrong, the others can't be known.
    """
    toplevel = find_toplevel(root)
    if not shutil.which("git", path=environ.get("PATH", os.defpath)):
        yield Finding("D101", "git is not installed", fix="install git, then run `cub doctor`")
    elif toplevel is None:
        yield Finding("D103", "this directory is not in a git repository", fix="git init")
    elif old := _find_old_version(toplevel):
        wanted = ".".join(map(str, OLDEST_GIT))
        message = f"git {old} is too old: cub needs {wanted} or newer"
        yield Finding("D102", message, fix="install a newer git")
    else:
        yield from _find_head_problems(toplevel, settings, environ)
        yield from _find_uncommitted_changes(toplevel, root)


def _find_old_version(toplevel: Path) -> str:
    """Return git's version if cub can't use it, else ""; "" also if git names none."""
    match = _VERSION.search(decode_output(try_git(toplevel, "version").stdout))
    is_old = match is not None and (int(match[1]), int(match[2])) < OLDEST_GIT
    return match[0] if match and is_old else ""


def _find_head_problems(
    toplevel: Path, settings: RunSettings, environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield what is wrong with the branch that commits would go to, and with their author."""
    head = read_head(toplevel)
    if not head.commit:
        yield Finding("D104", NO_COMMIT, fix=FIRST_COMMIT_FIX)
    if not settings.commits:
        return
    if answer := explain_missing_identity(toplevel, environ):
        message = f"git has no identity for commits: {answer.splitlines()[-1].removeprefix(_FATAL)}"
        yield Finding("D105", message, fix=IDENTITY_FIX)
    if head.commit and not (head.branch or settings.branch_template):
        message = "HEAD is detached: new commits would not be on a branch"
        yield Finding("D106", message, fix="git switch -c NAME")


def _find_uncommitted_changes(toplevel: Path, root: Path) -> Iterator[Finding]:
    """Yield one finding for changed tracked files outside of `.cub/`: attempts don't have these."""
    try:
        no_filters = disable_repository_filters(toplevel)
        paths = list_uncommitted_paths(toplevel, root, no_filters)
    except CubError as error:
        yield Finding.from_error("D107", error)
        return
    if paths:
        message = f"changes are not committed: {join_first(paths)}"
        fix = "commit them, or use `cub run --with-changes`"
        changed = [os.path.relpath(toplevel / path, root) for path in paths]
        yield Finding("D107", message, fix=fix, changed_paths=tuple(changed))


def list_uncommitted_paths(
    toplevel: Path, folder: Path, environ: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """Return the tracked files with changes that no attempt at a project in `folder` has.

    Files in `.cub/` don't count, nor do those that differ in cub's section alone: an attempt has
    these as they are. git gets `environ`.
    """
    inner = folder.relative_to(toplevel).as_posix()
    cub_folder = f"{inner}/.cub/".removeprefix("./")
    words = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=no")
    variables = {"GIT_OPTIONAL_LOCKS": "0", **environ}
    status = run_git(toplevel, *words, "--ignore-submodules=untracked", environ=variables)
    paths = sorted(line[3:] for line in split_nul(status))
    others = (path for path in paths if not path.startswith(cub_folder))
    return [path for path in others if not _differs_by_section(toplevel, path)]


def _differs_by_section(toplevel: Path, path: str) -> bool:
    """Return whether a file is that of HEAD but for cub's section, as after `cub init`."""
    file = toplevel / path
    if not path.endswith(".md") or file.is_symlink() or not file.is_file():
        return False
    answer = try_git(toplevel, "cat-file", "blob", f"HEAD:{path}")
    own = [cut_own_section(data, path) for data in (answer.stdout, file.read_bytes())]
    return answer.exit_code == 0 and None not in own and own[0] == own[1]


def explain_missing_identity(toplevel: Path, environ: Mapping[str, str]) -> str:
    """Return what git says if it does not know who commits; "" if it does."""
    for name in ("GIT_COMMITTER_IDENT", "GIT_AUTHOR_IDENT"):
        result = try_git(toplevel, "var", name, environ=strip_git_variables(environ))
        if result.exit_code:
            return decode_output(result.stderr).strip()
    return ""
