"""The README's quick start prints what it shows, and its commands are the ones that CI runs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.docs.pages import commands, difference, typed
from tests.docs.recording import normalize_output

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
# Stands in for Claude Code: one change, and the end of its stream.
CLAUDE = r"""#!/bin/sh
[ "$1" = --version ] && echo "2.1.330 (Claude Code)" && exit
printf '\n\ndef rest(loaves):\n    return loaves %% 12\n' >> bread.py
echo '{"type": "system", "subtype": "init", "session_id": "s", "model": "claude-sonnet-4-5"}'
echo '{"type": "result", "is_error": false, "result": "Status: done", "total_cost_usd": 0.0075,' \
  '"usage": {"input_tokens": 2000, "output_tokens": 100}}'
"""
BAKERY = {
    "AGENTS.md": "# Bakery\n\nBread is counted in dozens.\n",
    "bread.py": "def dozens(loaves):\n    return loaves // 12\n",
    "test_bread.py": (
        "import unittest\n\nfrom bread import dozens\n\n\nclass Bread(unittest.TestCase):\n"
        "    def test_dozens(self):\n        self.assertEqual(dozens(30), 2)\n"
    ),
    ".gitignore": "__pycache__/\n",
}


def test_ci_runs_the_two_commands_that_set_up() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    found = [line for line in lines if line.startswith("python3 -m venv ")]
    assert len(found) == 2
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for command, part in zip(found, ("cub demo", "python -m tests"), strict=True):
        assert part in command
        assert f"readme '{part}'" in script


@pytest.mark.thorough
@pytest.mark.skipif(
    os.name != "posix" or shutil.which("bash") is None, reason="the commands are for a shell"
)
def test_the_quick_start_prints_what_it_shows(tmp_path: Path, home: Path) -> None:
    (home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    (home / "bin").mkdir()
    (home / "bin" / "claude").write_text(CLAUDE)
    (home / "bin" / "claude").chmod(0o755)
    folder = tmp_path / "bakery"
    folder.mkdir()
    for name, text in BAKERY.items():
        (folder / name).write_text(text)
    shown = commands(README)
    for name in ("git", "python3"):  # beside them, other agents may be installed
        (home / "bin" / name).symlink_to(str(shutil.which(name)))
    before = ['export PATH="$HOME/bin:/usr/bin:/bin"', "git init -q", "git add -A"]
    before.append("git commit -q -m Start")
    results = typed([*before, *(command.text for command in shown)], folder, home)
    for command, done in zip(shown, results[len(before) :], strict=True):
        assert done.code == 0, done.output
        lines = normalize_output("\n".join(command.shown)).splitlines()
        real = normalize_output("\n".join(done.output)).splitlines()
        assert difference(tuple(lines), real) == "", "\n".join(done.output)
