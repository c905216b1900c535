"""The objects of a repository, read through one `git cat-file --batch` process.

All files of a tree, listed once: what a tree is named by never changes.

The sides of a file in a merge that git has not finished, and their ancestor.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple, Self

from cub.errors import CubError
from cub.git.process import run_git, split_nul, start_git_query
from cub.git.worktree import find_toplevel
from cub.text import describe_os_error

FOLDER_MODE, LINK_MODE, SUBMODULE_MODE = 0o040000, 0o120000, 0o160000
_INCOMPLETE = (
    "this clone is partial or damaged, and cub fetches nothing by itself: "
    "`git fetch --refetch --no-filter` completes it, or clone it anew"
)


class GitObject(NamedTuple):
    """An object's name (hex), its type (commit, tree, blob, tag) and its content."""

    oid: str
    kind: str
    data: bytes


class TreeEntry(NamedTuple):
    """A line of a tree: the mode, and the name of the object."""

    mode: int
    oid: str

    @property
    def is_folder(self) -> bool:
        """Whether it is a tree itself."""
        return self.mode == FOLDER_MODE

    @property
    def is_submodule(self) -> bool:
        """Whether it is a commit of another repository."""
        return self.mode == SUBMODULE_MODE

    @property
    def is_reference(self) -> bool:
        """Whether it stands for something else: a link, or a submodule."""
        return self.mode in (LINK_MODE, SUBMODULE_MODE)


@dataclass(slots=True)
class ObjectReader:
    """A repository's objects, asked for in `folder`: a work tree, or a bare repository."""

    folder: Path
    _git: subprocess.Popen[bytes] | None = None
    _said: IO[bytes] | None = None
    _trees: dict[str, dict[str, TreeEntry]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self._said = tempfile.TemporaryFile()
        try:
            pipe, said = subprocess.PIPE, self._said
            self._git = start_git_query(self.folder, "cat-file", "--batch", stdin=pipe, stderr=said)
        except OSError as error:
            self._said.close()
            raise CubError(
                f"git can't be started: {describe_os_error(error)}",
                hint="install git: commits can't be read without it",
            ) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._git is not None:
            self._git.communicate()
        if self._said is not None:
            self._said.close()

    def find_object(self, name: str) -> GitObject | None:
        """The object of any name that git understands; None where there is none."""
        if "\n" in name:
            return None
        git, out, into = self._pipes()
        try:
            into.write(name.encode("utf-8", "surrogateescape") + b"\n")
            into.flush()
        except OSError:
            raise self._refusal(git) from None
        answer = out.readline()
        if not answer:
            raise self._refusal(git)
        words = answer.split()
        if len(words) != 3 or not words[2].isdigit():
            return None  # "… missing" or "… ambiguous"
        size = int(words[2])
        data = out.read(size + 1)[:size]
        return GitObject(words[0].decode(), words[1].decode(), data)

    def read_blob(self, oid: str) -> bytes:
        """The bytes of a file."""
        return self._must(oid, "blob").data

    def read_tree(self, oid: str) -> dict[str, TreeEntry]:
        """The entries of a tree by name."""
        if oid not in self._trees:
            found = self._must(oid, "tree")
            try:
                self._trees[oid] = _entries(found.data, len(found.oid) // 2)
            except ValueError:
                raise _make_damage_error(oid) from None
        return self._trees[oid]

    def _must(self, oid: str, kind: str) -> GitObject:
        found = self.find_object(oid)
        if found is None:
            raise CubError(f"git lacks the object {oid[:12]}", hint=_INCOMPLETE)
        if found.kind != kind:
            raise _make_damage_error(oid)
        return found

    def _pipes(self) -> tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]:
        assert self._git is not None
        assert self._git.stdin is not None
        assert self._git.stdout is not None
        return self._git, self._git.stdout, self._git.stdin

    def _refusal(self, git: subprocess.Popen[bytes]) -> CubError:
        """Git ended by itself: it says why."""
        git.wait()
        assert self._said is not None
        self._said.seek(0)
        said = self._said.read().decode("utf-8", "replace").strip().splitlines()
        said = said or [f"exit code {git.returncode}"]
        fatal = [line for line in said if line.startswith("fatal: ")]
        # What is said first is that a protocol is not allowed: that is our doing.
        promised = [line for line in fatal if "promisor" in line]
        first = (promised or fatal or said)[0]
        return CubError(
            f"git can't read this repository: {first.removeprefix('fatal: ')}",
            hint=_INCOMPLETE if promised else "",
            details=[line for line in said if line != first and not promised],
        )


def _make_damage_error(oid: str) -> CubError:
    return CubError(
        f"the object {oid[:12]} is damaged", hint="`git fsck` lists what is wrong in a repository"
    )


def _entries(data: bytes, width: int) -> dict[str, TreeEntry]:
    """A tree object is `mode SP name NUL oid`, again and again; `width` is an oid's bytes."""
    found = {}
    at = 0
    while at < len(data):
        nul = data.index(b"\0", at)
        mode, _, name = data[at:nul].partition(b" ")
        at = nul + 1 + width
        oid = data[nul + 1 : at].hex()
        found[name.decode("utf-8", "surrogateescape")] = TreeEntry(int(mode, 8), oid)
    return found


@lru_cache(maxsize=4)
def list_tree_files(toplevel: Path, tree: str) -> Mapping[str, TreeEntry]:
    """The files, links and submodules of a tree by path, with those of its folders."""
    found = {}
    for line in split_nul(run_git(toplevel, "ls-tree", "-r", "-z", "--full-tree", tree)):
        about, _, path = line.partition("\t")
        mode, _, oid = about.split(" ")
        found[path] = TreeEntry(int(mode, 8), oid)
    return found


_ANCESTOR, _OURS, _THEIRS = 1, 2, 3  # stages of the index (git-ls-files, --unmerged)


def read_merge_stages(folder: Path, path: str) -> list[bytes]:
    """What `path` (relative to `folder`) was; nothing where git is not merging it."""
    if find_toplevel(folder) is None:
        return []
    try:
        return list(_stages(folder, path))
    except CubError:
        return []


def _stages(folder: Path, path: str) -> Iterator[bytes]:
    with ObjectReader(folder) as objects:
        for stage in (_OURS, _THEIRS, _ANCESTOR):
            found = objects.find_object(f":{stage}:./{path}")
            if found is not None and found.kind == "blob":
                yield found.data
