"""List the files that decide how git behaves in a repository, and judge changed configuration.

Changes that neither make git run something nor lead it elsewhere stay: a person's daily work makes
them. All others are put back.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cub.git.folder_entries import OpenFolder
from cub.git.process import split_nul, try_git
from cub.git.worktree import find_common_dir, find_git_dir, list_submodule_paths

_FOLDERS = ("hooks", "info")
_FILES = (
    "config", "config.worktree", "commondir", "gitdir", "shallow", "objects/info/alternates",
    "objects/info/http-alternates",
)  # fmt: skip
CONFIG_FILES = ("config", "config.worktree")
ConfigEntry = tuple[str, str]

_BRANCH = re.compile(r"branch\.(.+)\.(remote|merge|rebase)", re.DOTALL)
# What tools write for themselves: descriptions, pull requests, how a server wants to be asked.
_NOTES = re.compile(
    r"branch\..+\.(?:description|vscode-merge-base|gh-merge-base|github-pr-[a-z-]+)"
    r"|remote\..+\.gh-resolved|lfs\..+\.(?:access|locksverify)|lfs\.repositoryformatversion"
    r"|gui\.(?:wmstate|geometry)",
    re.DOTALL,
)
_REMOTE = re.compile(r"remote\.([\w.-]+)\.(url|fetch)", re.ASCII)
_REBASE = ("true", "false", "merges")
_HELPER = re.compile(r"-|[^/]*::")  # an option, or a program that is named by the address


class SettingsFolder(NamedTuple):
    """Describe a folder of git's, the names in it that count, and its name in messages."""

    path: str
    names: tuple[str, ...]
    label: str = ""

    def label_file(self, name: str) -> str:
        """Return a name for messages: `hooks/pre-commit`, `.git/config`, `modules/x/hooks/a`."""
        if not self.label and "/" in name:
            return name
        return f"{self.label or Path(self.path).name}/{name}"


def list_settings_folders(toplevel: Path) -> Iterator[SettingsFolder]:
    """Yield the folders of git's that count in a work tree: the repository's and its own, those of
    submodules, and of other linked work trees what leads git elsewhere.
    """
    own = Path(os.path.realpath(find_git_dir(toplevel)))
    common = find_common_dir(toplevel) or own
    yield from _list_repository_folders(common)
    if (toplevel / ".git").is_file():
        yield SettingsFolder(os.fspath(toplevel), (".git",))
    if own != common:
        yield SettingsFolder(str(own), (*_FILES, "info"), f"worktrees/{own.name}")
    for other in _list_subfolders(common / "worktrees"):
        if other.name != own.name:
            names = ("config.worktree", "commondir")
            yield SettingsFolder(str(other), names, f"worktrees/{other.name}")
    for module in _find_submodule_repositories(common / "modules"):
        yield from _list_repository_folders(module, module.relative_to(common).as_posix())
    for path in list_submodule_paths(toplevel):
        entry = toplevel / path / ".git"
        if entry.is_file():
            yield SettingsFolder(str(toplevel / path), (".git",), path)
        elif entry.is_dir() and not entry.is_symlink():
            yield from _list_repository_folders(entry, f"{path}/.git")


def list_relevant_names(folder: OpenFolder) -> list[str]:
    """List the names in a folder without samples of hooks: git runs none."""
    return [name for name in folder.list_names() if not _is_sample(folder, name)]


def _is_sample(folder: OpenFolder, name: str) -> bool:
    status = folder.stat_entry(name) if name.endswith(".sample") else None
    return status is not None and stat.S_ISREG(status.st_mode)


def _list_repository_folders(folder: Path, label: str = "") -> Iterator[SettingsFolder]:
    yield SettingsFolder(os.fspath(folder), (*_FILES, *_FOLDERS), label)
    for name in CONFIG_FILES:
        if (folder / name).is_symlink():  # as `git new-workdir` makes them: what it leads to counts
            real = Path(os.path.realpath(folder / name))
            yield SettingsFolder(str(real.parent), (real.name,), real.parent.name)


def _find_submodule_repositories(folder: Path) -> Iterator[Path]:
    """Yield the repositories of submodules, nested ones too; their names may have slashes."""
    for inner in _list_subfolders(folder):
        if (inner / "HEAD").is_file():
            yield inner
            yield from _find_submodule_repositories(inner / "modules")
        else:
            yield from _find_submodule_repositories(inner)


def _list_subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(e.path) for e in entries if e.is_dir(follow_symlinks=False))
    except OSError:
        return []


def must_restore_config(toplevel: Path, old: bytes, new: bytes) -> bool:
    """Return whether a changed configuration must be put back; what git can't read must be."""
    before, after = _parse_config(toplevel, old), _parse_config(toplevel, new)
    if before is None or after is None:
        return True
    gone, came = Counter(before) - Counter(after), Counter(after) - Counter(before)
    # The order matters: of two values the last one counts.
    if [pair for pair in before if pair not in gone] != [p for p in after if p not in came]:
        return True
    had, has = {key for key, _ in before}, {key for key, _ in after}
    return not (
        all(_is_harmless_addition(pair, had, before) for pair in came)
        and all(_is_harmless_removal(key, has) for key, _ in gone)
    )


def _parse_config(toplevel: Path, data: bytes) -> list[ConfigEntry] | None:
    """Return the keys and values, as git reads them; None for what it can't read."""
    # From any folder but the repository: a broken configuration would stop git there.
    words = ("config", "--list", "-z", "--no-includes", "--file", "-")
    result = try_git(toplevel.parent, *words, stdin=data)
    if result.exit_code:
        return None
    rows = (row.partition("\n") for row in split_nul(result.stdout))
    return [(key, value) for key, _, value in rows]


def _is_harmless_addition(
    pair: ConfigEntry, had: Collection[str], before: Sequence[ConfigEntry]
) -> bool:
    """Return whether an entry is a tool's note, of a new remote, or a known remote's upstream."""
    key, value = pair
    if _NOTES.fullmatch(key):
        return True
    if match := _REMOTE.fullmatch(key):
        is_known = any(other.startswith(f"remote.{match[1]}.") for other in had)
        return not is_known and not _HELPER.match(value)
    match = _BRANCH.fullmatch(key)
    if match is None or key in had:
        return False
    if match[2] == "remote":
        return value == "." or any(k == f"remote.{value}.url" for k, _ in before)
    return value in _REBASE if match[2] == "rebase" else value.startswith("refs/heads/")


def _is_harmless_removal(key: str, has: Collection[str]) -> bool:
    """Return whether an entry is a tool's note, or of a branch or remote that is gone entirely."""
    section = key.rpartition(".")[0]
    is_gone = not any(other.startswith(f"{section}.") for other in has)
    return bool(_NOTES.fullmatch(key)) or (is_gone and section.startswith(("branch.", "remote.")))
