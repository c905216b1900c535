"""Find what keeps git from committing the work of a run."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from cub import git
from cub.actions.doctor.findings import Finding
from cub.actions.run.run_options import RunSettings
from cub.edit.document import Document
from cub.edit.section_writer import remove_section
from cub.edit.sections import find_section
from cub.errors import CubError
from cub.git.commit import explain_missing_identity
from cub.git.process import decode_output, disable_repository_filters, try_git
from cub.git.worktree import Worktree, read_head
from cub.git.worktree_status import list_dirty_paths
from cub.store.store_paths import STORE_FILES
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
    toplevel = git.find_toplevel(root)
    if not shutil.which("git", path=environ.get("PATH", os.defpath)):
        yield Finding("D101", "git is not installed", fix="install git, then run `cub doctor`")
    elif toplevel is None:
        yield Finding("D103", "this directory is not in a git repository", fix="git init")
    elif old := _find_old_version(toplevel):
        wanted = ".".join(map(str, OLDEST_GIT))
        message = f"git {old} is too old: cub needs {wanted} or newer"
        yield Finding("D102", message, fix="install a newer git")
    else:
        worktree = Worktree(toplevel, Path(os.devnull), STORE_FILES, 1 << 30)
        yield from _find_head_problems(worktree, settings, environ)
        yield from _find_uncommitted_changes(worktree, root, settings)


def _find_old_version(toplevel: Path) -> str:
    """Return git's version if cub can't use it, else ""; "" also if git names none."""
    match = _VERSION.search(decode_output(try_git(toplevel, "version").stdout))
    is_old = match is not None and (int(match[1]), int(match[2])) < OLDEST_GIT
    return match[0] if match and is_old else ""


def _find_head_problems(
    worktree: Worktree, settings: RunSettings, environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield what is wrong with the branch that commits would go to, and with their author."""
    options, head = settings.options, read_head(worktree.toplevel)
    if not head.commit and (settings.commits or options.worktree):
        yield Finding("D104", NO_COMMIT, fix=FIRST_COMMIT_FIX)
    if not settings.commits:
        return
    if answer := explain_missing_identity(worktree, environ):
        message = f"git has no identity for commits: {answer.splitlines()[-1].removeprefix(_FATAL)}"
        yield Finding("D105", message, fix=IDENTITY_FIX)
    if head.commit and not (head.branch or settings.branch_template or options.worktree):
        message = "HEAD is detached: new commits would not be on a branch"
        yield Finding("D106", message, fix="git switch -c NAME")


def _find_uncommitted_changes(
    worktree: Worktree, root: Path, settings: RunSettings
) -> Iterator[Finding]:
    """Yield one finding for changed tracked files outside of `.cub/`; a worktree has none."""
    if settings.options.worktree:
        return
    try:
        no_filters = disable_repository_filters(worktree.toplevel)
        paths = list_uncommitted_paths(worktree, root, no_filters)
    except CubError as error:
        yield Finding.from_error("D107", error)
        return
    if paths:
        message = f"changes are not committed: {join_first(paths)}"
        fix = "commit or stash them, or use `cub run --worktree`"
        changed = [os.path.relpath(worktree.toplevel / path, root) for path in paths]
        yield Finding("D107", message, fix=fix, changed_paths=tuple(changed))


def list_uncommitted_paths(
    worktree: Worktree, folder: Path, environ: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """Return the changed tracked files that keep a run in `folder` from starting.

    Files in `.cub/` don't, nor do those that differ in cub's section alone. git gets `environ`.
    """
    inner = folder.relative_to(worktree.toplevel).as_posix()
    cub_folder = f"{inner}/.cub/".removeprefix("./")
    paths = list_dirty_paths(worktree, environ)
    others = (path for path in paths if not path.startswith(cub_folder))
    return [path for path in others if not _differs_by_section(worktree.toplevel, path)]


def _differs_by_section(toplevel: Path, path: str) -> bool:
    """Return whether a file is that of HEAD but for cub's section, as after `cub init`."""
    file = toplevel / path
    if not path.endswith(".md") or file.is_symlink() or not file.is_file():
        return False
    answer = try_git(toplevel, "cat-file", "blob", f"HEAD:{path}")
    own = [_cut_section(data, path) for data in (answer.stdout, file.read_bytes())]
    return answer.exit_code == 0 and None not in own and own[0] == own[1]


def _cut_section(data: bytes, path: str) -> bytes | None:
    """Return a file without the section that cub wrote; None if a person may have edited that."""
    try:
        document = Document.parse(data, path)
        section = find_section(document)
        if section is None:
            return data
        return remove_section(document, section) if section.author == "cub" else None
    except CubError:
        return None
