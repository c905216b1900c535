"""`.cub` and the files directly in it: of which kind they are and what their rights are, recorded
before an attempt, and made so again where the attempt put something else in their place.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

FOLDER = ".cub"
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFREG: "a file",
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
}


class Restored(NamedTuple):
    """What stood in the place of something else, in words, and whose rights were other ones."""

    replaced: list[str]
    rights: list[str]


def record_modes(root: Path) -> dict[str, int]:
    """Record the kind and the rights (st_mode) of `.cub` below `root` and of what is in it."""
    found = {FOLDER: _mode(root / FOLDER)}
    with suppress(OSError):
        for path in sorted((root / FOLDER).iterdir()):
            if not path.name.endswith(".tmp"):
                found[f"{FOLDER}/{path.name}"] = _mode(path)
    return {name: mode for name, mode in found.items() if mode}


def restore_modes(root: Path, before: Mapping[str, int]) -> Restored:
    """Make way where something of another kind stands, and give back the rights.

    A link goes, and nothing that it leads to; anything else gets another name beside. What is gone
    is left to the caller, but for the folder itself. Raises OSError.
    """
    replaced, rights = list[str](), list[str]()
    for name, mode in before.items():  # the folder comes first
        path, now = root / name, _mode(root / name)
        if now and stat.S_IFMT(now) != stat.S_IFMT(mode):
            _make_way(path)
            replaced.append(f"{name} was replaced by {_KINDS.get(stat.S_IFMT(now), 'a device')}")
            now = 0
        if not now and name == FOLDER:
            path.mkdir()
            now = _mode(path)
        if now and stat.S_IMODE(now) != stat.S_IMODE(mode) and not stat.S_ISLNK(now):
            path.chmod(stat.S_IMODE(mode))
            rights.append(name)
    return Restored(replaced, rights)


def _make_way(path: Path) -> None:
    if path.is_symlink():
        path.unlink()
    else:
        path.rename(path.with_name(f"{path.name}.replaced-{token_hex(3)}"))


def _mode(path: Path) -> int:
    """The kind and the rights of what stands there, itself not followed; 0 for nothing."""
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0
