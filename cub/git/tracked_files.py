"""The files that git tracks, by its index.

Files that git's index has and the work tree lacks, and why; reads that do not overlook them.
"""

from __future__ import annotations

import mmap
import os
import posixpath
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cub.files import DiskTree, read_file
from cub.files.file_tree import MissingFile, require_real_content
from cub.git.process import make_git_environment, query_git, split_nul, start_git_query
from cub.git.worktree import find_git_dir, find_toplevel

# Seconds; a listing of a million files takes less, a hung network drive takes for ever.
_TIMEOUT = 60.0
_STEP = 0.1


def _do_nothing() -> None:
    pass


def list_tracked_files(
    folder: Path, waiting: Callable[[], None] = _do_nothing
) -> tuple[str, ...] | None:
    """The paths below `folder`, relative to it, in git's order; None where git can't tell.

    While the index is empty, the untracked files that git does not ignore. `waiting` is called
    again and again until git answers.
    """
    if find_toplevel(folder) is None:
        return None
    found = _run_ls_files(folder, waiting)
    others = ("--others", "--exclude-standard")
    return _run_ls_files(folder, waiting, *others) if found == () else found


def filter_tracked_files(folder: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """Those of the paths that git tracks, relative to `folder`; none where git can't tell."""
    if not paths or find_toplevel(folder) is None:
        return ()
    return _run_ls_files(folder, lambda: None, "--", *(f":(literal){path}" for path in paths)) or ()


def _run_ls_files(
    folder: Path, waiting: Callable[[], None], *options: str
) -> tuple[str, ...] | None:
    try:
        process = start_git_query(folder, "ls-files", "-z", *options, environ=_environment())
    except OSError:
        return None
    with process:
        answer = _answer(process, waiting)
    if answer is None or process.returncode:
        return None
    paths = answer.decode("utf-8", "surrogateescape").split("\0")
    # An unmerged path is listed once for each side.
    return tuple(dict.fromkeys(path for path in paths if path))


def _answer(process: subprocess.Popen[bytes], waiting: Callable[[], None]) -> bytes | None:
    """What git prints; None if it takes too long."""
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


def _environment() -> dict[str, str]:
    """Hooks of a linked work tree get a GIT_DIR, with which any folder counts as the top."""
    apart = "GIT_DIR" in os.environ and "GIT_WORK_TREE" not in os.environ
    return {name: value for name, value in os.environ.items() if not (apart and name == "GIT_DIR")}


_PREFIXED = b"DIRC\0\0\0\4"  # version 4 writes a path as what it does not share with the last one
_ELSEWHERE = (b"link\0\0", b"sdir\0\0\0\0")  # a split index, and one that has folders as entries


@dataclass(frozen=True, slots=True)
class GitDiskTree(DiskTree):
    """The files on disk below `root`. One that git keeps out of the checkout, or locked, is an
    error and not a file that is not there.
    """

    def read(self, path: str) -> bytes | None:
        """See `read_tracked_file`."""
        return read_tracked_file(self.root, path)

    def find_missing(self, path: str) -> MissingFile | None:
        """See `find_missing_file`."""
        return find_missing_file(self.root, path)


def read_tracked_file(root: Path, path: str) -> bytes | None:
    """The bytes of `path` below `root`; None where neither the disk nor git has such a file.

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
    """What the index has under `path`, relative to `root`, where the disk has nothing.

    Git is asked only if the bytes of the index have that path. No answer counts as no.
    """
    top = find_toplevel(root)
    if top is None:
        return None
    name = posixpath.join(root.relative_to(top).as_posix(), path).removeprefix("./")
    if not _may_have(find_git_dir(top) / "index", name):
        return None
    words = ("ls-files", "-v", "-s", "-z", "--", f":(literal){name}")
    found = query_git(top, *words, environ=make_git_environment(top))
    if found is None:
        return None
    entries = (line.partition("\t") for line in split_nul(found.stdout))
    described = next((before for before, _, entry in entries if entry == name), "")
    return _missing(top, path, name, *described.split(" ")) if described else None


def _may_have(index: Path, name: str) -> bool:
    try:
        if not index.is_file():  # a FIFO would wait
            return False
        with (
            index.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            if data[: len(_PREFIXED)] == _PREFIXED:
                return True
            wanted = name.encode("utf-8", "surrogateescape") + b"\0"
            return any(data.find(text) >= 0 for text in (wanted, *_ELSEWHERE))
    except (OSError, ValueError):  # there is none yet, or an empty one
        return False


def _missing(
    toplevel: Path, path: str, name: str, tag: str, mode: str, oid: str, _stage: str
) -> MissingFile:
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
    answer = query_git(toplevel, *words, environ=make_git_environment(toplevel))
    return answer is not None and answer.stdout.strip() == b"true"
