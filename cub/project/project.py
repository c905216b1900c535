"""A project: its root folder and its configuration, and how both are found."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from cub import __version__, git
from cub.debug_log import log_debug
from cub.errors import CubError
from cub.files import Tree
from cub.files.reading import trouble
from cub.project import config
from cub.project.config import CONFIG, SCHEMA, Config


@dataclass(frozen=True, slots=True)
class Project:
    """`root` is an absolute path without links; `config` is what its file asks for; `tree` holds
    its files; `committed` says that they are a commit's, so that none of them is local.
    """

    root: Path
    config: Config
    tree: Tree
    committed: bool = False

    @classmethod
    def load(cls, root: Path) -> Project:
        """The project at `root`, its configuration read and checked."""
        return cls.of(root, git.GitWorkTree(root))

    @classmethod
    def of(
        cls, root: Path, tree: Tree, *, committed: bool = False, schema: int = SCHEMA
    ) -> Project:
        """The project at `root` with the files of `tree`, its configuration read and checked.

        `schema` is the newest one that may be recorded.
        """
        parsed = config.parse(tree.read(CONFIG), version=__version__, schema=schema)
        return cls(root, parsed, tree, committed)

    def ignores(self, path: str) -> bool:
        """Whether git keeps `path` out of other checkouts."""
        return not self.committed and git.ignored(self.root, path)


def find_root(start: Path) -> Path:
    """The project around the folder `start`.

    The nearest folder with a `.cub/`, up to the top of the git work tree; else that top; else
    `start`. A top that is the home folder, or that ignores `start`, is no project's.
    """
    named = start.as_posix()
    try:
        start = Path(os.path.realpath(start, strict=True))
    except (FileNotFoundError, NotADirectoryError):
        raise CubError("there is no such folder", where=named) from None
    except OSError as error:
        raise trouble(error, named, "cannot be opened") from error
    if not start.is_dir():
        raise CubError("this is not a folder", where=named)
    if git.is_bare(start):
        raise CubError(
            "this is a bare repository: it has no files for cub",
            where=named,
            hint="run cub in a clone of it; only `cub diff REV..REV` works here",
        )
    top, home = git.top_level(start), _home()
    counts = top is not None and top != home and not _ignores(top, start)
    for folder in (start, *start.parents):
        if (folder == top and not counts) or (folder == home != start):
            break
        if (folder / ".cub").is_dir():
            log_debug(f"the project is {folder.as_posix()}: it has a .cub/")
            return folder
        if folder == top:
            break
    root, why = (
        (top, "the top of a git work tree") if top and counts else (start, "no .cub/, no git")
    )
    log_debug(f"the project is {root.as_posix()}: {why}")
    return root


def _ignores(top: Path, folder: Path) -> bool:
    return top != folder and git.ignored(top, folder.as_posix())


def _home() -> Path | None:
    try:
        return Path(os.path.realpath(Path.home()))
    except RuntimeError:  # no HOME and no such user
        return None
