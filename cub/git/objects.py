"""Read objects of a repository through one `git cat-file --batch` process, such as the sides of a
file in a merge that git has not finished.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple, Self

from cub.errors import CubError
from cub.git.process import start_git_query
from cub.git.worktree import find_toplevel
from cub.text import describe_os_error

FOLDER_MODE, LINK_MODE, SUBMODULE_MODE = 0o040000, 0o120000, 0o160000
_INCOMPLETE = (
    "this clone is partial or damaged, and cub never fetches automatically: "
    "`git fetch --refetch --no-filter` completes it, or clone it again"
)


class GitObject(NamedTuple):
    """Hold an object's name (hex), its type (commit, tree, blob, tag) and its content."""

    oid: str
    kind: str
    data: bytes


class TreeEntry(NamedTuple):
    """Hold the mode of an entry of a tree, and the name of its object."""

    mode: int
    oid: str

    @property
    def is_folder(self) -> bool:
        """Return whether it is a tree itself."""
        return self.mode == FOLDER_MODE

    @property
    def is_submodule(self) -> bool:
        """Return whether it is a commit of another repository."""
        return self.mode == SUBMODULE_MODE

    @property
    def is_reference(self) -> bool:
        """Return whether it refers to something else: a link, or a submodule."""
        return self.mode in (LINK_MODE, SUBMODULE_MODE)


@dataclass(slots=True)
class ObjectReader:
    """Read the objects of the repository at `folder`, a work tree or a bare repository.

    `environ` leads git elsewhere, instead of our own environment.
    """

    folder: Path
    environ: Mapping[str, str] | None = None
    _git: subprocess.Popen[bytes] = field(init=False)
    _stderr: IO[bytes] = field(init=False)
    _trees: dict[str, dict[str, TreeEntry]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self._stderr = tempfile.TemporaryFile()
        try:
            pipe, words = subprocess.PIPE, ("cat-file", "--batch")
            self._git = start_git_query(
                self.folder, *words, stdin=pipe, stderr=self._stderr, environ=self.environ
            )
        except OSError as error:
            self._stderr.close()
            raise CubError(
                f"git can't be started: {describe_os_error(error)}",
                hint="install git: commits can't be read without it",
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._git.communicate()
        self._stderr.close()

    def find_object(self, name: str) -> GitObject | None:
        """Return the object of any name that git understands; None where there is none."""
        if "\n" in name:
            return None
        stdin, out = self._git.stdin, self._git.stdout
        assert stdin is not None
        assert out is not None
        try:
            stdin.write(name.encode("utf-8", "surrogateescape") + b"\n")
            stdin.flush()
        except OSError:
            raise self._make_read_error() from None
        answer = out.readline()
        if not answer:
            raise self._make_read_error()
        words = answer.split()
        if len(words) != 3 or not words[2].isdigit():
            return None  # "… missing" or "… ambiguous"
        size = int(words[2])
        data = out.read(size + 1)[:size]
        return GitObject(words[0].decode(), words[1].decode(), data)

    def read_blob(self, oid: str) -> bytes:
        """Return the bytes of a file. Raises CubError if there is no such blob."""
        return self._require_object(oid, "blob").data

    def read_tree(self, oid: str) -> dict[str, TreeEntry]:
        """Return the entries of a tree by name. Raises CubError for a damaged one."""
        if oid not in self._trees:
            tree = self._require_object(oid, "tree")
            try:
                self._trees[oid] = _parse_tree(tree.data, len(tree.oid) // 2)
            except ValueError:
                raise _make_damage_error(oid) from None
        return self._trees[oid]

    def _require_object(self, oid: str, kind: str) -> GitObject:
        git_object = self.find_object(oid)
        if git_object is None:
            raise CubError(f"git lacks the object {oid[:12]}", hint=_INCOMPLETE)
        if git_object.kind != kind:
            raise _make_damage_error(oid)
        return git_object

    def _make_read_error(self) -> CubError:
        """Make the error for a git that ended by itself, from its stderr."""
        self._git.wait()
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        lines = lines or [f"exit code {self._git.returncode}"]
        fatal = [line for line in lines if line.startswith("fatal: ")]
        # The first line says that a protocol is not allowed: that is our doing.
        promised = [line for line in fatal if "promisor" in line]
        first = (promised or fatal or lines)[0]
        return CubError(
            f"git can't read this repository: {first.removeprefix('fatal: ')}",
            hint=_INCOMPLETE if promised else "",
            details=[line for line in lines if line != first and not promised],
        )


def _make_damage_error(oid: str) -> CubError:
    return CubError(
        f"the object {oid[:12]} is damaged", hint="`git fsck` lists what is wrong in a repository"
    )


def _parse_tree(data: bytes, width: int) -> dict[str, TreeEntry]:
    """Parse a tree: `mode SP name NUL oid`, again and again; `width` is an oid's bytes."""
    entries = {}
    offset = 0
    while offset < len(data):
        nul = data.index(b"\0", offset)
        mode, _, name = data[offset:nul].partition(b" ")
        offset = nul + 1 + width
        oid = data[nul + 1 : offset].hex()
        entries[name.decode("utf-8", "surrogateescape")] = TreeEntry(int(mode, 8), oid)
    return entries


_STAGES = (2, 3, 1)  # ours, theirs, the ancestor (git-ls-files, --unmerged)


def read_merge_stages(folder: Path, path: str) -> list[bytes]:
    """Return our side, theirs and the ancestor of `path` (relative to `folder`), as far as there
    are such; nothing where git is not merging it.
    """
    if find_toplevel(folder) is None:
        return []
    try:
        with ObjectReader(folder) as objects:
            stages = [objects.find_object(f":{stage}:./{path}") for stage in _STAGES]
    except CubError:
        return []
    return [stage.data for stage in stages if stage is not None and stage.kind == "blob"]
