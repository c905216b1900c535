from __future__ import annotations

from pathlib import Path

import pytest

from cub.cli.terminal_session.command_table import COMMANDS, find_command, list_candidates
from cub.cli.terminal_session.input_line import fit_status
from cub.cli.terminal_session.terminal_state import TerminalState
from cub.errors import UsageError
from tests.cli.terminal_session.conftest import Type


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/help", ("help", "")),
        ("/model  a b ", ("model", "a b")),
        ("/compact\n--force", ("compact", "--force")),
        ("/delete-session x", ("delete-session", "x")),
        ("/etc/hosts is what?", None),
        ("/nothing", None),
        (" /help", None),
        ("/", None),
        ("help", None),
        ("exit", ("quit", "")),
        ("exit the loop", None),
    ],
)
def test_a_command_is_found_by_its_whole_name(text: str, expected: tuple[str, str] | None) -> None:
    found = find_command(text)
    assert (found and (found[0].name, found[1])) == expected


def test_names_are_unique_and_every_row_has_help() -> None:
    names = [row.name for row in COMMANDS]
    assert len(set(names)) == len(names)
    assert all(row.help and row.help[0].islower() for row in COMMANDS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/clear mend the bug", "unexpected argument 'mend the bug'"),
        ("/history\n/quit", "unexpected argument '/quit'"),
        ("/map all", "unexpected argument 'all'"),
        ("/compact --now", "unexpected argument '--now'"),
        ("/delete-session", "missing ID"),
        ("/task", "missing ID"),
        ("/agents 9", "there is no agent '9'"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(enter: Type, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        enter(text)
    assert caught.value.hint != "choose from "


# The document's section 13, and what this session has besides.
WANTED = """
    help clear compact status cache model smallmodel tokens history retry agents save sessions
    resume delete-session undo reload quit
    skills permissions export tasks task checks map context mcp
"""


def test_all_commands_of_the_document_are_there() -> None:
    assert {row.name for row in COMMANDS} == set(WANTED.split())


def test_help_lists_all_commands_and_keys(enter: Type, capsys: pytest.CaptureFixture[str]) -> None:
    enter("/help")
    shown = capsys.readouterr().out
    assert all(f"/{row.name}" in shown for row in COMMANDS)
    assert "!COMMAND" in shown


def test_skills_are_completed_and_listed(
    state: TerminalState, bakery: Path, enter: Type, capsys: pytest.CaptureFixture[str]
) -> None:
    enter("/skills")
    assert "There are no skills." in capsys.readouterr().err
    folder = bakery / ".claude/skills/bake"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\ndescription: Bake bread\n---\nHeat the oven.\n")
    enter("/reload")
    enter("/skills")
    assert "/bake  Bake bread" in capsys.readouterr().out
    rows = list_candidates(state)
    assert rows["/bake"].help == "Bake bread"
    assert [*rows["/permissions"].values()][:2] == ["mode", "allow"]


@pytest.mark.parametrize(
    ("width", "line"),
    [(100, "ask · 50 % · $1 · model"), (12, "ask · 50 %"), (10, "ask · $1"), (3, "$1"), (2, "")],
)
def test_the_status_line_keeps_what_matters_most(width: int, line: str) -> None:
    assert fit_status(["ask", "50 %", "", "$1", "model"], width) == line
