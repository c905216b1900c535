"""Fixtures that every test may use: an empty project, and cub as a real process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

# CI wants at least 1,000 examples of each property; a person at work wants an answer soon.
settings.register_profile("ci", max_examples=1000, deadline=None, derandomize=True)
settings.register_profile("dev", max_examples=100, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
# For properties of whole projects, which cost up to 60 ms an example.
few_examples = settings(max_examples=min(300, settings().max_examples))

GOLDEN = Path(__file__).parents[1] / "golden"


@dataclass(frozen=True, slots=True)
class Result:
    """What a finished command left: exit code, stdout and stderr as text."""

    code: int
    out: str
    err: str


Cub = Callable[..., Result]


def environment(home: Path) -> dict[str, str]:
    """An environment in which nothing of this machine or this person shows."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "SYSTEMROOT", "LANG", "TMPDIR")}
    return {
        **kept,
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "TZ": "UTC",
        "COLUMNS": "100",
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }


@pytest.fixture(autouse=True, scope="session")
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests do in this very process leaves nothing in the person's own folders."""
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))
        here.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def original_datadir(request: pytest.FixtureRequest) -> Path:
    """Golden output of a test module lies in golden/<its package>/<its name>/."""
    return GOLDEN.joinpath(*request.path.relative_to(Path(__file__).parent).with_suffix("").parts)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty folder that is a git repository."""
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q")
    return root.resolve()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home; what runs in this very process keeps its state there, too."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / ".local/state"))
    return folder


@pytest.fixture
def cub(project: Path, home: Path) -> Cub:
    """Run cub as a process of its own, in `project` unless `cwd` says otherwise."""

    def run(*arguments: str, cwd: Path = project, stdin: str = "", **env: str) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "cub", *arguments],
            cwd=cwd,
            env={**environment(home), **env},
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=60,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    return run


def git(root: Path, *arguments: str) -> str:
    """Run git with a person of its own."""
    who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *who, *arguments], cwd=root, capture_output=True, text=True, check=True
    )
    return done.stdout


def tree(root: Path) -> dict[str, bytes]:
    """Every file below `root` by its path, without .git."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }
