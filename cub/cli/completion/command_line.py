"""Find the place in a command line at which a word is typed: its command and parameter.

typer's own parser parses all values first, and loads a library that takes longer than all of this.
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

_DIRECTORY_OPTION = "-C"


@dataclass(slots=True)
class CompletionContext:
    """Hold what is known of the place of a word.

    `parameter` takes the word as its value; None for the name of a command or an option.
    `current_word` is what was typed of it, `word_prefix` what is before it in the same word.
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
        """Return the names of the command, without the program's."""
        return tuple(self.context.command_path.split()[1:])

    def list_options(self) -> Iterable[TyperOption]:
        """Return the options of the command, without hidden ones."""
        parameters = self.command.get_params(self.context)
        return (p for p in parameters if isinstance(p, TyperOption) and not p.hidden)


def parse_command_line(root: Any, words: Sequence[str], word: str) -> CompletionContext | None:
    """Return the place of `word` after `words`; None if cub does not know what may come there."""
    completion = CompletionContext(root, typer.Context(root, info_name="cub"))
    for earlier in words:
        if completion.parameter is not None:
            if earlier != "=":  # bash splits at it
                _take_value(completion, earlier)
        elif not _take_word(completion, earlier):
            return None
    return _find_place(completion, "" if word == "=" else word)


def _take_word(completion: CompletionContext, word: str) -> bool:
    """Step over a word; return False if the command does not know it."""
    if word == "--":
        completion.only_arguments = True
    elif _is_option(completion, word):
        name, _, value = word.partition("=")
        long = _find_option(completion, name)
        option = long or _find_option(completion, word[:2])
        if option is not None and not option.is_flag:
            completion.parameter = option
            if value := value or ("" if long else word[2:]):
                _take_value(completion, value)
    elif isinstance(completion.command, TyperGroup):
        command = completion.command.get_command(completion.context, word)
        if not isinstance(command, TyperCommand | TyperGroup):
            return False
        completion.context = typer.Context(command, info_name=word, parent=completion.context)
        completion.command = command
    else:
        completion.arguments.append(word)
    return True


def _take_value(completion: CompletionContext, value: str) -> None:
    if completion.parameter is not None and _DIRECTORY_OPTION in completion.parameter.opts:
        completion.directory = completion.directory / value
    completion.parameter = None


def _find_place(completion: CompletionContext, word: str) -> CompletionContext | None:
    completion.current_word = word
    if completion.parameter is not None:
        return completion
    if _is_option(completion, word) or (word == "-" and not completion.only_arguments):
        name, equals, value = word.partition("=")
        if equals and (option := _find_option(completion, name)):
            completion.parameter = option
            completion.current_word, completion.word_prefix = value, f"{name}="
        return completion
    if not isinstance(completion.command, TyperGroup):
        completion.parameter = _find_next_argument(completion)
        return completion if completion.parameter is not None else None
    return completion


def _find_next_argument(completion: CompletionContext) -> TyperArgument | None:
    count = len(completion.arguments)
    for argument in completion.command.get_params(completion.context):
        if isinstance(argument, TyperArgument):
            if argument.nargs == -1 or count < argument.nargs:  # -1 takes all the rest
                return argument
            count -= argument.nargs
    return None


def _is_option(completion: CompletionContext, word: str) -> bool:
    return word.startswith("-") and len(word) > 1 and not completion.only_arguments


def _find_option(completion: CompletionContext, name: str) -> TyperOption | None:
    """Return the option of a name: of the command, or of cub itself."""
    context: Any = completion.context
    while context is not None:
        for option in context.command.get_params(context):
            if isinstance(option, TyperOption) and name in (*option.opts, *option.secondary_opts):
                return option
        context = context.parent.find_root() if context.parent is not None else None
    return None
