"""List the files that git tracks, and find those that its index has and the work tree lacks."""

from __future__ import annotations

import os
import posixpath
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cub.files.file_tree import DiskTree, MissingFile, require_real_content
from cub.files.read_files import read_file
from cub.git.process import (
    decode_output,
    make_git_environment,
    query_git,
    split_nul,
    start_git_query,
)
from cub.git.worktree import find_toplevel

# Seconds; a listing of a million files takes less, a hung network drive takes for ever.
_TIMEOUT = 60.0
_STEP = 0.1


def list_tracked_files(
    folder: Path, waiting: Callable[[], None] = lambda: None
) -> tuple[str, ...] | None:
    """List the paths below `folder`, relative to it, in git's order; None where git can't tell.

    While the index is empty, these are the untracked files that git does not ignore. `waiting` is
    called again and again until git answers.
    """
    if find_toplevel(folder) is None:
        return None
    paths = _run_ls_files(folder, waiting)
    others = ("--others", "--exclude-standard")
    return _run_ls_files(folder, waiting, *others) if paths == () else paths


def filter_tracked_files(folder: Path, paths: Sequence[str], *options: str) -> tuple[str, ...]:
    """Return those of the paths that git tracks, as `options` print them; none where git can't
    tell.
    """
    if not paths or find_toplevel(folder) is None:
        return ()
    literal = (f":(literal){path}" for path in paths)
    return _run_ls_files(folder, lambda: None, *options, "--", *literal) or ()


def find_flagged_files(folder: Path, paths: Sequence[str]) -> dict[str, str]:
    """Return those of the paths whose changes git never shows, each with the flag that says so."""
    entries = (entry.partition(" ") for entry in filter_tracked_files(folder, paths, "-v"))
    flags = {path: tag for tag, _, path in entries if tag == "S" or tag.islower()}
    return {
        path: "skip-worktree" if tag == "S" else "assume-unchanged" for path, tag in flags.items()
    }


def _run_ls_files(
    folder: Path, waiting: Callable[[], None], *options: str
) -> tuple[str, ...] | None:
    try:
        process = start_git_query(folder, "ls-files", "-z", *options, environ=_make_environment())
    except OSError:
        return None
    with process:
        output = _await_output(process, waiting)
    if output is None or process.returncode:
        return None
    paths = decode_output(output).split("\0")
    # An unmerged path is listed once for each side.
    return tuple(dict.fromkeys(path for path in paths if path))


def _await_output(process: subprocess.Popen[bytes], waiting: Callable[[], None]) -> bytes | None:
    """Return what git prints; None if it takes too long."""
    deadline = time.monotonic() + _TIMEOUT
    try:
        while time.monotonic() < deadline:
            try:
                return process.communicate(timeout=_STEP)[0]
            except subprocess.TimeoutExpired:
                waiting()
    except BaseException:
        process.kill()
        raise
    process.kill()
    return None


def _make_environment() -> dict[str, str]:
    """Drop the GIT_DIR that hooks of a linked work tree get: any folder would count as the top."""
    environ = dict(os.environ)
    if "GIT_WORK_TREE" not in environ:
        environ.pop("GIT_DIR", None)
    return environ


@dataclass(frozen=True, slots=True)
class GitDiskTree(DiskTree):
    """Read the files on disk below `root`. One that git keeps out of the checkout, or locked, is an
    error and not a missing file.
    """

    def read(self, path: str) -> bytes | None:
        """Read a file by `read_tracked_file`."""
        return read_tracked_file(self.root, path)

    def find_missing(self, path: str) -> MissingFile | None:
        """Ask git by `find_missing_file`."""
        return find_missing_file(self.root, path)


def read_tracked_file(root: Path, path: str) -> bytes | None:
    """Return the bytes of `path` below `root`; None where neither the disk nor git has it.

    Raises CubError for what git keeps out of this checkout, or a filter keeps locked.
    """
    data = read_file(root, path)
    if data is None:
        require_in_checkout(root, path)
    else:
        require_real_content(data, path)
    return data


def require_in_checkout(root: Path, path: str) -> None:
    """Refuse a path that git has a file for, and keeps out of this checkout."""
    missing = find_missing_file(root, path)
    if missing and missing.is_outside_checkout:
        raise missing.make_error()


def find_missing_file(root: Path, path: str) -> MissingFile | None:
    """Return what the index has under `path`, relative to `root`, where the disk has nothing; None
    for nothing, and if git can't tell.
    """
    top = find_toplevel(root)
    if top is None or "\0" in path:
        return None
    name = posixpath.join(root.relative_to(top).as_posix(), path).removeprefix("./")
    words = ("ls-files", "-v", "-s", "-z", "--", f":(literal){name}")
    result = query_git(top, *words, environ=make_git_environment(top))
    entries = (line.partition("\t") for line in split_nul(result.stdout if result else b""))
    description = next((fields for fields, _, entry in entries if entry == name), "")
    return _describe_missing(top, path, name, *description.split(" ")) if description else None


def _describe_missing(
    toplevel: Path, path: str, name: str, tag: str, mode: str, oid: str, _stage: str
) -> MissingFile:
    """Describe an entry of the index, by git's tag for it (git-ls-files(1)) and its fields."""
    entry, why = f"{mode} {oid[:12]} {name}", ""
    hint = restore = f"git checkout -- {path}"
    if tag.islower():
        why = "assume-unchanged"
    elif tag == "S" and _is_sparse(toplevel):
        why = "sparse checkout"
        hint = f"git sparse-checkout add {posixpath.dirname(name) or f'/{name}'}"
    elif tag == "S":
        why = "skip-worktree"
        hint = f"git update-index --no-skip-worktree {path} && {restore}"
    return MissingFile(path, entry, why, f"`{hint}` brings it back as git has it")


def _is_sparse(toplevel: Path) -> bool:
    words = ("config", "--type=bool", "core.sparseCheckout")
    result = query_git(toplevel, *words, environ=make_git_environment(toplevel))
    return result is not None and result.stdout.strip() == b"true"
