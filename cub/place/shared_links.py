"""Make a tree have the person's dependency folders: as mount points, or as links."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from cub.git.worktree import get_file_type, is_beyond_link

# For where shared folders can't be written, or would be the person's: uv would install the tree
# as a package into the environment before it runs anything.
READ_ONLY_VARIABLES: Mapping[str, str] = {"UV_NO_SYNC": "1"}
_MODULES = "node_modules"
_NESTED = (".bin",)  # and scopes, such as @types


def make_mount_points(toplevel: Path, tree: Path, paths: Iterable[str]) -> None:
    """Make folders in the tree for those of the checkout to be bound over."""
    for path in paths:
        if (toplevel / path).is_dir() and not is_beyond_link(tree, path):
            with suppress(OSError):  # a file of the tree is in the way
                (tree / path).mkdir(parents=True, exist_ok=True)


def list_mount_points(toplevel: Path, tree: Path, paths: Iterable[str]) -> list[str]:
    """Return the folders that are in both, and can be bound without leaving the tree."""
    return [
        path
        for path in paths
        if (toplevel / path).is_dir() and get_file_type(tree, path) == stat.S_IFDIR
    ]


def link_shared_folders(toplevel: Path, tree: Path, paths: Iterable[str]) -> None:
    """Make each of the checkout's folders be in the tree, as a link or, for node_modules, a folder
    of links: those to packages of the project then lead to the tree's own.

    What is there already stays.
    """
    for path in paths:
        source, target = toplevel / path, tree / path
        if os.path.lexists(target) or is_beyond_link(tree, path) or not source.is_dir():
            continue
        with suppress(OSError):  # a file of the tree is in the way
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.name == _MODULES:
                _link_entries(source, target, toplevel, tree)
            else:
                target.symlink_to(source, target_is_directory=True)


def remove_folder_links(tree: Path, paths: Iterable[str]) -> None:
    """Remove the links to folders from a tree, before anything follows them."""
    for path in paths:
        if not is_beyond_link(tree, path) and (tree / path).is_symlink():
            (tree / path).unlink()


def _link_entries(source: Path, target: Path, toplevel: Path, tree: Path) -> None:
    target.mkdir()
    for entry in os.scandir(source):
        path = target / entry.name
        if entry.is_symlink():
            text = os.readlink(entry.path)  # noqa: PTH115
            path.symlink_to(_lead_to_tree(text, toplevel, tree))
        elif entry.name in _NESTED or entry.name.startswith("@"):
            _link_entries(source / entry.name, path, toplevel, tree)
        else:
            path.symlink_to(entry.path, target_is_directory=entry.is_dir())


def _lead_to_tree(text: str, toplevel: Path, tree: Path) -> str:
    """Return where a link of the checkout leads in the tree; a relative one stays as it is."""
    path = Path(os.path.normpath(text))
    if not path.is_absolute() or not path.is_relative_to(toplevel):
        return text
    return os.fspath(tree.joinpath(*path.relative_to(toplevel).parts))
