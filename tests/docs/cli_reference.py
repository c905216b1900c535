"""The reference of the command line, rendered from the app itself: `render`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from textwrap import fill

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from cub.cli.app import build_root_command
from cub.cli.commands.help import (
    format_usage,
    get_command_summary,
    get_default,
    get_value_name,
    is_global_option,
    list_argument_entries,
    split_paragraphs,
)

WIDTH = 96
_HEAD = """\
# Command line

This page is generated from the app. After a change to a command, run
`python -m tests.docs.cli_reference > docs/reference/cli.md`; a test compares the two.

Exit codes and streams are in [exit-codes.md](exit-codes.md), the shapes of `--json` in
[json.md](json.md)."""


def render() -> str:
    """The page, the same on every machine: no terminal and no environment has a say in it."""
    root = build_root_command()
    assert isinstance(root, TyperGroup)
    context = typer.Context(root, info_name="cub", **root.context_settings)
    return "\n\n".join([_HEAD, *_pages(root, context, "cub")]) + "\n"


def _pages(command: TyperCommand | TyperGroup, context: typer.Context, title: str) -> Iterator[str]:
    """The section of a command, and of those inside it."""
    yield from _section(command, context, title)
    if not isinstance(command, TyperGroup):
        return
    yield from _index(command, context, title)
    for name in _shown(command, context):
        inner = _command(command, context, name)
        within = typer.Context(inner, info_name=name, parent=context)
        yield from _pages(inner, within, f"{title} {name}")


def _command(group: TyperGroup, context: typer.Context, name: str) -> TyperCommand | TyperGroup:
    command = group.get_command(context, name)
    assert isinstance(command, TyperCommand | TyperGroup)
    return command


def _shown(group: TyperGroup, context: typer.Context) -> list[str]:
    names = group.list_commands(context)
    return [name for name in names if not _command(group, context, name).hidden]


def _index(group: TyperGroup, context: typer.Context, title: str) -> Iterator[str]:
    anchor = title.replace(" ", "-")
    yield "Commands:"
    yield "\n".join(
        _bullet(f"[{name}](#{anchor}-{name})", get_command_summary(_command(group, context, name)))
        for name in _shown(group, context)
    )


def _section(
    command: TyperCommand | TyperGroup, context: typer.Context, title: str
) -> Iterator[str]:
    yield f"## {title}"
    texts, examples = split_paragraphs(command.help or "")
    yield from (fill(text, WIDTH) for text in texts)
    parameters = command.get_params(context)
    arguments = list_argument_entries(command)
    yield _code("Usage", format_usage(command, title))
    if examples:
        yield _code("Example", "\n".join(examples))
    if arguments:
        yield "Arguments:"
        yield "\n".join(_bullet(f"`{term.strip('[].')}`", about) for term, about in arguments)
    options = [p for p in parameters if isinstance(p, TyperOption) and not p.hidden]
    everywhere = [p for p in options if is_global_option(p)]
    own = [p for p in options if p not in everywhere]
    if own:
        yield "Options:"
        yield "\n".join(_option(option, context) for option in own)
    if context.parent is None:
        yield "Global options, before the command or after it:"
        yield "\n".join(_option(option, context) for option in everywhere)


def _code(label: str, text: str) -> str:
    return f"{label}:\n\n```text\n{text}\n```"


def _option(option: TyperOption, context: typer.Context) -> str:
    value = get_value_name(option, context)
    # Sorted, because the names of --help come out of a set.
    names = sorted((*option.opts, *option.secondary_opts), key=lambda name: (len(name), name))
    term = ", ".join(f"`{name} {value}`" if value else f"`{name}`" for name in names)
    default = get_default(option)
    said = f" Default: `{default}`." if default else ""
    return _bullet(term, f"{option.help or ''}{said}")


def _bullet(term: str, text: str) -> str:
    return fill(
        f"- {term}: {text}",
        WIDTH,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


if __name__ == "__main__":
    sys.stdout.buffer.write(render().encode())
