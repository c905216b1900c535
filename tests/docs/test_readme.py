"""The README's picture is what cub really does, and its commands are the ones that CI runs."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.conftest import Cub

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _block(kind: str, number: int = 0) -> list[str]:
    return README.split(f"```{kind}\n")[number + 1].split("```")[0].splitlines()


def test_the_picture_is_the_diff(project: Path, cub: Cub) -> None:
    picture = _block("diff")
    theirs = [line[1:] for line in picture if not line.startswith("+")]
    (project / "AGENTS.md").write_text("\n".join(theirs) + "\n", encoding="utf-8")
    (project / "bread.py").write_text("DOZEN = 12\n", encoding="utf-8")
    printed = iter(cub("init", "--diff").out.splitlines())
    for line in picture:
        if line not in ("+…", ""):
            assert any(line.rstrip() == shown.rstrip() for shown in printed), line


def test_ci_runs_the_two_commands_that_set_up() -> None:
    commands = [line for line in README.splitlines() if line.startswith("python3 -m venv ")]
    assert len(commands) == 2
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for command, part in zip(commands, ("cub demo", "python -m tests"), strict=True):
        assert part in command
        assert f"readme '{part}'" in script


def test_the_other_commands_exist(cub: Cub, project: Path, home: Path) -> None:
    (project / "AGENTS.md").write_text("# Rules\n", encoding="utf-8")
    (home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    (project / ".cub").mkdir()
    (project / ".cub" / "script.yaml").write_text('tasks: {"*": [{files: {bread.py: "x"}}]}\n')
    assert cub("config", "set", "--user", "run.harness", "scripted").code == 0
    for line in _block("sh", 2):
        command = shlex.split(line, comments=True)[1:]
        assert cub(*command).code == 0, line
