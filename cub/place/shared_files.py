"""Choose which ignored files of the person's checkout an attempt gets, and how.

Dependency folders are shared: a place binds the person's own. Small files, such as `.env`, are
copied if `.worktreeinclude` names them. Everything else that git ignores is not in a place: build
output, caches and the environments of tox and nox have to be written by those who use them, so
that a check never sees a stale one.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cub.errors import CubError
from cub.git.process import run_git, split_nul
from cub.git.tool_artifacts import COMPILED_SUFFIXES
from cub.git.worktree import get_file_type

INCLUDE_FILE = ".worktreeinclude"
# By the names that package managers use, at any depth; names that sources have, too, count only
# beside one of these manifests. Not `target`, `_build`, `.gradle`, `.tox` and the like: their
# tools write them.
_DEPENDENCY_FOLDERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys((
        "node_modules", ".yarn/cache", ".yarn/unplugged", ".pnpm-store", "bower_components",
        ".venv", "__pypackages__", ".direnv", ".pixi", ".conda", ".bundle", "vendor/bundle",
        "_opam", "lua_modules", ".terraform", "renv/library",
    ), ()),
    "vendor": ("composer.json", "Gemfile", "go.mod", "Cargo.toml"),
    "deps": ("mix.exs", "rebar.config"),
    "Pods": ("Podfile",),
    "Carthage": ("Cartfile",),
    "packages": ("packages.config", "paket.dependencies"),
    "paket-files": ("paket.dependencies",),
}  # fmt: skip
_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")  # of a folder with any name
# Compiled from sources beside them, such as by `setup.py build_ext --inplace`.
_METADATA_SUFFIX = ".egg-info/"
_EXTENSION_SUFFIXES = (".so", ".pyd", ".node", ".dylib")
# An installation writes them beside the sources, which import them (setuptools-scm, hatch-vcs).
_VERSION_FILES = ("_version.py", "version.py", "__version__.py", "_scm_version.py")
_OWN_FOLDER = ".cub"
_MAX_FILES = 10_000
_MAX_BYTES = 1 << 30
_MAX_ARGUMENT_BYTES = 1 << 16


class IgnoredFiles(NamedTuple):
    """Hold what a place gets of the files that git ignores: folders to share, files to copy."""

    shared: tuple[str, ...]
    included: tuple[str, ...]


def choose_ignored_files(toplevel: Path, base: str, patterns: Sequence[str] = ()) -> IgnoredFiles:
    """Choose among the ignored files of a checkout; `base` is the commit that a place has, and
    `patterns` are those of `run.share`. Raises CubError if git fails.
    """
    options = ("--others", "--ignored", "--exclude-standard", "--directory")
    ignored = split_nul(run_git(toplevel, "ls-files", "-z", *options))
    shared = list_shared_folders(toplevel, ignored, patterns)
    return IgnoredFiles(tuple(shared), tuple(list_included_files(toplevel, base, ignored, shared)))


def list_shared_folders(
    toplevel: Path, ignored: Iterable[str], patterns: Sequence[str] = ()
) -> list[str]:
    """Return the ignored folders that a place shares with the checkout, relative to its top.

    `ignored` is git's list, in which folders have "/" at the end; no folder is searched.
    `patterns` are those of `run.share`, in `.gitignore` syntax: they add ignored folders. Raises
    CubError if git fails.
    """
    folders = [path for path in ignored if path.endswith("/") and not _is_own(path)]
    found = {path.rstrip("/") for path in folders if _is_dependency_folder(toplevel, path)}
    if patterns:
        options = ("--directory", *(f"--exclude={pattern}" for pattern in patterns))
        matches = _list_matches(toplevel, options, folders)
        found.update(path.rstrip("/") for path in matches if path.endswith("/"))
    return [path for path in sorted(found) if not _is_below(path, found)]


def list_included_files(
    toplevel: Path, base: str, ignored: Iterable[str], shared: Iterable[str]
) -> list[str]:
    """Return the ignored files and links to copy: those that `.worktreeinclude` names, those that
    were built beside their sources, and links with the name of a dependency folder.

    What the commit `base` has, and what is in `shared` folders, is left out. Raises CubError if
    git fails, or the file can't be read.
    """
    folders = set(shared)
    entries = [path for path in ignored if path.rstrip("/") not in folders and not _is_own(path)]
    paths = {path for path in entries if _is_dependency_link(toplevel, path)}
    paths.update(_iter_built_files(toplevel, entries))
    if get_file_type(toplevel, INCLUDE_FILE) == stat.S_IFREG:
        matches = _list_matches(toplevel, (f"--exclude-from={INCLUDE_FILE}",), entries)
        paths.update(path for path in matches if not path.endswith("/"))  # no nested repository
    outside = sorted(path for path in paths if not _is_below(path, folders))
    words = ("ls-tree", "-r", "-t", "-z", "--name-only", "--full-tree", base)
    committed = set(split_nul(run_git(toplevel, *words)) if outside else ())
    return [path for path in outside if path not in committed]


def copy_included_files(toplevel: Path, tree: Path, paths: Sequence[str]) -> list[str]:
    """Copy files and links with their modes and times; return those that are in the tree now.

    A file of an earlier attempt is replaced. What lies beyond a link or a file of the tree, and
    what is gone by now, is left out. Raises CubError if these are too many, or too large.
    """
    statuses = {path: status for path in paths if (status := _read_status(toplevel / path))}
    size = sum(status.st_size for status in statuses.values() if stat.S_ISREG(status.st_mode))
    if len(statuses) > _MAX_FILES or size > _MAX_BYTES:
        raise CubError(
            f"the ignored files to copy are {len(statuses):,} with {size >> 20:,} MB, more than "
            f"{_MAX_FILES:,} or {_MAX_BYTES >> 20} MB",
            hint=f"name fewer files in {INCLUDE_FILE}, and large directories in `run.share`",
        )
    return [path for path in statuses if _copy_file(toplevel / path, tree, path)]


def remove_files(tree: Path, paths: Iterable[str]) -> None:
    """Delete files and links from a tree; what lies beyond a link stays."""
    for path in paths:
        if get_file_type(tree, path) in (stat.S_IFREG, stat.S_IFLNK):
            (tree / path).unlink()


def list_stale_extensions(included: Iterable[str], changed: Iterable[str]) -> list[str]:
    """Return the copied extensions that a change of these files may make stale: checks then have
    to build them, and must not find the person's.
    """
    if not any(PurePosixPath(path).suffix.lower() in COMPILED_SUFFIXES for path in changed):
        return []
    return [path for path in included if path.endswith(_EXTENSION_SUFFIXES)]


def _iter_built_files(toplevel: Path, entries: Iterable[str]) -> Iterator[str]:
    """Yield compiled extensions beside sources, versions, and the metadata of old editable
    installs: without them, the sources can't be imported.
    """
    for path in entries:
        if path.endswith(_EXTENSION_SUFFIXES) or PurePosixPath(path).name in _VERSION_FILES:
            yield path
        elif path.endswith(_METADATA_SUFFIX):
            yield from (f"{path}{name}" for name in os.listdir(toplevel / path)  # noqa: PTH208
                        if (toplevel / path / name).is_file())  # fmt: skip


def _is_dependency_folder(toplevel: Path, path: str) -> bool:
    folder = toplevel / path
    if any(os.path.lexists(folder / mark) for mark in _ENVIRONMENT_MARKS):
        return True
    return _has_dependency_name(toplevel, path.rstrip("/")) and not folder.is_symlink()


def _is_dependency_link(toplevel: Path, path: str) -> bool:
    return _has_dependency_name(toplevel, path) and (toplevel / path).is_symlink()


def _has_dependency_name(toplevel: Path, path: str) -> bool:
    parent, _, name = path.rpartition("/")
    above = f"{parent.rpartition('/')[2]}/{name}"
    key = above if above in _DEPENDENCY_FOLDERS else name
    manifests = _DEPENDENCY_FOLDERS.get(key)
    if not manifests:
        return manifests is not None
    return any(os.path.lexists(toplevel / parent / one) for one in manifests)


def _is_own(path: str) -> bool:
    return _OWN_FOLDER in path.rstrip("/").split("/")


def _is_below(path: str, folders: Container[str]) -> bool:
    """Return whether a path is inside of one of the folders."""
    end = path.find("/")
    while end >= 0:
        if path[:end] in folders:
            return True
        end = path.find("/", end + 1)
    return False


def _list_matches(toplevel: Path, options: Sequence[str], entries: Sequence[str]) -> list[str]:
    """Return what git finds among the entries by other patterns than those of the repository.

    Only the entries are searched, unless they are too many for a command line.
    """
    known = set(entries)
    if not known:
        return []
    words = [f":(literal){entry}" for entry in entries]
    if sum(map(len, words)) > _MAX_ARGUMENT_BYTES:
        words = []
    options = ("-z", "--others", "--ignored", *options, "--", *words)
    found = split_nul(run_git(toplevel, "ls-files", *options))
    folders = {entry.rstrip("/") for entry in known if entry.endswith("/")}
    return [path for path in found if path in known or _is_below(path, folders)]


def _read_status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None


def _copy_file(source: Path, tree: Path, path: str) -> bool:
    """Copy one file or link to the path in the tree; False where that is not possible."""
    target = tree / path
    if not _make_folder(tree, path):
        return False
    with suppress(OSError):  # such as of a folder of the tree that is in the way
        target.unlink(missing_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
        return True
    return False


def _make_folder(tree: Path, path: str) -> bool:
    """Make the folders on the way to a path; False if a link or a file is in the way."""
    for parent in reversed(PurePosixPath(path).parents[:-1]):
        folder = tree / parent
        with suppress(FileExistsError):
            folder.mkdir()
        if folder.is_symlink() or not folder.is_dir():
            return False
    return True
