"""Decide by lock files and manifests whether the commands of `run.setup` have to run again."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from hashlib import sha256

from cub.git.tool_artifacts import matches_any
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


def make_setup_key(git: TreeGit, treeish: str, commands: Sequence[str]) -> str:
    """Return a digest of the commands, of the files that they name, and of the lock files and
    manifests of a git tree: while it is the same, what the commands made can be kept.
    """
    words = {word for one in commands for word in one.replace("=", " ").split()}
    named = {posixpath.normpath(word.strip("'\";&|()")) for word in words}
    digest = sha256("\0".join(commands).encode("utf-8", "surrogateescape"))
    for entry in git.list_items("ls-tree", "-r", "-z", "--full-tree", treeish):
        path = entry.partition("\t")[2]
        if path in named or matches_any(posixpath.basename(path), _INPUT_PATTERNS):
            digest.update(b"\0" + entry.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
