"""Define options in short, take many of them as one value, and convert their values.

Fields that are options are defined by `cub.actions.command_options.option`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import typer

from cub.actions.command_options import OPTION
from cub.errors import UsageError


def make_option(spec: str, text: str, *, panel: str | None = None, **settings: Any) -> Any:
    """Describe an option by its names and the placeholder of its value, as "--limit -n N"."""
    names = [word for word in spec.split() if word.startswith("-")]
    placeholder = " ".join(word for word in spec.split() if word not in names)
    settings = {"metavar": placeholder or None, "help": text, "rich_help_panel": panel, **settings}
    return typer.Option(*names, **settings)


def take_options(function: Callable[..., None]) -> Callable[..., None]:
    """Let a command get many options as one value, where a parameter is of a dataclass.

    Each field is an option, in the order of the class; those of its base classes come last.
    """
    hints = get_type_hints(function, include_extras=True)
    kinds: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters = []
    for one in signature(function).parameters.values():
        if one.name in kinds:
            types = get_type_hints(kinds[one.name])
            options = _list_options(kinds[one.name])
            parameters += [_make_parameter(option, types[option.name]) for option in options]
        else:
            other = one.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[one.name])
            parameters.append(other)

    @wraps(function)
    def command(**values: Any) -> None:
        for name, kind in kinds.items():
            given = {one.name: values.pop(one.name) for one in _list_options(kind)}
            lists = {key: tuple(value) for key, value in given.items() if isinstance(value, list)}
            values[name] = kind(**given | lists)
        function(**values)

    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return command


def _list_options(kind: Any) -> list[Any]:
    options = {one.name: one for one in fields(kind) if OPTION in one.metadata}
    own = {name: options.pop(name) for name in kind.__annotations__ if name in options}
    return [*own.values(), *options.values()]


def _make_parameter(one: Any, kind: Any) -> Parameter:
    """Return the parameter that typer reads; what may be repeated is a list."""
    default = one.default
    if get_origin(kind) is tuple:
        kind, default = GenericAlias(list, get_args(kind)[0]), []
    annotation = Annotated[kind, make_option(**one.metadata[OPTION])]
    return Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def add_missing_values(arguments: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return a command line in which these options have a value; "" stands for a missing one."""
    words: list[str] = []
    for number, word in enumerate(arguments):
        words.append(word)
        following = next(iter(arguments[number + 1 :]), "-")
        if word in options and following.startswith("-"):
            words.append("")
    return words


def require_option_values(context: typer.Context) -> None:
    """Raise UsageError if an option was given an empty value, as by a variable that is not set."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is None or source.name != "COMMANDLINE":
            continue
        value = context.params.get(parameter.name or "")
        values = value if isinstance(value, list | tuple) else [value]
        if any(isinstance(one, str) and not one.strip() for one in values):
            hint = "is a variable of your shell not set?"
            raise UsageError("the value is empty", where=parameter.opts[0], hint=hint)


def require_at_most_one(options: Mapping[str, object]) -> None:
    """Raise UsageError if two of these options are given; a value that is not given is false."""
    first, second, *_ = [*(name for name, is_given in options.items() if is_given), "", ""]
    if second:
        raise UsageError(f"{first} cannot be used with {second}", hint="pass one of them")


class _ValueReader(NamedTuple):
    """Convert the values of a parameter; `load` returns typer's own way to do so.

    That way imports pydantic, which takes a third of a start.
    """

    load: Callable[[], Any]

    def __call__(self) -> _ValueReader:
        """Return what converts, as typer asks for it."""
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a value of the parameter's type; what is not plain is left to typer."""
        is_list = param.multiple or param.nargs == -1
        if value is None:
            return () if is_list else None
        kind = param.type_descriptor.annotation
        if is_list:
            kind = next(iter(get_args(kind)), kind)
        try:
            values = [_convert(one, kind) for one in (value if is_list else [value])]
        except TypeError:
            return self.load().coerce(value, param=param, ctx=ctx)
        return values if is_list else values[0]


def _convert(value: Any, kind: Any) -> Any:
    """Return a string, a path or a choice. Raises TypeError for another value."""
    if get_origin(kind) is Literal and value in get_args(kind):
        return value
    if isinstance(value, kind):
        return value
    if not issubclass(kind, Path):
        raise TypeError
    return kind(value)


def convert_plain_values(parameters: Iterable[Any]) -> None:
    """Have parameters convert strings, paths and choices without pydantic."""
    for parameter in parameters:
        load = parameter.get_runtime_param
        if not isinstance(load, _ValueReader):
            parameter.get_runtime_param = _ValueReader(load)
