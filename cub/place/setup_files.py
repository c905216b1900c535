"""Keep what the commands of `run.setup` made in a tree while what they depend on is the same."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from cub.git.tool_artifacts import COMPILED_SUFFIXES, matches_any
from cub.place.checkout import TreeGit

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
