"""A person sees which commands are to run, and decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.cli.context_exec import confirm_commands
from cub.context.context_commands import make_cli_commands
from cub.errors import CubError
from tests.cli.terminal import in_terminal

_PROGRAM = """
import io, sys
from cub.cli.context_exec import confirm_commands
from cub.context.context_commands import make_cli_commands
from cub.errors import CubError
sys.stdout = io.StringIO()
try:
    confirm_commands(make_cli_commands(["git status", "id"]))
    end = "RUN"
except CubError as error:
    end = error
print(f"{end}, and printed {sys.stdout.getvalue()!r}", file=sys.stderr)
"""


def test_without_a_terminal_nobody_can_confirm() -> None:
    with pytest.raises(CubError, match="stdin is not a terminal") as refused:
        confirm_commands(make_cli_commands(["id"]))
    assert "--no-context-exec" in refused.value.hint


def test_without_commands_nobody_is_asked() -> None:
    confirm_commands([])


@pytest.mark.parametrize(
    ("answer", "end"), [("y\n", "RUN"), ("n\n", "no context command ran"), ("\n", "no context")]
)
def test_a_person_sees_each_command_and_decides(
    project: Path, home: Path, answer: str, end: str
) -> None:
    screen = in_terminal(
        cwd=project, home=home, answer=answer, at="Run these commands?", program=("-c", _PROGRAM)
    )
    assert "CLI Command 1 (--exec): git status" in screen.text
    assert "CLI Command 2 (--exec): id" in screen.text
    assert end in screen.text
    assert "printed ''" in screen.text
