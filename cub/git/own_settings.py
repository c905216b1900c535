"""What decides how git behaves in a repository: configuration, hooks, attributes, excludes.

An agent that changes them changes what a commit is, or where git writes. They are kept before an
attempt, and put back; what stood there instead is kept aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cub.git.calling import ask, split
from cub.git.place import git_folder
from cub.git.worktree import common_folder

# Other keys, of branches and remotes for instance, are as likely changed by the person meanwhile.
_KEYS = re.compile(
    r"(?:core|user|author|committer|commit|gpg|filter|diff|merge|include|includeif|extensions)\..*"
)
_LARGEST = 1 << 20  # bytes


class File(NamedTuple):
    """A file's bytes and its permission bits."""

    data: bytes
    mode: int


Settings = dict[Path, File]


def kept(top: Path) -> Settings:
    """The files as they are now."""
    return {path: File(path.read_bytes(), path.stat().st_mode & 0o777) for path in _files(top)}


def put_back(top: Path, before: Settings, aside: Path) -> list[str]:
    """Make the files what they were, and keep in `aside` what they are; their names."""
    changed = []
    now = kept(top)
    for path in sorted({*before, *now}):
        old, new = before.get(path), now.get(path)
        if old == new or not _matters(top, path, old, new):
            continue
        name = f"{path.parent.name}/{path.name}"
        if new:
            aside.mkdir(parents=True, exist_ok=True)
            (aside / name.replace("/", "-")).write_bytes(new.data)
        if old is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(old.data)
            path.chmod(old.mode)
        changed.append(name)
    return changed


def _files(top: Path) -> Iterator[Path]:
    common, own = common_folder(top) or top / ".git", git_folder(top)
    for path in (common / "config", own / "config.worktree"):
        if path.is_file():
            yield path
    for folder in (common / "info", common / "hooks"):
        for path in sorted(folder.glob("*")):
            if path.is_file() and path.suffix != ".sample" and path.stat().st_size <= _LARGEST:
                yield path


def _matters(top: Path, path: Path, old: File | None, new: File | None) -> bool:
    """Whether a change is one of git's behaviour; of configurations, not all keys are."""
    if not path.name.startswith("config"):
        return True
    return old is None or new is None or _keys(top, old.data) != _keys(top, new.data)


def _keys(top: Path, data: bytes) -> list[str]:
    """The settings that matter, as git reads them; what it can't read matters as a whole."""
    # From any folder but the repository: a broken configuration would stop git there.
    answer = ask(top.parent, "config", "--list", "-z", "--no-includes", "--file", "-", stdin=data)
    if answer.code:
        return [data.decode("utf-8", "replace")]
    return [entry for entry in split(answer.out) if _KEYS.match(entry.partition("\n")[0])]
