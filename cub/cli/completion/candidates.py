"""List the words that may come next in a command line, each with its description.

typer's own parser parses all values first, and loads a library that takes longer than all of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from cub.cli.completion.value_sources import (
    ARGUMENT_SOURCES,
    COMMA_LIST_OPTIONS,
    OPTION_SOURCES,
    Candidate,
    CompletionPlace,
    ValueSource,
)
from cub.cli.terminal import escape_invisible

CompletableParameter = TyperArgument | TyperOption


@dataclass(slots=True)
class _CommandLine(CompletionPlace):
    """Find the place of a word, from what stands before it.

    `parameter` takes the word as its value; None for the name of a command or an option.
    `word_prefix` is what is before the value in the same word.
    """

    parameter: CompletableParameter | None = None
    word_prefix: str = ""
    only_arguments: bool = False

    def take_word(self, word: str) -> bool:
        """Step over a word; return False if the command does not know it."""
        if self.parameter is not None:
            if word != "=":  # bash splits at it
                self._take_value(word)
        elif word == "--":
            self.only_arguments = True
        elif self._is_option(word):
            self._take_option(word)
        elif isinstance(self.context.command, TyperGroup):
            command = self.context.command.get_command(self.context, word)
            if not isinstance(command, TyperCommand | TyperGroup):
                return False
            self.context = typer.Context(command, info_name=word, parent=self.context)
        else:
            self.arguments.append(word)
        return True

    def find_place(self, word: str) -> None:
        """Find what the word that is being typed may be, after all words before it."""
        self.current_word = word
        if self.parameter is not None:
            return
        if self._is_option(word) or (word == "-" and not self.only_arguments):
            name, equals, value = word.partition("=")
            if equals and (option := self._find_option(name)):
                self.parameter = option
                self.current_word, self.word_prefix = value, f"{name}="
        elif not isinstance(self.context.command, TyperGroup):
            self.parameter = self._find_next_argument()

    def _take_option(self, word: str) -> None:
        name, _, value = word.partition("=")
        long = self._find_option(name)
        option = long or self._find_option(word[:2])
        if option is not None and not option.is_flag:
            self.parameter = option
            if value := value or ("" if long else word[2:]):
                self._take_value(value)

    def _take_value(self, value: str) -> None:
        if self.parameter is not None and "-C" in self.parameter.opts:
            self.directory = self.directory / value
        self.parameter = None

    def _find_next_argument(self) -> TyperArgument | None:
        count = len(self.arguments)
        for argument in self.context.command.get_params(self.context):
            if isinstance(argument, TyperArgument):
                if argument.nargs == -1 or count < argument.nargs:  # -1 takes all the rest
                    return argument
                count -= argument.nargs
        return None

    def _is_option(self, word: str) -> bool:
        return word.startswith("-") and len(word) > 1 and not self.only_arguments

    def _find_option(self, name: str) -> TyperOption | None:
        """Return the command's option of a name; it has the global options as well."""
        options = self.context.command.get_params(self.context)
        found = (one for one in options if isinstance(one, TyperOption) and name in one.opts)
        return next(found, None)


def list_candidates(
    root: Any, words: Sequence[str], word: str, *, with_descriptions: bool
) -> list[Candidate]:
    """Return the words that may come after `words` in place of `word`, in the order to show them.

    Without `with_descriptions`, no module is loaded only for a description.
    """
    completion = _CommandLine(typer.Context(root, info_name="cub"))
    if not all(map(completion.take_word, words)):
        return []
    completion.find_place("" if word == "=" else word)
    candidates: Iterable[Candidate] = ()
    if completion.parameter is not None:
        candidates = _iter_values(completion, completion.parameter)
    elif completion.current_word.startswith("-") and not completion.only_arguments:
        candidates = _iter_option_names(completion)
    elif isinstance(completion.context.command, TyperGroup):
        candidates = _iter_command_names(completion, described=with_descriptions)
    return [
        (completion.word_prefix + candidate, _make_one_line(about) if with_descriptions else "")
        for candidate, about in candidates
        if candidate.isprintable() and escape_invisible(candidate) == candidate  # can be typed
    ]


def _iter_values(completion: _CommandLine, parameter: CompletableParameter) -> Iterator[Candidate]:
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


def _iter_option_names(completion: _CommandLine) -> Iterator[Candidate]:
    context, word = completion.context, completion.current_word
    for option in context.command.get_params(context):
        for name in option.opts if isinstance(option, TyperOption) and not option.hidden else ():
            if name.startswith(word) and (name.startswith("--") or len(word) == 1):
                yield name, option.help or ""


def _iter_command_names(completion: _CommandLine, *, described: bool) -> Iterator[Candidate]:
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
    line = escape_invisible(" ".join("".join(c if c.isprintable() else " " for c in text).split()))
    return line if len(line) <= 80 else f"{line[:79]}…"
