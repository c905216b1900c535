"""The second part of `cub demo`: an agent breaks a test, is told so, and mends it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cub.cli import output
from cub.cli.run.play import play

if TYPE_CHECKING:
    from cub.actions.tasks.stores import Stores

_CHECK = "python -m unittest -q"
_TITLE = "Prices with tax"
_NET = "def net(cents):\n    return cents\n"
_TEST = """\
import unittest

import price


class Prices(unittest.TestCase):
    def test_{name}(self):
        self.assertEqual(price.{name}(100), {cents})
"""
_GROSS = {"test_gross.py": _TEST.format(name="gross", cents=119)}
_WRONG = _NET + "\n\ndef gross(cents):\n    return cents * 1.9\n"
_RIGHT = _NET + "\n\ndef gross(cents):\n    return cents * 119 // 100\n"
_FILES = {
    "price.py": _NET,
    "test_net.py": _TEST.format(name="net", cents=100),
    ".gitignore": "__pycache__/\n",
}
_GIT = (
    ("init", "-q", "-b", "main"),
    # The person's own signing and hooks are not for a scratch repository.
    ("config", "user.name", "cub demo"),
    ("config", "user.email", "demo@localhost"),
    ("config", "commit.gpgsign", "false"),
    ("config", "core.hooksPath", ".git/hooks"),
    ("add", "-A"),
    ("commit", "-q", "-m", "A shop with a test"),
)


def play_run(root: Path) -> None:
    """A run of two attempts: the first one breaks a test, the second one is told, and mends it."""
    if os.name != "posix" or shutil.which("git") is None:
        output.talk("The second part, `cub run`, needs git, and Linux or macOS.")
        return
    output.line()
    output.heading("Now a run. The agent plays a script, and gets it wrong at first.")
    for name, text in _FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    for words in _GIT:
        _git(root, *words)
    key = _task(root)
    _script(root, key)
    output.line()
    output.heading("$ cub run --harness scripted")
    _run(root)
    _tell_retry(root, key)
    output.line()
    output.heading("$ git log --oneline")
    for line in _git(root, "log", "--oneline").splitlines():
        output.line(line)
    _prove(root, key)


def _task(root: Path) -> str:
    from cub.actions.tasks.add import add
    from cub.actions.tasks.draft import Draft

    output.line()
    output.heading(f'$ cub task add "{_TITLE}" --check "{_CHECK}"')
    outcome = add(_stores(root), Draft(_TITLE, checks=[_CHECK]))
    key = str(outcome.tasks[0]["id"])
    output.line(key)
    return key


def _script(root: Path, key: str) -> None:
    steps = [
        {"say": "I add gross().", "files": {"price.py": _WRONG, **_GROSS}, "close": "done"},
        {"say": "I mend the tax.", "files": {"price.py": _RIGHT, **_GROSS}, "close": "done"},
    ]
    text = json.dumps({"tasks": {key: steps}}, indent=1)  # JSON is YAML, too
    (root / ".cub" / "script.yaml").write_text(text, encoding="utf-8")


def _run(root: Path) -> None:
    from cub.actions.run.settings import Asked

    # The check is to find this very Python, and the agent this very cub.
    here = Path(__file__).parents[3].as_posix()
    path = os.pathsep.join([Path(sys.executable).parent.as_posix(), os.environ.get("PATH", "")])
    known = os.environ.get("PYTHONPATH")
    python = {"PYTHONPATH": os.pathsep.join(filter(None, [here, known]))}
    environ = {**os.environ, "PATH": path, **python}
    asked = Asked(harness="scripted", trust=True)
    play(_stores(root), asked, None, json=False, environ=environ)


def _tell_retry(root: Path, key: str) -> None:
    """What the second attempt was told: the failing test, by its name."""
    output.line()
    output.heading("The prompt of the second attempt says why the first one failed:")
    (prompt,) = (root / ".cub" / "runs").glob(f"*/{key}/2/prompt.md")
    _, _, told = prompt.read_text(encoding="utf-8").partition("## PREVIOUS ATTEMPT\n\n")
    for line in told.partition("\n## ")[0].rstrip().splitlines():
        output.line(f"  {line}".rstrip())


def _prove(root: Path, key: str) -> None:
    """The task is done, by one commit, and nothing of the first attempt is left."""
    from cub.errors import InternalError

    closed = _stores(root).backend.read()[key].done
    commits = _git(root, "log", "--format=%s").count(_TITLE)
    left = (root / "price.py").read_text(encoding="utf-8")
    if not closed or commits != 1 or left != _RIGHT:
        raise InternalError("the demo's task did not end as it should", where=key)
    output.line()
    output.heading("The task is closed, with one commit; of the first attempt, a patch is left.")


def _stores(root: Path) -> Stores:
    from cub.actions.tasks.stores import open_stores
    from cub.project.project import Project

    return open_stores(Project.load(root), "cub demo")


def _git(root: Path, *words: str) -> str:
    from cub.git.calling import call

    return call(root, *words).decode("utf-8", "replace")
