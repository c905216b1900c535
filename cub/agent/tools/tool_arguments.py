"""Turn the type hints of a tool's arguments into a JSON Schema, and check arguments against them.

Arguments are a NamedTuple. A field is a string, an integer, a flag, or a Literal of strings; a
default makes it optional. `Annotated` describes it, and then lists other names under which models
know it, such as those of the same argument elsewhere.
"""

from __future__ import annotations

from contextlib import suppress
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from cub.errors import CubError
from cub.json_values import JsonObject
from cub.text import suggest_known

A = TypeVar("A")
_TYPE_NAMES = {str: "string", int: "integer", bool: "boolean"}
_SHORT = 2  # `-A` is not `a`
_FLAGS = {"true": True, "false": False}
FILE_NAMES = ("file_path", "path", "file", "filename", "absolute_path", "target_file")
FOLDER_NAMES = ("directory", "dir", "folder", "dir_path", "target_directory")
UNLISTED = ""  # describes an argument that is understood, but not in the schema


class ToolError(CubError):
    """Report to the model why a call of a tool has failed, and what to do instead."""


class _Field(NamedTuple):
    """Describe an argument; `kind` has no Annotated around it, and `names` are other names of it.

    `description` is None if there is none.
    """

    name: str
    kind: Any
    description: str | None
    names: tuple[str, ...]
    is_required: bool


_fields: dict[type[Any], tuple[_Field, ...]] = {}  # type hints are slow to read at each call


def build_schema(arguments: type[Any]) -> JsonObject:
    """Return the JSON Schema of a tool's arguments, always the same for the same hints."""
    fields = [field for field in _list_fields(arguments) if field.description != UNLISTED]
    return {
        "type": "object",
        "properties": {field.name: _build_property(field) for field in fields},
        "required": [field.name for field in fields if field.is_required],
        "additionalProperties": False,
    }


def rename_arguments(arguments: type[Any], values: JsonObject) -> JsonObject:
    """Return the same values by the names of the fields, as far as a name has one meaning.

    The case of letters, `_` and `-` don't matter, so that `filePath` is `file_path`. Null counts as
    not given, and so does a value that is off or empty under a name that nothing has.
    """
    fields = _list_fields(arguments)
    exact = {name: field.name for field in fields for name in (*field.names, field.name)}
    folded = {fold_name(name): field for name, field in exact.items() if len(name) > _SHORT}
    own = {name: value for name, value in values.items() if name in exact.values()}
    renamed = {name: value for name, value in own.items() if value is not None}
    for name, value in values.items():
        field = exact.get(name) or folded.get(fold_name(name), "")
        if field and value is not None and renamed.get(field, value) == value:
            renamed[field] = value
        elif value:
            renamed[name] = value  # unknown, or another value for the same field
    return renamed


def fold_name(name: str) -> str:
    """Return what names that mean the same have in common."""
    return name.replace("_", "").replace("-", "").lower()


def parse_arguments(arguments: type[A], values: JsonObject) -> A:
    """Return checked arguments, by whatever names; a number may be in quotes.

    Raises ToolError for what is missing, unknown, or of the wrong type.
    """
    fields = {field.name: field for field in _list_fields(arguments)}
    present = rename_arguments(arguments, values)
    for name in present:
        if name not in fields:
            listed = [field.name for field in fields.values() if field.description != UNLISTED]
            raise ToolError(f"unknown argument {name!r}", hint=suggest_known(name, listed))
    for field in fields.values():
        if field.is_required and field.name not in present:
            raise ToolError(f"missing argument {field.name!r}")
    return arguments(**{name: _parse_value(fields[name], v) for name, v in present.items()})


def _list_fields(arguments: type[Any]) -> tuple[_Field, ...]:
    if arguments not in _fields:
        hints = get_type_hints(arguments, include_extras=True)
        _fields[arguments] = tuple(_make_field(arguments, *item) for item in hints.items())
    return _fields[arguments]


def _make_field(arguments: type[Any], name: str, hint: Any) -> _Field:
    is_described = get_origin(hint) is Annotated
    kind, description, *names = get_args(hint) if is_described else (hint, None)
    return _Field(name, kind, description, tuple(names), name not in arguments._field_defaults)


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
