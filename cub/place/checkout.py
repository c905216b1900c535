"""Describe the person's checkout, and run git on trees of cub's own with the person's settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from cub.errors import CubError
from cub.git.process import decode_output, run_git, split_nul, try_git
from cub.git.worktree import (
    find_common_dir,
    find_git_dir,
    is_bare_repository,
    require_repository,
)


@dataclass(frozen=True, slots=True)
class Checkout:
    """Hold where the person's checkout is: its top, its git directory, and the repository's.

    The two git directories differ in a linked work tree.
    """

    toplevel: Path
    git_dir: Path
    common_dir: Path

    @property
    def objects(self) -> Path:
        """Return the repository's folder of objects."""
        return self.common_dir / "objects"


def find_checkout(folder: Path) -> Checkout:
    """Return the checkout around `folder`. Raises CubError if there is none."""
    toplevel = require_repository(folder)
    git_dir = Path(os.path.realpath(find_git_dir(toplevel)))
    # In a submodule, `.git` is a file, too, but that leads to the repository itself.
    own = git_dir if is_bare_repository(git_dir) else None
    common_dir = own or find_common_dir(toplevel)
    if common_dir is None:
        raise CubError("git's own directory cannot be read", where=toplevel.as_posix())
    return Checkout(toplevel, git_dir, common_dir)


@dataclass(frozen=True, slots=True)
class TreeGit:
    """Run git on a tree of cub's own, as the person's git would on their checkout.

    The person's git directory decides: settings, attributes, filters, excluded paths, and sparse
    rules. Nothing is written into it: the index and the folder of new objects are cub's own.
    `variables` set more for these gits.
    """

    checkout: Checkout
    tree: Path
    index: Path
    objects: Path
    variables: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def environ(self) -> dict[str, str]:
        """Return the variables that lead git to these places."""
        return {
            **self.variables,
            "GIT_DIR": os.fspath(self.checkout.git_dir),
            "GIT_WORK_TREE": os.fspath(self.tree),
            "GIT_INDEX_FILE": os.fspath(self.index),
            "GIT_OBJECT_DIRECTORY": os.fspath(self.objects),
        }

    def run(
        self,
        *args: str,
        stdin: bytes = b"",
        stdout: IO[bytes] | None = None,
        allow_fetch: bool = False,
    ) -> bytes:
        """Return git's stdout. Raises CubError, with git's words, if it fails."""
        return run_git(
            self.tree,
            *args,
            stdin=stdin,
            stdout=stdout,
            allow_fetch=allow_fetch,
            environ=self.environ,
        )

    def with_index(self, name: str) -> TreeGit:
        """Return the same with another index, for a tree that is never checked out."""
        return replace(self, index=self.index.with_name(name))

    def with_own_identity(self) -> TreeGit:
        """Return the same with cub as the author, for commits that no branch gets: the person needs
        no name and no key for these.
        """
        who = (f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL"))
        return replace(self, variables={**self.variables, **dict.fromkeys(who, "cub")})

    def query(self, *args: str, stdin: bytes = b"") -> bytes:
        """Return git's stdout, whatever its exit code is."""
        return try_git(self.tree, *args, stdin=stdin, environ=self.environ).stdout

    def succeeds(self, *args: str) -> bool:
        """Return whether git's exit code is 0."""
        return try_git(self.tree, *args, environ=self.environ).exit_code == 0

    def read_line(self, *args: str, stdin: bytes = b"") -> str:
        """Return git's answer of one line, such as the id of an object."""
        return decode_output(self.run(*args, stdin=stdin)).strip()

    def list_items(self, *args: str, stdin: bytes = b"") -> list[str]:
        """Return git's answer with `-z` as a list."""
        return split_nul(self.run(*args, stdin=stdin))
