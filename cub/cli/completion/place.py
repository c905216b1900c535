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

Command = TyperCommand | TyperGroup
Parameter = TyperArgument | TyperOption

_DIRECTORY = "-C"


@dataclass(slots=True)
class Place:
    """`parameter` is what the next word is a value of; None for the name of a command or an option.

    `word` is what was typed of it, `before` what stands in front of it in the same word.
    """

    command: Command
    context: typer.Context
    parameter: Parameter | None = None
    word: str = ""
    before: str = ""
    arguments: list[str] = field(default_factory=list)
    directory: Path = field(default_factory=Path)
    only_arguments: bool = False

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the command, without the program's."""
        return tuple(self.context.command_path.split()[1:])

    def options(self) -> Iterable[TyperOption]:
        """What the command may be given."""
        found = self.command.get_params(self.context)
        return (p for p in found if isinstance(p, TyperOption) and not p.hidden)


def find_place(root: Any, words: Sequence[str], word: str) -> Place | None:
    """Where `word` stands behind `words`; None where nothing is known about what may come."""
    place = Place(root, typer.Context(root, info_name="cub"))
    for one in words:
        if place.parameter is not None:
            if one != "=":  # bash makes a word of it
                _take(place, one)
        elif not _step(place, one):
            return None
    return _at(place, "" if word == "=" else word)


def _step(place: Place, word: str) -> bool:
    """Go behind a word; False for one that the command does not know."""
    if word == "--":
        place.only_arguments = True
    elif _is_option(place, word):
        name, _, value = word.partition("=")
        option = _option(place, name) or _option(place, word[:2])
        if option is not None and not option.is_flag:
            place.parameter = option
            if inside := value or (word[2:] if option is not _option(place, name) else ""):
                _take(place, inside)
    elif isinstance(place.command, TyperGroup):
        command = place.command.get_command(place.context, word)
        if not isinstance(command, TyperCommand | TyperGroup):
            return False
        place.context = typer.Context(command, info_name=word, parent=place.context)
        place.command = command
    else:
        place.arguments.append(word)
    return True


def _take(place: Place, value: str) -> None:
    if place.parameter is not None and _DIRECTORY in place.parameter.opts:
        place.directory = place.directory / value
    place.parameter = None


def _at(place: Place, word: str) -> Place | None:
    """The place of a word that is being typed."""
    place.word = word
    if place.parameter is not None:
        return place
    if _is_option(place, word) or (word == "-" and not place.only_arguments):
        name, equals, value = word.partition("=")
        option = _option(place, name)
        if equals and option is not None:
            place.parameter, place.word, place.before = option, value, f"{name}="
        return place
    if isinstance(place.command, TyperGroup):
        return place
    place.parameter = _argument(place)
    return place if place.parameter is not None else None


def _argument(place: Place) -> TyperArgument | None:
    """The argument that comes next; one that may be repeated takes all the rest."""
    count = len(place.arguments)
    found = place.command.get_params(place.context)
    for argument in (p for p in found if isinstance(p, TyperArgument)):
        if argument.nargs == -1 or count < argument.nargs:
            return argument
        count -= argument.nargs
    return None


def _is_option(place: Place, word: str) -> bool:
    return word.startswith("-") and len(word) > 1 and not place.only_arguments


def _option(place: Place, name: str) -> TyperOption | None:
    """The option of a name: of the command, or of cub itself."""
    context: Any = place.context
    while context is not None:
        for option in context.command.get_params(context):
            if isinstance(option, TyperOption) and name in (*option.opts, *option.secondary_opts):
                return option
        context = context.parent.find_root() if context.parent is not None else None
    return None
