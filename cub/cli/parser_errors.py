"""Translate the argument parser's errors: no message of typer or pydantic is printed.

The classes are found by name, because typer does not export them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import typer
from typer.core import TyperArgument, TyperGroup

from cub.cli.commands.help import format_usage
from cub.errors import UsageError
from cub.text import suggest_similar

# The command that lists what an argument may be, by the argument's placeholder.
_LISTS = {
    "cub code sessions ID": "run `cub code sessions` to list sessions",
    "ID": "run `cub task list` to list tasks",
    "OTHER": "run `cub task list` to list tasks",
    "KEY": "run `cub config show` to list keys",
}
_COMMAND = re.compile(r"No such command (?P<name>.+?)\.(?: Did you mean .*)?$", re.DOTALL)
_EXTRA = re.compile(r"Got unexpected extra arguments?(?:\(s\))? \((?P<words>.*)\)$", re.DOTALL)
# The parameter that takes free text, and how it is passed, by command.
_FREE_TEXTS = {
    "cub task add": ("title", "quote the title", "cub task add"),
    "cub code": ("", "pass the prompt with -p", "cub code -p"),
    "cub config set": ("value", "quote the value", "cub config set"),
}
_EXPECTED = {
    "int_parsing": "an integer",
    "int_parsing_size": "an integer",
    "float_parsing": "a number",
}


def translate_parser_error(error: typer.TyperException) -> UsageError:
    """Return an error of the argument parser as one of cub's, with a hint."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "cub"
    translate = _TRANSLATIONS.get(type(error).__name__, _translate_usage)
    message, hint = translate(error, context)
    return UsageError(message, hint=hint or f"run `{path} --help` to see its usage")


def format_unknown(kind: str, name: str, candidates: Iterable[str], option: str = "") -> str:
    """Return the message about an unknown name, with the one that is near, if there is any."""
    near = suggest_similar(name, candidates)
    place = f" for {option}" if option else ""
    return f"unknown {kind} '{name}'{place}" + (f"; did you mean '{near}'?" if near else "")


def _translate_usage(error: Any, context: Any) -> tuple[str, str]:
    """Translate what has no class of its own: an unknown command, and arguments too many."""
    text = str(error.message)
    if match := _COMMAND.match(text):
        name = match["name"].strip("'\"")
        message = format_unknown("command", name, _list_commands(context))
        return message, f"run `{context.command_path} --help` to list its commands"
    if match := _EXTRA.match(text):
        return f"unexpected argument '{match['words']}'", _suggest_quotes(context, match["words"])
    return _describe_value(error, "the command line"), ""


def _list_commands(context: Any) -> list[str]:
    """Return the names of the commands of a group, without hidden ones."""
    command = context.command
    if not isinstance(command, TyperGroup):
        return []
    names = command.list_commands(context)
    if context.parent is None:  # each one is a module, and none of them is hidden
        return names
    shown = [(name, command.get_command(context, name)) for name in names]
    return [name for name, inner in shown if inner is not None and not inner.hidden]


def _suggest_quotes(context: Any, words: str) -> str:
    """Return the command with its text in quotes; "" if no argument is a free text."""
    name, advice, start = _FREE_TEXTS.get(context.command_path, ("", "", ""))
    if not advice:
        return ""
    first = context.params.get(name) or ""
    key = [str(context.params["key"])] if "key" in context.params else []
    text = f"{first} {words}".strip()
    quoted = shlex.quote(text) if re.search(r'["$`\\!]', text) else f'"{text}"'
    return f"{advice}: {' '.join([start, *key, quoted])}"


def _translate_option(error: Any, context: Any) -> tuple[str, str]:
    known = [name for p in context.command.params for name in p.opts if name.startswith("--")]
    if error.option_name == "--json" and "--output-format" in known:
        return "unknown option '--json'", "pass `--output-format json`"
    message = format_unknown("option", error.option_name, known)
    return message, f"run `{context.command_path} --help` to list its options"


def _translate_option_use(error: Any, context: Any) -> tuple[str, str]:  # noqa: ARG001
    if "does not take" in error.message:
        return f"{error.option_name} takes no value", f"pass {error.option_name} alone"
    return f"{error.option_name} needs a value", f"pass a value after {error.option_name}"


def _translate_missing(error: Any, context: Any) -> tuple[str, str]:
    parameter, name = error.param, _name_parameter(error.param)
    if not isinstance(parameter, TyperArgument):
        return f"missing {name}", f"pass {name} {parameter.metavar or 'VALUE'}"
    if name == "TITLE":
        return "missing TITLE", f'pass a title, such as {context.command_path} "Fix the login"'
    usage = format_usage(context.command, context.command_path).replace(" [OPTIONS]", "")
    group = context.parent.command_path
    hint = _LISTS.get(f"{group} {name}") or _LISTS.get(name, f"run `{usage}`")
    return f"missing {name}", hint


def _translate_value(error: Any, context: Any) -> tuple[str, str]:  # noqa: ARG001
    name = _name_parameter(error.param) if error.param is not None else "the command line"
    choices = getattr(getattr(error.param, "type_descriptor", None), "choices", None)
    if choices:
        value = str(_get_details(error).get("input", ""))
        return format_unknown("value", value, choices, name), f"choose from {', '.join(choices)}"
    return _describe_value(error, name), ""


def _describe_value(error: Any, name: str) -> str:
    """Say what a value must be, by the kind of pydantic's error."""
    details = _get_details(error)
    kind = details.get("type", "")
    given = f", not '{details['input']}'" if "input" in details else ""
    if kind in _EXPECTED:
        return f"{name} must be {_EXPECTED[kind]}{given}"
    if kind == "greater_than_equal":
        return f"{name} must be at least {details['ctx']['ge']:g}{given}"
    return f"invalid value for {name}{given.replace(', not', ':')}"


def _get_details(error: Any) -> Mapping[str, Any]:
    """Return pydantic's first error, which an error of the parser comes from; {} without one."""
    list_errors = getattr(error.__cause__, "errors", None)
    return list_errors()[0] if list_errors else {}


def _name_parameter(parameter: Any) -> str:
    """Return an option's long name, or an argument's placeholder."""
    if isinstance(parameter, TyperArgument):
        return (parameter.metavar or parameter.name or "").strip("[].").upper()
    return str(max(parameter.opts, key=len))


_Translate = Callable[[Any, Any], tuple[str, str]]
_TRANSLATIONS: dict[str, _Translate] = {
    "NoSuchOption": _translate_option,
    "BadOptionUsage": _translate_option_use,
    "MissingParameter": _translate_missing,
    "BadParameter": _translate_value,
}
