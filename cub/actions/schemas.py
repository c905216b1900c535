"""Find the JSON Schemas of what cub prints, by name or command, and bundle each as one document.

The files in docs/reference/schemas refer to each other; a bundle refers only to itself, so that a
program that validates with it needs nothing else.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NamedTuple

from cub.errors import UsageError
from cub.project.config_schema import build_config_schema
from cub.resources import find_data_dir
from cub.text import suggest_similar

JsonSchema = dict[str, Any]
COMMON = "common"  # the file with what several schemas share; none by itself
CONFIG = "config"  # made of the table of settings, and in no file
_OF_FILE = ("$schema", "title", "x-commands", "$defs")  # what only a whole document has


class SchemaInfo(NamedTuple):
    """Describe a schema: its name, its title, and the commands that print it with `--json`."""

    name: str
    title: str
    commands: tuple[str, ...]


def list_schemas() -> list[SchemaInfo]:
    """Return all schemas, by name."""
    files = (path.stem for path in find_data_dir("schemas").glob("*.json"))
    trees = {name: _read_file(name) for name in files if name != COMMON}
    trees[CONFIG] = build_config_schema()
    return [
        SchemaInfo(name, tree["title"], tuple(tree.get("x-commands", ())))
        for name, tree in sorted(trees.items())
    ]


def find_schema(text: str) -> str:
    """Return the name of the schema for a name or a command; UsageError if there is none."""
    schemas = list_schemas()
    names_by_command = {command: schema.name for schema in schemas for command in schema.commands}
    names = [schema.name for schema in schemas]
    if text in names:
        return text
    if (command := f"cub {text.removeprefix('cub ')}") in names_by_command:
        return names_by_command[command]
    near = suggest_similar(text, names)
    hint = f"did you mean {near!r}?" if near else "run `cub schema` to list them"
    raise UsageError(f"unknown schema {text!r}", hint=hint)


def bundle_schema(name: str) -> JsonSchema:
    """Return a schema as one document, with all that it refers to under `$defs`."""
    if name == CONFIG:
        return build_config_schema()
    whole = _read_file(name)
    inner: JsonSchema = {}
    own = {key: value for key, value in whole.items() if key != "$defs"}
    body = _resolve_refs(own, name, inner)
    identity = {"$schema": body.pop("$schema"), "$id": f"urn:cub:schema:v1:{name}"}
    return {**identity, **body, **({"$defs": dict(sorted(inner.items()))} if inner else {})}


def _resolve_refs(value: Any, home: str, inner: JsonSchema) -> Any:
    """Return a part of the file `home`, with all that it refers to put into `inner`."""
    if isinstance(value, list):
        return [_resolve_refs(item, home, inner) for item in value]
    if not isinstance(value, dict):
        return value
    resolved = {key: _resolve_refs(item, home, inner) for key, item in value.items()}
    if "$ref" in value:
        file, _, definition = value["$ref"].partition("#/$defs/")
        file = file.removesuffix(".json") or home
        key = definition or file
        if key not in inner:
            inner[key] = {}  # what refers to itself is not gathered twice
            inner[key] = _resolve_refs(_get_part(file, definition), file, inner)
        resolved["$ref"] = f"#/$defs/{key}"
    return resolved


def _get_part(file: str, definition: str) -> JsonSchema:
    """Return a definition of a file, or all that the file describes."""
    whole = _read_file(file)
    if definition:
        return dict(whole["$defs"][definition])
    return {key: value for key, value in whole.items() if key not in _OF_FILE}


@cache
def _read_file(name: str) -> JsonSchema:
    tree: JsonSchema = json.loads((find_data_dir("schemas") / f"{name}.json").read_bytes())
    return tree
