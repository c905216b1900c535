"""Bring a tree of a place to a commit's files, and find what has become of them since.

What the commands of `run.setup` made in a tree stays there while what they depend on is the same.

Where a command has run in a tree, `make_folders_usable` comes first: git can't read folders without
rights, and waits for ever where it opens a FIFO.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from cub.errors import CubError
from cub.git.objects import SUBMODULE_MODE
from cub.git.process import join_nul
from cub.git.tool_artifacts import COMPILED_SUFFIXES, is_tool_artifact, matches_any
from cub.git.worktree import get_file_type
from cub.place.checkout import TreeGit
from cub.place.folder import empty_folder, escape_pattern

# Lock files and manifests of package managers, and what pins the versions of their programs.
_INPUT_PATTERNS = (
    "*.lock", "*.lockb", "*-lock.json", "*-lock.y*ml", "npm-shrinkwrap.json", "package.json",
    "pnpm-workspace.y*ml", ".npmrc", ".yarnrc*", "deno.json*", "pyproject.toml", "setup.py",
    "setup.cfg", "*requirements*.txt", "*requirements*.in", "Pipfile", "environment.y*ml",
    "pixi.toml", "go.mod", "go.sum", "go.work*", "Cargo.toml", "Gemfile", "*.gemspec",
    "composer.json", "mix.exs", "rebar.config", "pom.xml", "build.gradle*", "settings.gradle*",
    "gradle.lockfile", "libs.versions.toml", "*.csproj", "*.fsproj", "*.vbproj", "*.props",
    "packages*.config", "paket.dependencies", "pubspec.y*ml", "Podfile", "Package.swift",
    "Package.resolved", "*.cabal", "stack.y*ml", "*.opam", "renv.lock", "DESCRIPTION",
    "cpanfile*", "CMakeLists.txt", "conanfile*", "vcpkg.json", "Makefile", "GNUmakefile",
    "[Jj]ustfile", "mise.toml", ".tool-versions", ".*-version",
)  # fmt: skip


class TreeState(NamedTuple):
    """Hold the tree that git makes of the files, and what is no part of it.

    `ignored_paths` are files that git ignores, directories with "/" at their end; `repositories`
    are those of their own among the files, `oversized_files` too large to be read.
    """

    tree: str
    ignored_paths: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    oversized_files: tuple[str, ...] = ()


def check_out_tree(
    git: TreeGit, tree: str, kept: Iterable[str] = (), *, is_touched: bool = True
) -> None:
    """Make the files exactly those of `tree`: what differs is written, the rest stays.

    Other files are deleted, except for the `kept` paths; there are none if nothing has touched the
    files since they were checked out. Raises CubError if git can't, for example for lack of space.
    """
    words = ("read-tree", "--reset", "-u", tree)
    try:
        git.run(*words, allow_fetch=True)
    except CubError:  # an index that does not fit its files
        git.index.unlink(missing_ok=True)
        git.index.with_name(f"{git.index.name}.lock").unlink(missing_ok=True)
        empty_folder(git.tree)
        git.run(*words, allow_fetch=True)
    if is_touched:
        git.run("clean", "-ffdxq", *(f"--exclude=/{escape_pattern(path)}" for path in kept))


def read_tree_state(
    git: TreeGit, is_excluded: Callable[[str], bool], max_file_size: int = 1 << 30
) -> TreeState:
    """Add the files to the index as git would, and return its tree. Raises CubError.

    Excluded paths stay what the index has: what they are now is no part of the tree. The same goes
    for what tools leave behind, such as bytecode.
    """
    words = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    more = ("--ignored=matching", "--ignore-submodules=all")
    changed, repositories, ignored = list[str](), list[str](), list[str]()
    for line in git.list_items(*words, *more):
        state, path = line[:2], line[3:]
        if state == "??":
            if not is_tool_artifact(path.rstrip("/")):
                (repositories if path.endswith("/") else changed).append(path)
        elif state == "!!":
            ignored.append(path)
        elif state[1] != " ":  # differs from the index
            changed.append(path)
    paths = [path for path in changed if not is_excluded(path)]
    oversized = tuple(path for path in paths if _is_oversized(git, path, max_file_size))
    paths = [path for path in paths if path not in oversized]
    _make_readable(git, paths)
    tree = update_tree(git, paths) if paths else git.read_line("write-tree")
    left = tuple(path for path in ignored if not is_excluded(path))
    return TreeState(tree, left, tuple(repositories), oversized)


def list_edited_paths(git: TreeGit) -> list[str]:
    """List the files of the index that were changed or deleted since they were checked out."""
    modules = read_submodule_commits(git)
    listed = dict.fromkeys(git.list_items("ls-files", "-z", "-m", "-d"))
    return [path for path in listed if path not in modules]


def update_tree(git: TreeGit, paths: Collection[str]) -> str:
    """Take over some files as they are now; return the tree."""
    files = (stat.S_IFREG, stat.S_IFLNK)
    gone = [path for path in paths if get_file_type(git.tree, path) not in files]
    left = set(gone)
    present = [path for path in paths if path not in left]
    # What goes makes room for what comes: a folder may have become a file.
    for option, some in (("--force-remove", gone), ("--replace", present)):
        if some:
            words = ("update-index", "-z", "--add", option, "--stdin")
            git.run(*words, stdin=join_nul(some))
    return git.read_line("write-tree")


def read_submodule_commits(git: TreeGit) -> dict[str, str]:
    """Return the commit of each submodule that the index names, by its path."""
    if not (git.tree / ".gitmodules").is_file():
        return {}
    rows = git.list_items("ls-files", "-z", "--stage")
    fields = (row.partition("\t") for row in rows if row.startswith(f"{SUBMODULE_MODE:o} "))
    return {path: facts.split(" ")[1] for facts, _, path in fields}


def _is_oversized(git: TreeGit, path: str, max_file_size: int) -> bool:
    with suppress(OSError):
        status = os.lstat(git.tree / path)
        return stat.S_ISREG(status.st_mode) and status.st_size > max_file_size
    return False


def _make_readable(git: TreeGit, paths: Collection[str]) -> None:
    for path in paths:
        with suppress(OSError):
            mode = os.lstat(git.tree / path).st_mode
            if stat.S_ISREG(mode) and not mode & stat.S_IRUSR:
                (git.tree / path).chmod(stat.S_IMODE(mode) | stat.S_IRUSR)


@dataclass(slots=True)
class TreeSetup:
    """Hold which tree of git is checked out in a tree, the key for it, and what was made there.

    `made_key` is that of the last time when the commands succeeded; `made_paths` are the files,
    and the directories with "/" at their end, that they left beside those of git.
    """

    tree: str = ""
    key: str = ""
    made_key: str = ""
    made_paths: tuple[str, ...] = ()

    @property
    def is_due(self) -> bool:
        """Return whether the commands have to run."""
        return self.key != self.made_key

    def prepare(self, git: TreeGit, tree: str, commands: Sequence[str]) -> tuple[str, ...]:
        """Take note of the tree of git that will be checked out; return the paths to keep."""
        self.tree, self.key = tree, make_setup_key(git, tree, commands) if commands else ""
        if self.is_due:
            self.made_key, self.made_paths = "", ()
        return self.made_paths

    def finish(self, git: TreeGit, is_excluded: Callable[[str], bool]) -> None:
        """Take note of what the commands made, and put back what git tracks."""
        git.run("read-tree", "--reset", "-u", self.tree)
        self.made_paths = tuple(path for path in _list_other_paths(git) if not is_excluded(path))
        self.made_key = self.key


def make_setup_key(git: TreeGit, treeish: str, commands: Sequence[str]) -> str:
    """Return a digest of the commands, of the files that they name, of lock files and manifests,
    and of sources to compile: while it is the same, what the commands made can be kept.
    """
    words = {word for one in commands for word in one.replace("=", " ").split()}
    named = {posixpath.normpath(word.strip("'\";&|()")) for word in words}
    digest = sha256("\0".join(commands).encode("utf-8", "surrogateescape"))
    for entry in git.list_items("ls-tree", "-r", "-z", "--full-tree", treeish):
        path = entry.partition("\t")[2]
        name = posixpath.basename(path)
        is_source = posixpath.splitext(name)[1].lower() in COMPILED_SUFFIXES
        if path in named or is_source or matches_any(name, _INPUT_PATTERNS):
            digest.update(b"\0" + entry.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _list_other_paths(git: TreeGit) -> list[str]:
    """List what git does not track: ignored paths, directories with "/" at their end, and files."""
    ignored = ("-i", "--exclude-standard", "--directory")
    words = ("ls-files", "-z", "-o")
    return [*git.list_items(*words, *ignored), *git.list_items(*words, "--exclude-standard")]
