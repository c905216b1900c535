"""List the words that may come next in a command line, each with its description.

The parser of each command finds the place of a word. typer's own completion converts all values as
well, and loads a library for that which takes longer than all of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from cub.cli.completion.value_sources import (
    ARGUMENT_SOURCES,
    COMMA_LIST_OPTIONS,
    OPTION_SOURCES,
    Candidate,
    CompletableParameter,
    CompletionPlace,
    ValueSource,
)
from cub.cli.terminal import escape_invisible
from cub.text import truncate_text

_MAX_DESCRIPTION = 80  # characters
_CURSOR = "\0"  # is parsed in place of the word that is being typed; no command line has one
_make_context = partial(typer.Context, resilient_parsing=True)


def _find_cursor(place: CompletionPlace, words: list[str]) -> bool:
    """Follow the words to the command that gets the last one; return False if none does."""
    command = place.context.command
    values, rest, _ = command.make_parser(place.context).parse_args(words)
    place.directory = Path(values.get("directory", place.directory))
    if isinstance(command, TyperGroup) and len(rest) > 1:
        name, *rest = rest
        inner = command.get_command(place.context, name)
        if not isinstance(inner, TyperCommand | TyperGroup):
            return False
        place.context = _make_context(inner, info_name=name, parent=place.context)
        return _find_cursor(place, rest)
    for parameter in command.get_params(place.context):
        value = values.get(parameter.name)
        texts = value if isinstance(value, list | tuple) else [str(value)]
        if any(_CURSOR in text for text in texts):
            place.parameter = parameter
        if isinstance(parameter, TyperArgument) and value:
            place.arguments += [text for text in texts if _CURSOR not in text]
    return place.parameter is not None or _CURSOR in rest


def list_candidates(
    root: Any, words: Sequence[str], word: str, *, with_descriptions: bool
) -> list[Candidate]:
    """Return the words that may come after `words` in place of `word`, in the order to show them.

    Without `with_descriptions`, no module is loaded only for a description.
    """
    word = "" if word == "=" else word  # bash splits at it
    is_option = word.startswith("-") and "--" not in words
    prefix = "".join(word.partition("=")[:2]) if is_option and "=" in word else ""
    completion = CompletionPlace(_make_context(root, info_name="cub"), word.removeprefix(prefix))
    if not _find_cursor(completion, [*(one for one in words if one != "="), prefix + _CURSOR]):
        return []
    candidates: Iterable[Candidate] = ()
    if is_option and not isinstance(completion.parameter, TyperOption):
        candidates = _iter_option_names(completion)
    elif completion.parameter is not None:
        candidates = _iter_values(completion, completion.parameter)
    elif isinstance(completion.context.command, TyperGroup):
        candidates = _iter_command_names(completion, described=with_descriptions)
    return [
        (prefix + candidate, _make_one_line(about) if with_descriptions else "")
        for candidate, about in candidates
        if candidate.isprintable() and escape_invisible(candidate) == candidate  # can be typed
    ]


def _iter_values(
    completion: CompletionPlace, parameter: CompletableParameter
) -> Iterator[Candidate]:
    source = find_value_source(parameter)
    if source is None:
        for item in parameter.shell_complete(completion.context, completion.current_word):
            if item.type == "plain":
                yield str(item.value), item.help or ""
        return
    typed = ""
    if any(name in COMMA_LIST_OPTIONS for name in parameter.opts):
        typed, comma, completion.current_word = completion.current_word.rpartition(",")
        typed += comma
    taken = {*typed.split(",")}
    for word, about in source(completion) if callable(source) else source:
        if word.startswith(completion.current_word) and word not in taken:
            yield typed + word, about


def find_value_source(parameter: CompletableParameter) -> ValueSource | None:
    """Return where the values of a parameter come from; None if only its type may know any."""
    if isinstance(parameter, TyperOption):
        return next((OPTION_SOURCES[n] for n in parameter.opts if n in OPTION_SOURCES), None)
    return ARGUMENT_SOURCES.get((parameter.metavar or "").strip("[].").partition("...")[0])


def _iter_option_names(completion: CompletionPlace) -> Iterator[Candidate]:
    context, word = completion.context, completion.current_word
    for option in context.command.get_params(context):
        for name in option.opts if isinstance(option, TyperOption) and not option.hidden else ():
            if name.startswith(word) and (name.startswith("--") or len(word) == 1):
                yield name, option.help or ""


def _iter_command_names(completion: CompletionPlace, *, described: bool) -> Iterator[Candidate]:
    context = completion.context
    for name in context.command.list_commands(context):
        if not name.startswith(completion.current_word):
            continue
        # Each top-level command is a module to be loaded; none of them is hidden.
        if not described and context.parent is None:
            yield name, ""
            continue
        command = context.command.get_command(context, name)
        if command is not None and not command.hidden:
            yield name, (command.help or "").strip().partition("\n")[0]


def _make_one_line(text: str) -> str:
    words = "".join(c if c.isprintable() else " " for c in text).split()
    return truncate_text(escape_invisible(" ".join(words)), _MAX_DESCRIPTION)
