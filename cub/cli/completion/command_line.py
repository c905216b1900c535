"""Where in a command line a person is: which command, and whose value comes next.

typer's own way parses all values first, and loads a library for that which takes longer than all
that is done here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

CompletableCommand = TyperCommand | TyperGroup
CompletableParameter = TyperArgument | TyperOption

_DIRECTORY = "-C"


@dataclass(slots=True)
class CompletionContext:
    """`parameter` is what the next word is a value of; None for the name of a command or an option.

    `current_word` is what was typed of it, `word_prefix` what stands in front of it in the same
    word.
    """

    command: CompletableCommand
    context: typer.Context
    parameter: CompletableParameter | None = None
    current_word: str = ""
    word_prefix: str = ""
    arguments: list[str] = field(default_factory=list)
    directory: Path = field(default_factory=Path)
    only_arguments: bool = False

    @property
    def command_path(self) -> tuple[str, ...]:
        """The names of the command, without the program's."""
        return tuple(self.context.command_path.split()[1:])

    def list_options(self) -> Iterable[TyperOption]:
        """What the command may be given."""
        found = self.command.get_params(self.context)
        return (p for p in found if isinstance(p, TyperOption) and not p.hidden)


def parse_command_line(root: Any, words: Sequence[str], word: str) -> CompletionContext | None:
    """Where `word` stands behind `words`; None where nothing is known about what may come."""
    place = CompletionContext(root, typer.Context(root, info_name="cub"))
    for one in words:
        if place.parameter is not None:
            if one != "=":  # bash makes a word of it
                _take(place, one)
        elif not _step(place, one):
            return None
    return _at(place, "" if word == "=" else word)


def _step(completion: CompletionContext, word: str) -> bool:
    """Go behind a word; False for one that the command does not know."""
    if word == "--":
        completion.only_arguments = True
    elif _is_option(completion, word):
        name, _, value = word.partition("=")
        option = _option(completion, name) or _option(completion, word[:2])
        if option is not None and not option.is_flag:
            completion.parameter = option
            if inside := value or (word[2:] if option is not _option(completion, name) else ""):
                _take(completion, inside)
    elif isinstance(completion.command, TyperGroup):
        command = completion.command.get_command(completion.context, word)
        if not isinstance(command, TyperCommand | TyperGroup):
            return False
        completion.context = typer.Context(command, info_name=word, parent=completion.context)
        completion.command = command
    else:
        completion.arguments.append(word)
    return True


def _take(completion: CompletionContext, value: str) -> None:
    if completion.parameter is not None and _DIRECTORY in completion.parameter.opts:
        completion.directory = completion.directory / value
    completion.parameter = None


def _at(completion: CompletionContext, word: str) -> CompletionContext | None:
    """The place of a word that is being typed."""
    completion.current_word = word
    if completion.parameter is not None:
        return completion
    if _is_option(completion, word) or (word == "-" and not completion.only_arguments):
        name, equals, value = word.partition("=")
        option = _option(completion, name)
        if equals and option is not None:
            completion.parameter, completion.current_word, completion.word_prefix = (
                option,
                value,
                f"{name}=",
            )
        return completion
    if isinstance(completion.command, TyperGroup):
        return completion
    completion.parameter = _argument(completion)
    return completion if completion.parameter is not None else None


def _argument(completion: CompletionContext) -> TyperArgument | None:
    """The argument that comes next; one that may be repeated takes all the rest."""
    count = len(completion.arguments)
    found = completion.command.get_params(completion.context)
    for argument in (p for p in found if isinstance(p, TyperArgument)):
        if argument.nargs == -1 or count < argument.nargs:
            return argument
        count -= argument.nargs
    return None


def _is_option(completion: CompletionContext, word: str) -> bool:
    return word.startswith("-") and len(word) > 1 and not completion.only_arguments


def _option(completion: CompletionContext, name: str) -> TyperOption | None:
    """The option of a name: of the command, or of cub itself."""
    context: Any = completion.context
    while context is not None:
        for option in context.command.get_params(context):
            if isinstance(option, TyperOption) and name in (*option.opts, *option.secondary_opts):
                return option
        context = context.parent.find_root() if context.parent is not None else None
    return None
