"""The help of every command, at the widths that people have."""

from __future__ import annotations

import re

import pytest
import typer
from typer.core import TyperOption

from cub.cli.app import run_command_line
from cub.cli.commands.help import format_help, get_command_summary, split_paragraphs
from cub.cli.tables import wrap_text
from cub.cli.terminal import strip_styles
from tests.cli.command_tree import walk_commands

ALL = [context for _, context in walk_commands()]
WIDTHS = [60, 80, 120]
every_command = pytest.mark.parametrize("context", ALL, ids=lambda c: c.command_path)


def _lines(context: typer.Context, width: int) -> list[str]:
    text = "\n".join(format_help(context.command, context, width))
    return strip_styles(text).split("\n")


@every_command
@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal(context: typer.Context, width: int) -> None:
    assert [line for line in _lines(context, width) if len(line) > min(width, 100)] == []


@every_command
@pytest.mark.parametrize("width", WIDTHS)
def test_text_is_wrapped_once(context: typer.Context, width: int) -> None:
    page = "\n".join(_lines(context, width))
    for text in split_paragraphs(context.command.help or "")[0]:
        assert "\n".join(wrap_text(text, min(width, 100))) in page


def test_each_page_has_an_example_of_its_command() -> None:
    shown = ((path, context) for path, context in walk_commands() if not context.command.hidden)
    pages = {path: "\n".join(_lines(context, 100)) for path, context in shown}
    assert [path for path, page in pages.items() if f"Example: cub {path}" not in page] == []


@every_command
def test_a_summary_fits_on_its_line_of_a_list(context: typer.Context) -> None:
    summary = get_command_summary(context.command)
    is_root = context.parent is None
    assert len(summary) <= (76 if is_root else 60)
    assert re.fullmatch(r"[A-Z][a-z]+ [^.]*(\.[a-z][^.]*)*\.", summary)  # one sentence


def test_no_line_of_the_list_of_commands_is_wrapped() -> None:
    out = _lines(ALL[0], 80)
    listed = out[out.index("Start:") : out.index("Options:")]
    assert [line for line in listed if line.startswith("    ")] == []


@every_command
def test_options_use_one_form_for_what_can_be_repeated_and_previewed(
    context: typer.Context,
) -> None:
    for option in context.command.get_params(context):
        text = getattr(option, "help", "") or ""
        assert "; repeatable" not in text
        assert "write nothing" not in text
        if {"--dry-run", "--diff"} & {*option.opts}:
            assert text.endswith("without writing anything.")


@every_command
def test_types_of_python_are_not_shown(context: typer.Context) -> None:
    assert [line for line in _lines(context, 80) if re.search(r"<[a-z]+>|list\[", line)] == []


@every_command
def test_every_option_says_what_it_does(context: typer.Context) -> None:
    options = [p for p in context.command.get_params(context) if isinstance(p, TyperOption)]
    assert [option.opts for option in options if not option.help and not option.hidden] == []


@every_command
def test_every_command_takes_the_global_options(context: typer.Context) -> None:
    names = {n for p in context.command.get_params(context) for n in p.opts}
    assert names >= {"-C", "--no-color", "-q", "--quiet", "-v", "--verbose", "-h", "--help"}


@pytest.mark.parametrize("path", ["", "init", "task", "task add", "task dep add", "run status"])
def test_help_of_a_command_is_the_same_as_its_option(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["help", *path.split()]) == 0
    by_command = capsys.readouterr()
    assert run_command_line([*path.split(), "--help"]) == 0
    assert capsys.readouterr() == by_command
    assert f"Usage: cub {path}".rstrip() in by_command.out


@pytest.mark.parametrize(
    ("path", "error", "hint"),
    [
        ("confg", "unknown command 'confg'; did you mean 'config'?", "run `cub --help`"),
        ("task lst", "unknown command 'lst'; did you mean 'list'?", "run `cub task --help`"),
        ("status now", "`cub status` has no commands", "run `cub status --help` to see its usage"),
    ],
)
def test_help_of_nothing_is_a_usage_error(
    path: str, error: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["help", *path.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {error}\nhint: {hint}")
