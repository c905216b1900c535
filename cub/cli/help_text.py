"""The text of `--help`: laid out for the width of a terminal, the same with and without colors."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from cub.cli.colors import style
from cub.cli.global_options import PANEL
from cub.cli.tables import display_width, wrap

_WIDEST = 100  # columns; longer lines are hard to read
_INDENT = "  "
_TERM = 22  # columns; what is described by a longer term stands below it
_EXAMPLE = "Example: "


class Entry(NamedTuple):
    """A line of a list: a term, and what it means."""

    term: str
    text: str


def help_lines(command: Any, context: typer.Context, width: int) -> Iterator[str]:
    """The help of a command, line by line."""
    width = min(width, _WIDEST)
    texts, examples = paragraphs(command.help or "")
    for text in texts:
        yield from wrap(text, width)
        yield ""
    yield from _usage(command, context, width)
    for title, entries in _lists(command, context):
        yield from ("", _title(f"{title}:"), *_listed(entries, width))
    for example in examples:
        yield from ("", f"{_title(_EXAMPLE.strip())} {example}")


def summary(command: Any) -> str:
    """What a command does, in one line."""
    return paragraphs(command.help or "")[0][0]


def usage(command: Any, path: str) -> str:
    """How a command is called."""
    words = [path, "[OPTIONS]", *map(_placeholder, _arguments(command))]
    return " ".join([*words, "COMMAND"] if isinstance(command, TyperGroup) else words)


def value_name(option: TyperOption, context: typer.Context) -> str:
    """What stands for the value of an option: its choices, or a word in capitals; "" for none."""
    if option.is_flag or option.count:
        return ""
    if option.metavar:
        return option.metavar
    if option.type_descriptor.is_choice:
        return option.display_type(context).strip("<>")
    return option.name.upper()


def default_of(option: TyperOption) -> str:
    """The default that is worth to be named; "" where there is none."""
    if option.is_flag or option.count or option.default in (None, ""):
        return ""
    return str(option.default.value if isinstance(option.default, Enum) else option.default)


def argument_name(argument: TyperArgument) -> str:
    """The word that stands for an argument."""
    return (argument.metavar or argument.name.upper()).strip("[].")


def paragraphs(text: str) -> tuple[list[str], list[str]]:
    """The paragraphs of a docstring, each as one line, and its examples apart."""
    parts = [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]
    examples = [part.removeprefix(_EXAMPLE) for part in parts if part.startswith(_EXAMPLE)]
    return [part for part in parts if not part.startswith(_EXAMPLE)], examples


def _arguments(command: Any) -> list[TyperArgument]:
    return [p for p in command.params if isinstance(p, TyperArgument) and not p.hidden]


def _placeholder(argument: TyperArgument) -> str:
    name = argument_name(argument)
    return (name if argument.required else f"[{name}]") + ("..." if argument.nargs != 1 else "")


def _usage(command: Any, context: typer.Context, width: int) -> Iterator[str]:
    yield from wrap(f"{_title('Usage:')} {usage(command, context.command_path)}", width, " " * 7)


def _lists(command: Any, context: typer.Context) -> Iterator[tuple[str, list[Entry]]]:
    arguments = [Entry(_placeholder(a), a.help or "") for a in _arguments(command)]
    options: dict[str, list[Entry]] = {}
    for option in command.get_params(context):
        if isinstance(option, TyperOption) and not option.hidden:
            panel = option.rich_help_panel or "Options"
            if "--help" in option.opts:
                panel = PANEL
            options.setdefault(panel, []).append(_entry(option, context))
    commands = []
    if isinstance(command, TyperGroup):
        named = (
            (name, command.get_command(context, name)) for name in command.list_commands(context)
        )
        commands = [Entry(name, summary(c)) for name, c in named if c and not c.hidden]
    found = [("Commands", commands), ("Arguments", arguments), *options.items()]
    yield from ((title, entries) for title, entries in found if entries)


def _entry(option: TyperOption, context: typer.Context) -> Entry:
    """Short names first, and long ones below each other, whether or not there is a short one."""
    names = sorted((*option.opts, *option.secondary_opts), key=lambda n: (n.startswith("--"), n))
    lead = "" if not names[0].startswith("--") else " " * 4
    value = value_name(option, context)
    default = default_of(option)
    text = f"{option.help or ''}{f' [default: {default}]' if default else ''}"
    return Entry(f"{lead}{', '.join(names)}{f' {value}' if value else ''}", text)


def _listed(entries: Sequence[Entry], width: int) -> Iterator[str]:
    """Terms on the left, texts on the right; below a term that is longer than most."""
    terms = [display_width(entry.term) for entry in entries]
    column = max((term for term in terms if term <= _TERM), default=_TERM)
    start = len(_INDENT) + column + 2
    for entry, term in zip(entries, terms, strict=True):
        first, *rest = wrap(entry.text, width - start)
        if term <= column:
            yield f"{_INDENT}{_styled(entry.term)}{' ' * (column - term + 2)}{first}".rstrip()
        else:
            yield f"{_INDENT}{_styled(entry.term)}"
            yield " " * start + first
        yield from (" " * start + part for part in rest)


def _styled(term: str) -> str:
    return style(term, fg="cyan")


def _title(text: str) -> str:
    return style(text, bold=True)
