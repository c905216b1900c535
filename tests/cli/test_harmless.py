"""Nobody else's text moves a terminal, whatever command shows it and wherever it comes from."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

import pytest

import cub
from cub.cli.terminal import add_style, escape_unsafe, render_styles
from tests.cli.hostile import BRANCH, HOSTILE, left_over, plant, without_drawing
from tests.cli.terminal import in_terminal
from tests.conftest import Cub

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")

ARGUMENT = HOSTILE.replace("\ud800", "")
READING = [
    ["task", "list"], ["task", "list", "--status", "all", "--tree"], ["task", "ready"],
    ["task", "show", "a-1"], ["task", "stats"], ["doctor"], ["task", "export"],
    ["ledger", "show", "a-1"], ["ledger", "list"], ["ledger", "stats"], ["ledger", "tail"],
    ["run", "status"], ["run", "--harness", "scripted", "--dry-run"], ["config", "show"],
    ["config", "get", "run.message"],
    ["config", "get", "run.checks"], ["config", "path"], ["init", "--diff"], ["init", "--dry-run"],
    ["update", "--check"], ["status"], ["status", "-v"], ["map"], ["prompt", "a-1"],
    ["prompt", "--system"], ["diff"], ["diff", f"{BRANCH}..{BRANCH}"], ["repair"],
    ["trust", "--show"], ["task", "show", "a-1", "--json"], ["ledger", "list", "--json"],
    ["config", "show", "--json"], ["run", "status", "--json"],
    # What was typed, or pasted, and comes back in an error.
    [ARGUMENT], [f"--{ARGUMENT}"], ["task", ARGUMENT], ["task", "show", ARGUMENT],
    ["task", "add", "x", "--priority", ARGUMENT], ["config", "get", ARGUMENT], ["help", ARGUMENT],
    ["diff", ARGUMENT], ["-C", ARGUMENT, "status"], ["diff", "--format", ARGUMENT],
    ["run", "--harness", ARGUMENT, "--dry-run"], ["task", "import", ARGUMENT], ["map", ARGUMENT],
    ["--show-completion", ARGUMENT],
]  # fmt: skip
SCRIPT = """
import json, sys
from cub.cli.app import run_command_line as run
for command in json.loads(sys.argv[1]):
    print(f"\\n$ {command[:3]!a} exits with {run(command)}", flush=True)
"""


def _run_all(commands: list[list[str]], root: Path, home: Path, **env: str) -> str:
    screen = in_terminal(json.dumps(commands), cwd=root, home=home, program=("-c", SCRIPT), **env)
    assert screen.text.count("exits with") == len(commands)
    assert "exits with 3" not in screen.text
    return screen.text


@posix
@pytest.mark.parametrize(
    "colors",
    [
        pytest.param({}, id="colors"),
        pytest.param({"NO_COLOR": "1"}, id="no colors", marks=pytest.mark.thorough),
    ],
)
def test_no_command_sends_a_terminal_what_is_not_cub_s(
    project: Path, home: Path, colors: dict[str, str]
) -> None:
    plant(project)
    seen = _run_all(READING, project, home, **colors)
    parts = seen.split("\n$ ")
    assert [part for part in parts if left_over(without_drawing(part))] == []
    assert "\\x1b[2J" in seen


@posix
def test_variables_of_the_environment_are_texts_of_somebody_else(project: Path, home: Path) -> None:
    plant(project)
    said = {"CUB_PROFILE": ARGUMENT, "CUB_AGENT": ARGUMENT, "EDITOR": ARGUMENT}
    seen = _run_all([["config", "show"], ["task", "edit", "a-1"]], project, home, **said)
    assert left_over(without_drawing(seen)) == set()


def test_a_pipe_gets_values_as_they_are_and_lines_that_are_harmless(
    project: Path, cub_process: Cub
) -> None:
    plant(project)
    made = [
        cub_process(*words).out
        for words in (["config", "get", "run.message"], ["task", "list"], ["ledger", "stats"])
    ]
    assert made[0] == f"{ARGUMENT}\n"
    assert [text for text in made[1:] if left_over(text)] == []


def test_marks_can_not_be_forged() -> None:
    styled = add_style("a", "red", "bold")
    assert render_styles(styled, use_color=True) == "\x1b[31m\x1b[1ma\x1b[0m"
    assert render_styles(styled, use_color=False) == "a"
    assert escape_unsafe(styled) == styled
    mark = styled.partition("[31m")[0]
    for forged in ("\x1b[31m", f"\x1b{'0' * 32}[31m", mark, f"{mark}[31", f"{mark}]0;x\x07"):
        assert "\x1b" not in render_styles(forged, use_color=True)
    assert render_styles(f"\x1b{styled}\x1b", use_color=True) == "\\x1b\x1b[31m\x1b[1ma\x1b[0m\\x1b"


# Where something else than cub.cli.output writes, and what.
WRITERS = {
    "__main__.py": "cub's own version, without loading anything",
    "cli/output.py": "everything",
    "actions/agents/recorded_start.py": "a process whose output is read by its parent",
    "agent/tools/html_to_markdown.py": "a process whose output is read by WebFetch",
    "agent/tools/search_program.py": "a process whose output is read by Grep",
    "harness/acp/__main__.py": "the child that talks with an agent, read by the run",
    "harness/script_player.py": "the scripted agent, a process whose output is read by the run",
}
# rich draws by itself: cub.cli.output gives it its texts.
DRAWERS = {"cli/plan_command.py", "cli/commands/run/live_view.py"}
# A word of all that writes or draws: what has none need not be parsed.
_SAYS = re.compile("print|typer|stdout|stderr|rich")


def test_nothing_but_output_writes_to_the_streams() -> None:
    writing, drawing = set(), set()
    folder = Path(cub.__file__).parent
    for path in folder.rglob("*.py"):
        name = path.relative_to(folder).as_posix()
        text = path.read_text(encoding="utf-8")
        if not _SAYS.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            words = f"{ast.unparse(node.func)}(" if isinstance(node, ast.Call) else ""
            if words.startswith(
                ("print(", "typer.echo(", "typer.secho(", "typer.style(", "typer.confirm(",
                 "typer.prompt(", "sys.stdout.write(", "sys.stderr.write(", "sys.stdout.buffer.",
                 "sys.stderr.buffer.", "sys.stdout.writelines(", "sys.stderr.writelines(")
            ):  # fmt: skip
                writing.add(name)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rich"):
                drawing.add(name)
    assert writing == {*WRITERS}
    assert drawing == DRAWERS
