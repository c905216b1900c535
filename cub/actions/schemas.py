"""The JSON Schemas of what cub prints: found by name or by command, each made one document.

The files in docs/reference/schemas refer to each other. What is handed out refers to itself alone,
so that whoever validates with it needs nothing else.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NamedTuple

from cub.errors import UsageError
from cub.project.config_schema import build_config_schema as config_schema
from cub.resources import find_data_dir

JsonSchema = dict[str, Any]
COMMON = "common"  # the file with what several schemas share; none by itself
CONFIG = "config"  # made of the table of settings, and in no file
_OF_FILE = ("$schema", "title", "x-commands", "$defs")  # what only a whole document has


class SchemaInfo(NamedTuple):
    """A schema: its name, what it describes, and the commands that print it with `--json`."""

    name: str
    title: str
    commands: tuple[str, ...]


def list_schemas() -> list[SchemaInfo]:
    """All schemas, by name."""
    files = (path.stem for path in find_data_dir("schemas").glob("*.json"))
    names = sorted({CONFIG, *files} - {COMMON})
    return [_describe(name) for name in names]


def find_schema(text: str) -> str:
    """The name of the schema that is called so, or that a command of these words prints."""
    known = list_schemas()
    printed = {command: one.name for one in known for command in one.commands}
    names = [one.name for one in known]
    if text in names:
        return text
    if (command := f"cub {text.removeprefix('cub ')}") in printed:
        return printed[command]
    raise UsageError(f"no schema {text!r}", hint=_hint(text, names))


def bundle_schema(name: str) -> JsonSchema:
    """A schema as one document, with all that it refers to under `$defs`."""
    if name == CONFIG:
        return config_schema()
    whole = _read(name)
    inner: JsonSchema = {}
    body = _gather({key: value for key, value in whole.items() if key != "$defs"}, name, inner)
    identity = {"$schema": body.pop("$schema"), "$id": f"urn:cub:schema:v1:{name}"}
    return {**identity, **body, **({"$defs": dict(sorted(inner.items()))} if inner else {})}


def _describe(name: str) -> SchemaInfo:
    tree = config_schema() if name == CONFIG else _read(name)
    return SchemaInfo(name, tree["title"], tuple(tree.get("x-commands", ())))


def _gather(value: Any, home: str, inner: JsonSchema) -> Any:
    """A part of the file `home`; what it refers to is put into `inner`, and referred to there."""
    if isinstance(value, list):
        return [_gather(one, home, inner) for one in value]
    if not isinstance(value, dict):
        return value
    found = {key: _gather(one, home, inner) for key, one in value.items()}
    if "$ref" in value:
        file, _, place = value["$ref"].partition("#/$defs/")
        file = file.removesuffix(".json") or home
        key = place or file
        if key not in inner:
            inner[key] = {}  # what refers to itself is not gathered twice
            inner[key] = _gather(_part(file, place), file, inner)
        found["$ref"] = f"#/$defs/{key}"
    return found


def _part(file: str, place: str) -> JsonSchema:
    """A definition of a file, or all that the file describes."""
    whole = _read(file)
    if place:
        return dict(whole["$defs"][place])
    return {key: value for key, value in whole.items() if key not in _OF_FILE}


@cache
def _read(name: str) -> JsonSchema:
    tree: JsonSchema = json.loads((find_data_dir("schemas") / f"{name}.json").read_bytes())
    return tree


def _hint(text: str, names: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(text, names, 1)
    return f"did you mean {near[0]!r}?" if near else "`cub schema` lists them"
