"""The reference of the command line, rendered from the app itself: `render`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from enum import Enum
from textwrap import fill

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from cub.cli.app import app

WIDTH = 96
_HEAD = """\
# Command line

This page is generated from the app. After a change to a command, run
`python -m tests.docs.cli_reference > docs/reference/cli.md`; a test compares the two.

Exit codes and streams are in [exit-codes.md](exit-codes.md), the shapes of `--json` in
[json.md](json.md)."""


def render() -> str:
    """The page, the same on every machine: no terminal and no environment has a say in it."""
    root = typer.main.get_command(app)
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
        _bullet(f"[{name}](#{anchor}-{name})", _paragraphs(_command(group, context, name))[0])
        for name in _shown(group, context)
    )


def _section(
    command: TyperCommand | TyperGroup, context: typer.Context, title: str
) -> Iterator[str]:
    yield f"## {title}"
    examples = []
    for paragraph in _paragraphs(command):
        if paragraph.startswith("Example: "):
            examples.append(paragraph.removeprefix("Example: "))
        else:
            yield fill(paragraph, WIDTH)
    parameters = command.get_params(context)
    arguments = [p for p in parameters if isinstance(p, TyperArgument) and not p.hidden]
    options = [p for p in parameters if isinstance(p, TyperOption) and not p.hidden]
    yield _code("Usage", _usage(command, title, arguments))
    if examples:
        yield _code("Example", "\n".join(examples))
    if arguments:
        yield "Arguments:"
        yield "\n".join(_bullet(f"`{_name(a)}`", a.help or "") for a in arguments)
    yield "Options:"
    yield "\n".join(_option(option, context) for option in options)


def _paragraphs(command: TyperCommand | TyperGroup) -> list[str]:
    return [" ".join(part.split()) for part in (command.help or "").split("\n\n")]


def _code(label: str, text: str) -> str:
    return f"{label}:\n\n```text\n{text}\n```"


def _usage(command: TyperCommand | TyperGroup, title: str, arguments: list[TyperArgument]) -> str:
    words = [title, "[OPTIONS]"]
    for argument in arguments:
        name = _name(argument) if argument.required else f"[{_name(argument)}]"
        words.append(name if argument.nargs == 1 else f"{name}...")
    if isinstance(command, TyperGroup):
        words += ["COMMAND", "[ARGS]..."]
    return " ".join(words)


def _name(argument: TyperArgument) -> str:
    return re.sub(r"[\[\].]", "", argument.metavar or argument.name.upper())


def _option(option: TyperOption, context: typer.Context) -> str:
    value = "" if option.is_flag else f" {_value(option, context)}"
    # Sorted, because the names of --help come out of a set.
    names = sorted((*option.opts, *option.secondary_opts), key=lambda name: (len(name), name))
    term = ", ".join(f"`{name}{value}`" for name in names)
    default = option.default.value if isinstance(option.default, Enum) else option.default
    said = f" Default: `{default}`." if default is not None and not option.is_flag else ""
    return _bullet(term, f"{option.help or ''}{said}")


def _value(option: TyperOption, context: typer.Context) -> str:
    return option.metavar or option.display_type(context).strip("<>")


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
