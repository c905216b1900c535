"""Print a command's help, laid out for the width of a terminal: `cub help` and `--help`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import Annotated, Any, NamedTuple, cast

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from cub.cli import output
from cub.cli.options import OPTIONS_PANEL
from cub.cli.tables import measure_width, wrap_text
from cub.cli.terminal import add_style, get_help_width
from cub.errors import UsageError

app = typer.Typer(add_completion=False)

Names = Annotated[
    list[str] | None, typer.Argument(metavar="COMMAND", help="The command, such as `task add`.")
]


@app.command(name="help")
def help_(context: typer.Context, names: Names = None) -> None:
    """Show the help of a command.

    Without COMMAND, cub lists all commands.

    Example: cub help task add
    """
    target = context.find_root()
    for name in names or ():
        if not isinstance(target.command, TyperGroup):
            path = target.command_path
            raise UsageError(
                f"`{path}` has no commands", hint=f"run `{path} --help` to see its usage"
            )
        _, command, _ = target.command.resolve_command(target, [name])
        assert command is not None
        settings = command.context_settings
        target = command.context_class(command, info_name=name, parent=target, **settings)
    print_help(cast("typer.Context", target))


def print_help(context: typer.Context) -> None:
    """Print the help of a command, as wide as the terminal."""
    for line in format_help(context.command, context, get_help_width()):
        output.print_line(line)


_MAX_WIDTH = 100  # columns; longer lines are hard to read
_INDENT = "  "
_MAX_TERM_WIDTH = 22  # columns; the text of a longer term goes below it
_EXAMPLE = "Example: "


class HelpEntry(NamedTuple):
    """Hold a term and its meaning, a line of a list."""

    term: str
    text: str


def format_help(command: Any, context: typer.Context, width: int) -> Iterator[str]:
    """Yield the help of a command, line by line."""
    width = min(width, _MAX_WIDTH)
    texts, examples = split_paragraphs(command.help or "")
    for text in texts:
        yield from wrap_text(text, width)
        yield ""
    usage = format_usage(command, context.command_path)
    yield from wrap_text(f"{add_style('Usage:', 'bold')} {usage}", width, " " * 7)
    for title, entries in _group_commands(command, context):
        column = max(len(name) for name in command.list_commands(context))
        yield from ("", add_style(f"{title}:", "bold"), *_format_entries(entries, width, column))
    for title, entries in _group_parameters(command, context):
        yield from ("", add_style(f"{title}:", "bold"), *_format_entries(entries, width))
    if context.parent is not None:
        yield from ("", f"{add_style(f'{OPTIONS_PANEL}:', 'bold')} see `cub --help`")
    for example in examples:
        yield from ("", f"{add_style(_EXAMPLE.strip(), 'bold')} {example}")


def get_command_summary(command: Any) -> str:
    """Return the first line of a command's help."""
    return split_paragraphs(command.help or "")[0][0]


def format_usage(command: Any, path: str) -> str:
    """Return the usage line of a command; what may be left out is in brackets."""
    words = [path, "[OPTIONS]", *map(_format_argument, _list_arguments(command))]
    if isinstance(command, TyperGroup):
        texts = [term for term, _ in getattr(command, "free_arguments", ())]
        choices = "|".join([*texts, "COMMAND"])
        words.append(f"[{choices}]" if command.invoke_without_command else choices)
    return " ".join(words)


def list_argument_entries(command: Any) -> list[HelpEntry]:
    """Return the arguments with their meanings; of a group, what it takes instead of a command."""
    arguments = [HelpEntry(_format_argument(a), a.help or "") for a in _list_arguments(command)]
    return [*arguments, *starmap(HelpEntry, getattr(command, "free_arguments", ()))]


def get_value_name(option: TyperOption, context: typer.Context) -> str:
    """Return the placeholder of an option's value: its choices or a word; "" for none."""
    if option.is_flag or option.count:
        return ""
    if option.metavar:
        return option.metavar
    if option.type_descriptor.is_choice:
        return option.display_type(context).strip("<>")
    return option.name.upper()


def get_default(option: TyperOption) -> str:
    """Return the default if it is worth naming; "" otherwise."""
    if option.is_flag or option.count or option.default in (None, "", []):
        return ""
    return str(option.default)


def is_global_option(option: TyperOption) -> bool:
    """Return whether every command takes this option."""
    return option.rich_help_panel == OPTIONS_PANEL or "--help" in option.opts


def split_paragraphs(text: str) -> tuple[list[str], list[str]]:
    """Split a docstring into paragraphs, each as one line, and its examples."""
    parts = [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]
    examples = [part.removeprefix(_EXAMPLE) for part in parts if part.startswith(_EXAMPLE)]
    return [part for part in parts if not part.startswith(_EXAMPLE)], examples


def _list_arguments(command: Any) -> list[TyperArgument]:
    return [p for p in command.params if isinstance(p, TyperArgument) and not p.hidden]


def _format_argument(argument: TyperArgument) -> str:
    name = (argument.metavar or argument.name.upper()).strip("[].")
    return (name if argument.required else f"[{name}]") + ("..." if argument.nargs != 1 else "")


def _group_commands(command: Any, context: typer.Context) -> Iterator[tuple[str, list[HelpEntry]]]:
    """Yield the commands of a group with their summaries, under the titles that it gives them."""
    if not isinstance(command, TyperGroup):
        return
    groups = getattr(command, "command_groups", {"Commands": command.list_commands(context)})
    for title, names in groups.items():
        commands = ((name, command.get_command(context, name)) for name in names)
        shown = ((name, inner) for name, inner in commands if inner and not inner.hidden)
        yield title, [HelpEntry(name, get_command_summary(inner)) for name, inner in shown]


def _group_parameters(
    command: Any, context: typer.Context
) -> Iterator[tuple[str, list[HelpEntry]]]:
    """Yield arguments and options; the global options only for `cub` itself."""
    options: dict[str, list[HelpEntry]] = {}
    for option in command.get_params(context):
        if isinstance(option, TyperOption) and not option.hidden:
            panel = OPTIONS_PANEL if is_global_option(option) else option.rich_help_panel
            options.setdefault(panel or "Options", []).append(_make_entry(option, context))
    if context.parent is not None:
        options.pop(OPTIONS_PANEL, None)
    groups = [("Arguments", list_argument_entries(command)), *options.items()]
    yield from ((title, entries) for title, entries in groups if entries)


def _make_entry(option: TyperOption, context: typer.Context) -> HelpEntry:
    """Return an option's entry: short names first, and long ones in a column of their own."""
    names = sorted(option.opts, key=lambda n: (n.startswith("--"), n))
    lead = "" if not names[0].startswith("--") else " " * 4
    value = get_value_name(option, context)
    default = get_default(option)
    text = f"{option.help or ''}{f' [default: {default}]' if default else ''}"
    return HelpEntry(f"{lead}{', '.join(names)}{f' {value}' if value else ''}", text)


def _format_entries(
    entries: Sequence[HelpEntry], width: int, column: int | None = None
) -> Iterator[str]:
    """Lay out terms on the left and texts on the right; a long term has a line of its own."""
    terms = [measure_width(entry.term) for entry in entries]
    column = column or max(
        (term for term in terms if term <= _MAX_TERM_WIDTH), default=_MAX_TERM_WIDTH
    )
    start = len(_INDENT) + column + 2
    for entry, term in zip(entries, terms, strict=True):
        first, *rest = wrap_text(entry.text, width - start)
        shown = _INDENT + add_style(entry.term, "cyan")
        if term <= column:
            yield f"{shown}{' ' * (column - term + 2)}{first}".rstrip()
        else:
            yield from (shown, " " * start + first)
        yield from (" " * start + part for part in rest)
