"""What is shown as done is done: a plan that can't be written is not shown first."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.cli.app import run_command_line
from tests.cli.standing import MINE
from tests.conftest import tree

COMMANDS = ["init", "update", "remove", "remove --purge", "map", "config set run.max_attempts 5"]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which each command has something to do, and each file is read-only."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "shop"
    folder.mkdir()
    for name in ("AGENTS.md", "CLAUDE.md", "app.py"):
        (folder / name).write_bytes(MINE)
    run_command_line(["-C", str(folder), "init"])
    (folder / ".cub/config.yaml").write_bytes(b"inline: [constitution]\n")
    (folder / "shop.py").write_bytes(b"def sell():\n    return 2\n")
    for name in tree(folder):
        (folder / name).chmod(0o444)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_what_can_not_be_written_is_not_shown(
    root: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(root)
    capsys.readouterr()
    code = run_command_line(["-C", str(root), *command.split()])
    said = capsys.readouterr()
    assert (code, said.out, tree(root)) == (1, "", before)
    assert "this file is read-only; nothing was written" in said.err
