"""Those who make maps: cub, and aider where `CUB_AIDER` names a Python that has it.

Each is a process of its own that gets a folder with an index and a number of tokens.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.map.touched import git
from tests.conftest import environment

AIDER_CACHE = ".aider.tags.cache.v4"
_AIDER_MAP = Path(__file__).with_name("aider_map.py")


def cub(tokens: int) -> list[str]:
    """The command that prints cub's map of the current folder."""
    return [sys.executable, "-m", "cub", "map", "--stdout", "--tokens", str(tokens)]


def aider(*words: str) -> list[str] | None:
    """The command that prints aider's map; without words, the one that does nothing."""
    python = os.environ.get("CUB_AIDER")
    return [python, str(_AIDER_MAP), *words] if python else None


def cub_text(root: Path, tokens: int, home: Path) -> str:
    """The map that is measured."""
    return _output(cub(tokens), root, home)


def aider_text(root: Path, tokens: int, home: Path) -> str | None:
    """Aider's map, from all tracked files as aider takes them."""
    command = aider(str(root), str(tokens))
    return _output(command, root, home, listing(root)) if command else None


def listing(root: Path) -> str:
    """The tracked files, one a line."""
    return git(root, "ls-files", "-z").replace("\0", "\n")


def _output(command: list[str], root: Path, home: Path, given: str = "") -> str:
    seeded = {**environment(home), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        command, cwd=root, env=seeded, input=given.encode(), capture_output=True, check=True
    )
    return done.stdout.decode("utf-8", "replace")
