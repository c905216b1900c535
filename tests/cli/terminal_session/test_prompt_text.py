from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cub.agent.tools.tool import ToolContext
from cub.cli.terminal_session.prompt_text import (
    attach_files,
    find_mentions,
    find_missing_files,
    run_user_command,
)
from cub.processes.command import StopRequest


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ToolContext]:
    folder = tmp_path / "shop"
    (folder / "docs").mkdir(parents=True)
    (folder / "bread.py").write_text("PRICE = 1\n")
    (folder / "docs/a b.md").write_text("# A\n")
    stop = StopRequest()
    yield ToolContext(folder, folder, {**os.environ, "SHELL": "/bin/sh"}, stop)
    stop.close()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("see @bread.py", ["bread.py"]),
        ("@bread.py: why? And @bread.py?", ["bread.py"]),
        ('"@bread.py" a@bread.py @nothing.py @property', []),
        ('@"docs/a b.md" and @docs/', ["docs/a b.md", "docs/"]),
        ("@bread.py, @docs.", ["bread.py", "docs"]),
        ("@", []),
        ("@\0 @~nobody-there", []),
    ],
)
def test_only_what_is_there_is_mentioned(context: ToolContext, text: str, names: list[str]) -> None:
    assert find_mentions(text, context) == names


def test_a_mistyped_path_is_no_word(context: ToolContext) -> None:
    text = '@docs/a.md, @docs/ @property @angular/core @README @"docs/a b.md" x@docs/y'
    assert find_missing_files(text, context) == ["docs/a.md"]


def test_the_model_knows_a_file_that_is_attached(context: ToolContext) -> None:
    ((name, shown),) = attach_files("Change @bread.py", context)
    assert (name, shown) == ("bread.py", '<file path="bread.py">\n1\tPRICE = 1\n</file>')
    path = context.folder / "bread.py"
    assert context.reads.explain_unknown(path, path.read_bytes()) == ""


def test_of_a_directory_the_names_are_attached(context: ToolContext) -> None:
    ((_, shown),) = attach_files("@docs", context)
    assert shown == '<file path="docs">\na b.md\n</file>'


def test_images_binary_and_too_many_files_are_left_to_the_model(context: ToolContext) -> None:
    (context.folder / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (context.folder / "x.bin").write_bytes(b"\0")
    for name in "abc":
        (context.folder / name).write_text("x" * 1_000 + "\n" + ("y" * 1_000 + "\n") * 45)
    shown = dict(attach_files("@x.png @x.bin @a @b @c @bread.py", context))
    assert [name for name, text in shown.items() if text] == ["a", "b", "bread.py"]


def run(context: ToolContext, line: str) -> str:
    return run_user_command(line, context.folder, context.environ, context.stop)


def test_the_output_of_a_command_is_shown_and_kept_for_the_model(
    context: ToolContext, capsys: pytest.CaptureFixture[str]
) -> None:
    text = run(context, "echo one; printf 'two\\r\\033[1mthree' >&2; exit 3")
    assert text == (
        "I ran `echo one; printf 'two\\r\\033[1mthree' >&2; exit 3` (exit code 3). Its output:\n\n"
        "<output>\none\nthree\n</output>"
    )
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("one\nthree\n", "exit code 3\n")


def test_a_long_output_and_secrets_are_shortened_for_the_model(context: ToolContext) -> None:
    text = run(context, "seq 1 20000; echo TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345")
    assert len(text) < 31_000
    assert "characters left out" in text
    assert "0123456789abcdef" not in text


def test_a_command_is_stopped_and_has_no_input(context: ToolContext) -> None:
    assert "(none)" in run(context, "cat")
    context.stop.request()
    assert "(stopped)" in run(context, "sleep 60")


def test_a_shell_that_is_not_there_is_told(
    context: ToolContext, capsys: pytest.CaptureFixture[str]
) -> None:
    text = run_user_command("ls", context.folder, {"SHELL": "/bin/nowhere"}, context.stop)
    assert "/bin/nowhere" in text
    assert "/bin/nowhere" in capsys.readouterr().err
