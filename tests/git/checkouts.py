"""Checkouts for tests: what is on disk of one, told exactly."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from tests.conftest import git

State = dict[str, tuple[str, bytes]]


def state(top: Path) -> State:
    """Every file and link by its path, with what git keeps of its mode."""
    found: State = {}
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name != ".git"]
        for name in (*names, *folders):
            path = Path(folder) / name
            if name != ".git" and (entry := told(path)):
                found[str(path.relative_to(top))] = entry
    return found


def told(path: Path) -> tuple[str, bytes] | None:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return "link", os.fsencode(path.readlink())
    if stat.S_ISREG(mode):
        return "program" if mode & 0o100 else "file", path.read_bytes()
    return None


def lines(top: Path) -> list[str]:
    """What a person sees of the checkout's condition."""
    return git(top, "status", "--porcelain", "--branch", "-uall").splitlines()


def save(top: Path, message: str = "x") -> str:
    git(top, "add", "-A")
    git(top, "commit", "-q", "--allow-empty", "-m", message)
    return git(top, "rev-parse", "HEAD").strip()


def copy_repository(template: Path, folder: Path) -> Path:
    """Copy a repository that was made once to the project in `folder`."""
    return Path(shutil.copytree(template, folder / "project", symlinks=True)).resolve()
