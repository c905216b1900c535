"""Turn the type hints of a tool's arguments into a JSON Schema, and check arguments against them.

Arguments are a NamedTuple. A field is a string, an integer, a number, a flag, a Literal of strings,
or a tuple of strings; `| None` or a default makes it optional, and `Annotated` describes it.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from cub.errors import CubError
from cub.json_values import JsonObject
from cub.text import suggest_known

A = TypeVar("A")
_TYPE_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}
_FLAGS = {"true": True, "false": False}


class ToolError(CubError):
    """Report to the model why a call of a tool has failed, and what to do instead."""


class _Field(NamedTuple):
    """Describe an argument. `kind` has neither Annotated nor None around it."""

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
        if get_origin(kind) in (Union, types.UnionType):
            kind = next(part for part in get_args(kind) if part is not type(None))
        yield _Field(name, kind, description, name not in defaults)


def _build_property(field: _Field) -> JsonObject:
    origin = get_origin(field.kind)
    if origin is Literal:
        value: JsonObject = {"type": "string", "enum": list(get_args(field.kind))}
    elif origin is tuple:
        value = {"type": "array", "items": {"type": "string"}}
    else:
        value = {"type": _TYPE_NAMES[field.kind]}
    return {**value, "description": field.description} if field.description else value


def _parse_value(field: _Field, value: Any) -> Any:
    """Return a value as the hint has it; ToolError if it is of another type."""
    origin, is_text = get_origin(field.kind), isinstance(value, str)
    if origin is Literal:
        if value in get_args(field.kind):
            return value
        raise ToolError(f"{field.name} is one of {', '.join(get_args(field.kind))}")
    if origin is tuple:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise ToolError(f"{field.name} is a list of strings")
    if field.kind is bool and is_text:
        value = _FLAGS.get(value.strip().lower(), value)
    if field.kind in (int, float) and is_text:
        value = _parse_number(field.kind, value)
    if field.kind is float and type(value) is int:
        value = float(value)
    if field.kind is int and type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not field.kind:
        raise ToolError(f"{field.name} is not of the type {_TYPE_NAMES[field.kind]}")
    return value


def _parse_number(kind: type[int | float], text: str) -> object:
    try:
        return kind(text)
    except ValueError:
        return text
