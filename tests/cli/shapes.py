"""The published schemas held against what is printed: closed, and with every key looked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from cub.actions.schemas import COMMON, bundle_schema, list_schemas
from cub.resources import find_data_dir

Tree = dict[str, Any]
_NAME = "x-def"  # which definition a part of a closed schema was


@cache
def closed(name: str) -> Tree:
    """A schema in which no object may have a key that is not described.

    The published ones are open: readers ignore what they don't know. A key that is printed and not
    described is a fault of the schema all the same, which this one shows.
    """
    whole = bundle_schema(name)
    return _closed(whole, whole.get("$defs", {}))


def fault(name: str, value: object) -> str:
    """Where and why a value is not as the closed schema and the published one say; "" if it is."""
    for schema in (closed(name), bundle_schema(name)):
        for error in Draft202012Validator(schema).iter_errors(value):
            return f"{name}: {_reason(error)}"
    return ""


def unseen(name: str, values: Sequence[object], shared: frozenset[str]) -> list[str]:
    """The keys of a schema that none of the values has; of what it shares with others, only those
    in the definitions `shared`.
    """
    others = {*_read()["$defs"], *(one.name for one in list_schemas())} - shared
    return [*_unseen(closed(name), values, name, others)]


def definitions() -> set[str]:
    """What several schemas share and that has keys of its own."""
    return {
        name for name, tree in _read()["$defs"].items() if tree.keys() & {"properties", "oneOf"}
    }


def _reason(error: Any) -> str:
    """Why a value is none of several: what is wrong with it as the event that it says it is."""
    branches: dict[Any, list[Any]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)
    for errors in branches.values():
        if all(list(one.path)[-1:] != ["ev"] for one in errors):
            return _reason(errors[0])
    return f"{error.json_path}: {error.message}"


def _closed(part: Tree, defs: Tree, *, inner: bool = False) -> Tree:
    if "$ref" in part:
        name = part["$ref"].removeprefix("#/$defs/")
        beside = {key: value for key, value in part.items() if key not in ("$ref", "$defs")}
        return {**_closed(defs[name], defs, inner=inner), _NAME: name, **beside}
    made = {key: value for key, value in part.items() if key != "$defs"}
    if made.keys() & {"properties", "allOf"}:
        made.pop("additionalProperties", None)
        made |= {} if inner else {"unevaluatedProperties": False}
    if "properties" in part:
        made["properties"] = {k: _closed(v, defs) for k, v in part["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), dict):
            made[key] = _closed(made[key], defs)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in made:
            made[key] = [_closed(one, defs, inner=key == "allOf") for one in made[key]]
    return made


def _unseen(part: Tree, values: Sequence[Any], at: str, others: set[str]) -> Iterator[str]:
    if part.get(_NAME, "") in others:
        return
    at = part.get(_NAME, at)
    if not values:
        yield at
        return
    for key, inner in part.get("properties", {}).items():
        found = [value[key] for value in values if value and key in value]
        yield from _unseen(inner, found, f"{at}.{key}", others)
    if "items" in part:
        entries = [entry for value in values for entry in value or ()]
        yield from _unseen(part["items"], entries, f"{at}[]", others)
    if isinstance(part.get("additionalProperties"), dict):
        entries = [entry for value in values for entry in (value or {}).values()]
        yield from _unseen(part["additionalProperties"], entries, f"{at}.*", others)
    for inner in part.get("allOf", ()):
        yield from _unseen(inner, values, at, others)
    for inner in (*part.get("anyOf", ()), *part.get("oneOf", ())):
        if not inner.get(_NAME, "other_").startswith("other_"):  # of no version that there is
            fits = Draft202012Validator(inner).is_valid
            yield from _unseen(inner, [one for one in values if fits(one)], at, others)


def _read() -> Tree:
    tree: Tree = json.loads((find_data_dir("schemas") / f"{COMMON}.json").read_bytes())
    return tree
