"""Find a project's root and configuration, and resolve a PATH of the command line to a target."""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass
from pathlib import Path

from cub.debug_log import log_debug
from cub.errors import CubError, UsageError
from cub.files.file_tree import FileTree
from cub.files.read_files import make_os_error
from cub.files.temporary_files import remove_stale_temps
from cub.git.tracked_files import GitDiskTree
from cub.git.worktree import find_toplevel, is_bare_repository, is_ignored
from cub.project.config import CONFIG_FILE, CONFIG_SCHEMA, ProjectConfig, parse_config
from cub.project.targets import find_target, find_target_problem, normalize_target


@dataclass(frozen=True, slots=True)
class Project:
    """Hold a project: its absolute `root` without links, its `config` and the `tree` of its files.

    `is_commit` says that the files are a commit's, so that none of them is local. `config_data` are
    the bytes of the configuration, read once: what a user approves is what counts and runs.
    """

    root: Path
    config: ProjectConfig
    tree: FileTree
    is_commit: bool = False
    config_data: bytes | None = None

    @classmethod
    def load(cls, root: Path) -> Project:
        """Load the project at `root`, with its configuration read and checked."""
        return cls.from_tree(root, GitDiskTree(root))

    @classmethod
    def from_tree(
        cls, root: Path, tree: FileTree, *, is_commit: bool = False, schema: int = CONFIG_SCHEMA
    ) -> Project:
        """Load the project at `root` from `tree`; `schema` is the newest that may be recorded."""
        data = tree.read(CONFIG_FILE)
        parsed = parse_config(data, schema=schema)
        return cls(root, parsed, tree, is_commit, data)

    def is_ignored(self, path: str) -> bool:
        """Return whether git keeps `path` out of other checkouts."""
        return not self.is_commit and is_ignored(self.root, path)


def find_project_root(start: Path) -> Path:
    """Return the root of the project around the folder `start`.

    The nearest folder with a `.cub/`, up to the top of the git working tree; else that top; else
    `start`. A top that is the home folder, or that ignores `start`, is not a project's. What a
    killed command was writing in the `.cub/` is removed.
    """
    start_name = start.as_posix()
    try:
        start = Path(os.path.realpath(start, strict=True))
    except (FileNotFoundError, NotADirectoryError):
        raise CubError("no such directory", where=start_name) from None
    except OSError as error:
        raise make_os_error(error, start_name, "cannot be opened") from error
    if not start.is_dir():
        raise CubError("not a directory", where=start_name)
    if is_bare_repository(start):
        raise CubError(
            "this is a bare repository, without a working tree",
            where=start_name,
            hint="run cub in a clone; only `cub diff REV..REV` works here",
        )
    top, home = find_toplevel(start), find_home()
    counts = top is not None and top != home and not _is_ignored_by(top, start)
    for folder in (start, *start.parents):
        if (folder == top and not counts) or (folder == home != start):
            break
        if (folder / ".cub").is_dir():
            log_debug(f"the project is {folder.as_posix()}: it has a .cub/")
            remove_stale_temps(folder / ".cub")
            remove_stale_temps(folder / ".cub" / "cache")
            return folder
        if folder == top:
            break
    root, why = (
        (top, "the top of a git working tree") if top and counts else (start, "no .cub/, no git")
    )
    log_debug(f"the project is {root.as_posix()}: {why}")
    return root


def resolve_target(project: Project, path: str) -> str:
    """Return the target that `path`, relative to the root, names; UsageError if none can be."""
    tree, path = project.tree, _spell_as_listed(project.tree, path)
    if tree.has_folder(path):
        names = tree.list_names(path)
        only_claude = "CLAUDE.md" in names and "AGENTS.md" not in names
        path = posixpath.join(path, "CLAUDE.md" if only_claude else "AGENTS.md")
    elif not tree.has_folder(posixpath.dirname(path)) or find_target(path) is None:
        raise UsageError("no such directory or instruction file", where=path)
    if problem := find_target_problem(path):
        raise UsageError(f"this {problem}", where=path)
    _require_same_repository(project, path)
    return path


def _spell_as_listed(tree: FileTree, path: str) -> str:
    """Return `path` with its folders spelled as listed: other disks may be case-sensitive."""
    spelled = ""
    for name in normalize_target(path).split("/") if normalize_target(path) != "." else ():
        step = posixpath.join(spelled, name)
        names = tree.list_names(spelled)
        if name not in names and tree.has_folder(step):
            variants = (other for other in sorted(names) if other.casefold() == name.casefold())
            step = posixpath.join(spelled, next(variants, name))
        spelled = step
    return spelled


def _require_same_repository(project: Project, path: str) -> None:
    for folder in (project.root / path).parents:
        if folder == project.root:
            return
        if find_toplevel(folder) == folder:
            raise UsageError(
                "this path is in another git repository",
                where=path,
                hint=f"run cub there: cub -C {folder.relative_to(project.root).as_posix()} init",
            )


def _is_ignored_by(top: Path, folder: Path) -> bool:
    return top != folder and is_ignored(top, folder.as_posix())


def find_home() -> Path | None:
    """Return the user's home folder without links; None if there is none."""
    try:
        return Path(os.path.realpath(Path.home()))
    except RuntimeError:  # no HOME and no such user
        return None
