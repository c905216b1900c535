"""The repositories that are measured, and which half of them settings are chosen on.

Whoever runs the benchmark names a folder of checkouts or git directories in `CUB_BENCH`, each
called as the repository or `owner+name`. Source distributions come from the package index through
pip. What is not there is left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CATALOGUE = {
    "bash": ("bats-core", "nvm"),
    "c": ("fmt", "jq", "redis"),
    "cpp": ("leveldb",),
    "csharp": ("dapper", "serilog"),
    "go": ("cobra", "gin", "hugo"),
    "java": ("gson",),
    "javascript": ("express", "koa"),
    "kotlin": ("okio",),
    "lua": ("telescope.nvim",),
    "php": ("guzzle", "slim"),
    "python": ("click", "django", "flask", "httpx", "requests", "scrapy"),
    "ruby": ("sinatra",),
    "rust": ("axum", "ripgrep"),
    "scala": ("cats", "os-lib"),
    "swift": ("alamofire",),
    "typescript": ("vite",),
    "Python, once more": ("attrs", "jinja2", "pytest", "sqlalchemy", "tornado"),
}
SDISTS = {
    "attrs": "attrs==25.3.0",
    "django": "django==5.2",
    "flask": "flask==3.1.2",
    "jinja2": "jinja2==3.1.6",
    "pytest": "pytest==8.4.2",
    "sqlalchemy": "sqlalchemy==2.0.43",
    "tornado": "tornado==6.5.2",
}
LANGUAGE = {name: language for language, names in CATALOGUE.items() for name in names}


def halves() -> tuple[list[str], list[str]]:
    """The half to choose settings on, and the half to report: the names in turn, by language."""
    names = list(LANGUAGE)
    return names[::2], names[1::2]


def given() -> Path | None:
    """The folder of repositories that `CUB_BENCH` names."""
    named = os.environ.get("CUB_BENCH")
    return Path(named) if named else None


class Repository(NamedTuple):
    """Where a repository lies: a git directory with a history, or a tree of files."""

    name: str
    place: Path
    history: bool


def present(folder: Path | None) -> dict[str, Repository]:
    """The repositories in a folder, by name."""
    entries = sorted(folder.iterdir()) if folder else []
    found = (_at(entry) for entry in entries if entry.is_dir())
    return {one.name: one for one in found if one is not None}


def _at(folder: Path) -> Repository | None:
    name = folder.name.rpartition("+")[2].lower().removesuffix(".git")
    for place in (folder, folder / "repo", folder / ".git"):
        if (place / "HEAD").is_file() and (place / "objects").is_dir():
            return Repository(name, place, history=True)
    return Repository(name, folder, history=False) if any(folder.iterdir()) else None


def download(name: str, scratch: Path) -> Path | None:
    """The unpacked source distribution, or nothing where pip cannot get it."""
    folder = scratch / f"sdist-{name}"
    folder.mkdir()
    words = ("download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(folder))
    pip = [sys.executable, "-m", "pip", *words, SDISTS[name]]
    if subprocess.run(pip, capture_output=True, check=False).returncode:
        return None
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return next(_folders(folder))


def _folders(folder: Path) -> Iterator[Path]:
    return (entry for entry in folder.iterdir() if entry.is_dir())
