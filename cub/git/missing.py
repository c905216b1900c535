"""Files that git's index has and the work tree lacks, and why; reads that do not overlook them."""

from __future__ import annotations

import mmap
import posixpath
from dataclasses import dataclass
from pathlib import Path

from cub.files import WorkTree, read
from cub.files.missing import Missing, require_unlocked
from cub.git.calling import ask_read_only, environment_at, split
from cub.git.place import git_folder
from cub.git.worktree import top_level

_PREFIXED = b"DIRC\0\0\0\4"  # version 4 writes a path as what it does not share with the last one
_ELSEWHERE = (b"link\0\0", b"sdir\0\0\0\0")  # a split index, and one that has folders as entries


@dataclass(frozen=True, slots=True)
class GitWorkTree(WorkTree):
    """The files on disk below `root`. One that git keeps out of the checkout, or locked, is an
    error and not a file that is not there.
    """

    def read(self, path: str) -> bytes | None:
        """See `read_checked_out`."""
        return read_checked_out(self.root, path)

    def missing(self, path: str) -> Missing | None:
        """See `find_missing`."""
        return find_missing(self.root, path)


def read_checked_out(root: Path, path: str) -> bytes | None:
    """The bytes of `path` below `root`; None where neither the disk nor git has such a file.

    Raises CubError for what git keeps out of this checkout, or a filter keeps locked.
    """
    data = read(root, path)
    if data is None:
        require_not_withheld(root, path)
    else:
        require_unlocked(data, path)
    return data


def require_not_withheld(root: Path, path: str) -> None:
    """Refuse a path that git has a file for, and keeps out of this checkout."""
    missing = find_missing(root, path)
    if missing and missing.is_withheld:
        raise missing.error()


def find_missing(root: Path, path: str) -> Missing | None:
    """What the index has under `path`, relative to `root`, where the disk has nothing.

    Git is asked only if the bytes of the index have that path. No answer counts as no.
    """
    top = top_level(root)
    if top is None:
        return None
    name = posixpath.join(root.relative_to(top).as_posix(), path).removeprefix("./")
    if not _may_have(git_folder(top) / "index", name):
        return None
    words = ("ls-files", "-v", "-s", "-z", "--", f":(literal){name}")
    found = ask_read_only(top, *words, environ=environment_at(top))
    if found is None:
        return None
    entries = (line.partition("\t") for line in split(found.out))
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
    top: Path, path: str, name: str, tag: str, mode: str, oid: str, _stage: str
) -> Missing:
    entry, why = f"{mode} {oid[:12]} {name}", ""
    hint = restore = f"git checkout -- {path}"
    if tag.islower():
        why = "assume-unchanged"
    elif tag == "S" and _is_sparse(top):
        why = "sparse checkout"
        hint = f"git sparse-checkout add {posixpath.dirname(name) or f'/{name}'}"
    elif tag == "S":
        why = "skip-worktree"
        hint = f"git update-index --no-skip-worktree {path} && {restore}"
    return Missing(path, entry, why, f"`{hint}` brings it back as git has it")


def _is_sparse(top: Path) -> bool:
    words = ("config", "--type=bool", "core.sparseCheckout")
    answer = ask_read_only(top, *words, environ=environment_at(top))
    return answer is not None and answer.out.strip() == b"true"
