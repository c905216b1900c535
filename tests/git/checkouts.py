"""Checkouts for tests: what is on disk of one, told exactly, and one that holds a bit of all."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
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


def write(top: Path, files: Mapping[str, str | bytes]) -> None:
    for name, data in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)


def save(top: Path, message: str = "x") -> str:
    git(top, "add", "-A")
    git(top, "commit", "-q", "--allow-empty", "-m", message)
    return git(top, "rev-parse", "HEAD").strip()


def failing(top: Path, *words: str) -> None:
    """Run a git that is to fail."""
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    done = subprocess.run(["git", *who, *words], cwd=top, capture_output=True, check=False)
    assert done.returncode


def person(home: Path) -> dict[str, str]:
    """An environment in which git knows who commits."""
    names = {"NAME": "p", "EMAIL": "p@p"}
    who = {f"GIT_{role}_{k}": v for role in ("AUTHOR", "COMMITTER") for k, v in names.items()}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", **who}


def copy_repository(template: Path, folder: Path) -> Path:
    """Copy a repository that was made once to the project in `folder`."""
    return Path(shutil.copytree(template, folder / "project", symlinks=True)).resolve()


def furnished(top: Path) -> None:
    """Commit and leave about what an attempt may come upon."""
    write(
        top,
        {
            ".gitignore": "*.log\n/build/\n.env\n",
            ".gitattributes": "*.crlf text eol=crlf\n*.bin binary\n",
            "a.txt": "one\ntwo\n",
            "sub/b.txt": "b\n",
            "sub/deep/c.txt": "c\n",
            "run.sh": "#!/bin/sh\n",
            "win.crlf": "x\r\ny\r\n",
            "data.bin": bytes(range(256)),
            "dirty.txt": "committed\n",
        },
    )
    (top / "run.sh").chmod(0o755)
    (top / "link").symlink_to("a.txt")
    save(top)
    write(
        top,
        {
            "dirty.txt": "the person's\n",
            "mine.txt": "untracked\n",
            "own/mine.txt": "untracked too\n",
            ".env": "SECRET=1\n",
            "build/out.log": "ignored\n",
        },
    )
