"""Which changes of a repository's configuration neither make git run something nor lead it
elsewhere: those that a person's daily work makes meanwhile. All others are put back.
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
_CONFIGS = ("config", "config.worktree")


class SettingsFolder(NamedTuple):
    """A folder of git's, the names in it that count, and how messages call it."""

    path: str
    names: tuple[str, ...]
    label: str = ""

    def label_file(self, name: str) -> str:
        """How a file is called: `hooks/pre-commit`, `.git/config`, `modules/x/hooks/pre-commit`."""
        if not self.label and "/" in name:
            return name
        return f"{self.label or Path(self.path).name}/{name}"


def _is_relevant(folder: OpenFolder, name: str) -> bool:
    """Git runs no sample, which every repository has a dozen of."""
    if not name.endswith(".sample"):
        return True
    found = folder.stat_entry(name)
    return found is None or not stat.S_ISREG(found.st_mode)


def _list_settings_folders(toplevel: Path) -> Iterator[SettingsFolder]:
    """The folders of git's that count in a work tree: the repository's and its own, those of
    submodules, and of other linked work trees what leads git elsewhere.
    """
    own = Path(os.path.realpath(find_git_dir(toplevel)))
    common = find_common_dir(toplevel) or own
    yield from _of_repository(common)
    if (toplevel / ".git").is_file():
        yield SettingsFolder(os.fspath(toplevel), (".git",))
    if own != common:
        yield SettingsFolder(str(own), (*_FILES, "info"), f"worktrees/{own.name}")
    for other in _folders(common / "worktrees"):
        if other.name != own.name:
            names = ("config.worktree", "commondir")
            yield SettingsFolder(str(other), names, f"worktrees/{other.name}")
    for module in _modules(common / "modules"):
        yield from _of_repository(module, module.relative_to(common).as_posix())
    for path in list_submodule_paths(toplevel):
        entry = toplevel / path / ".git"
        if entry.is_file():
            yield SettingsFolder(str(toplevel / path), (".git",), path)
        elif entry.is_dir() and not entry.is_symlink():
            yield from _of_repository(entry, f"{path}/.git")


def _of_repository(folder: Path, label: str = "") -> Iterator[SettingsFolder]:
    yield SettingsFolder(os.fspath(folder), (*_FILES, *_FOLDERS), label)
    for name in _CONFIGS:
        if (folder / name).is_symlink():  # as `git new-workdir` makes them: what it leads to counts
            real = Path(os.path.realpath(folder / name))
            yield SettingsFolder(str(real.parent), (real.name,), real.parent.name)


def _modules(folder: Path) -> Iterator[Path]:
    """The repositories of submodules; their names may have slashes, and they submodules."""
    for inner in _folders(folder):
        if (inner / "HEAD").is_file():
            yield inner
            yield from _modules(inner / "modules")
        else:
            yield from _modules(inner)


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as found:
            return sorted(Path(e.path) for e in found if e.is_dir(follow_symlinks=False))
    except OSError:
        return []


ConfigEntry = tuple[str, str]

_BRANCH = re.compile(r"branch\.(.+)\.(remote|merge|rebase)", re.DOTALL)
# What tools note for themselves: descriptions, pull requests, how a server wants to be asked.
_NOTES = re.compile(
    r"branch\..+\.(?:description|vscode-merge-base|gh-merge-base|github-pr-[a-z-]+)"
    r"|remote\..+\.gh-resolved|lfs\..+\.(?:access|locksverify)|lfs\.repositoryformatversion"
    r"|gui\.(?:wmstate|geometry)",
    re.DOTALL,
)
_REMOTE = re.compile(r"remote\.([\w.-]+)\.(url|fetch)", re.ASCII)
_REBASE = ("true", "false", "merges")
_HELPER = re.compile(r"-|[^/]*::")  # an option, or a program that is named by the address


def must_restore_config(toplevel: Path, old: bytes, new: bytes) -> bool:
    """Whether a changed configuration has to be put back; what git can't read has to."""
    before, after = _pairs(toplevel, old), _pairs(toplevel, new)
    if before is None or after is None:
        return True
    gone, came = Counter(before) - Counter(after), Counter(after) - Counter(before)
    kept = [pair for pair in before if pair not in gone]
    still = [pair for pair in after if pair not in came]
    if kept != still:  # of two values the last one counts
        return True
    had, has = {key for key, _ in before}, {key for key, _ in after}
    return not (
        all(_is_harmless_addition(pair, had, before) for pair in came)
        and all(_is_harmless_removal(key, has) for key, _ in gone)
    )


def _pairs(toplevel: Path, data: bytes) -> list[ConfigEntry] | None:
    """The keys and values, as git reads them; None for what it can't read."""
    # From any folder but the repository: a broken configuration would stop git there.
    answer = try_git(
        toplevel.parent, "config", "--list", "-z", "--no-includes", "--file", "-", stdin=data
    )
    if answer.exit_code:
        return None
    return [(key, value) for key, _, value in (e.partition("\n") for e in split_nul(answer.stdout))]


def _is_harmless_addition(
    pair: ConfigEntry, had: Collection[str], before: Sequence[ConfigEntry]
) -> bool:
    """A new remote leads nothing elsewhere, nor does a new upstream at a remote that was there."""
    key, value = pair
    if _NOTES.fullmatch(key):
        return True
    if found := _REMOTE.fullmatch(key):
        known = any(other.startswith(f"remote.{found[1]}.") for other in had)
        return not known and not _HELPER.match(value)
    found = _BRANCH.fullmatch(key)
    if found is None or key in had:
        return False
    if found[2] == "remote":
        return value == "." or any(k == f"remote.{value}.url" for k, _ in before)
    return value in _REBASE if found[2] == "rebase" else value.startswith("refs/heads/")


def _is_harmless_removal(key: str, has: Collection[str]) -> bool:
    """A branch or a remote may be deleted as a whole."""
    section = key.rpartition(".")[0]
    whole = not any(other.startswith(f"{section}.") for other in has)
    return bool(_NOTES.fullmatch(key)) or (whole and section.startswith(("branch.", "remote.")))
