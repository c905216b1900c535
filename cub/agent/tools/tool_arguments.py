"""Turn the type hints of a tool's arguments into a JSON Schema, and check arguments against them.

Arguments are a NamedTuple. A field is a string, an integer, a flag, or a Literal of strings; a
default makes it optional, and `Annotated` describes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin

from cub.errors import CubError
from cub.json_values import JsonObject
from cub.text import suggest_known

A = TypeVar("A")
_TYPE_NAMES = {str: "string", int: "integer", bool: "boolean"}
_FLAGS = {"true": True, "false": False}


class ToolError(CubError):
    """Report to the model why a call of a tool has failed, and what to do instead."""


class _Field(NamedTuple):
    """Describe an argument; `kind` has no Annotated around it."""

    name: str
    kind: Any
    description: str
    is_required: bool


def build_schema(arguments: type[Any]) -> JsonObject:
    """Return the JSON Schema of a tool's arguments, always the same for the same hints."""
    fields = list(_list_fields(arguments))
    return {
        "type": "object",
        "properties": {field.name: _build_property(field) for field in fields},
        "required": [field.name for field in fields if field.is_required],
        "additionalProperties": False,
    }


def parse_arguments(arguments: type[A], values: JsonObject) -> A:
    """Return checked arguments; null counts as not given, and a number may be in quotes.

    Raises ToolError for what is missing, unknown, or of the wrong type.
    """
    fields = {field.name: field for field in _list_fields(arguments)}
    present = {name: value for name, value in values.items() if value is not None}
    for name in present:
        if name not in fields:
            raise ToolError(f"unknown argument {name!r}", hint=suggest_known(name, fields))
    for field in fields.values():
        if field.is_required and field.name not in present:
            raise ToolError(f"missing argument {field.name!r}")
    return arguments(**{name: _parse_value(fields[name], v) for name, v in present.items()})


def _list_fields(arguments: type[Any]) -> Iterator[_Field]:
    from typing import get_type_hints

    defaults = arguments._field_defaults
    for name, hint in get_type_hints(arguments, include_extras=True).items():
        kind, description = hint, ""
        if get_origin(kind) is Annotated:
            kind, description = get_args(kind)
        yield _Field(name, kind, description, name not in defaults)


def _build_property(field: _Field) -> JsonObject:
    if get_origin(field.kind) is Literal:
        value: JsonObject = {"type": "string", "enum": list(get_args(field.kind))}
    else:
        value = {"type": _TYPE_NAMES[field.kind]}
    return {**value, "description": field.description} if field.description else value


def _parse_value(field: _Field, value: Any) -> Any:
    """Return a value as the hint has it; ToolError if it is of another type."""
    if get_origin(field.kind) is Literal:
        if value in get_args(field.kind):
            return value
        raise ToolError(f"{field.name} is one of {', '.join(get_args(field.kind))}")
    if field.kind is bool and isinstance(value, str):
        value = _FLAGS.get(value.strip().lower(), value)
    if field.kind is int and (isinstance(value, str) or type(value) is float):
        with suppress(ValueError):
            value = int(value) if isinstance(value, str) or value.is_integer() else value
    if type(value) is not field.kind:
        raise ToolError(f"{field.name} is not of the type {_TYPE_NAMES[field.kind]}")
    return value
