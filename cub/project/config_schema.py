"""Build the JSON Schema of config.yaml, for editors and other YAML checkers."""

from __future__ import annotations

from typing import Any

from cub.project.setting_kinds import (
    MAX_TEMPLATE_CHARS,
    SIZE_PATTERN,
    TIME_PATTERN,
    build_template_pattern,
)
from cub.project.settings import (
    COMMAND_KEYS,
    REQUIRED_COMMAND_KEYS,
    SECTION_DESCRIPTIONS,
    SETTINGS,
    Setting,
)

JsonTree = dict[str, Any]
_NULL = {"type": "null"}


def build_config_schema() -> JsonTree:
    """Build the schema of a whole file. Unknown keys are allowed, as cub keeps them."""
    keys: JsonTree = {}
    for setting in SETTINGS:
        _put_setting(keys, setting)
    anywhere = dict.fromkeys(s.path[0] for s in SETTINGS if not s.is_project_only)
    references = {key: {"$ref": f"#/$defs/{key}"} for key in anywhere}
    profiles = {**_make_mapping("profiles"), "additionalProperties": {"$ref": "#/$defs/profile"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The configuration of cub",
        "type": ["object", "null"],
        "properties": {**keys, **references, "profiles": profiles},
        "additionalProperties": True,
        "$defs": {
            **{key: keys[key] for key in anywhere},
            "profile": {"type": ["object", "null"], "properties": references},
        },
    }


def _put_setting(keys: JsonTree, setting: Setting) -> None:
    """Add a setting to the properties `keys`, and the mappings around it."""
    for depth, key in enumerate(setting.path[:-1], 1):
        outer = ".".join(setting.path[:depth])
        if key == "*":
            continue
        mapping = keys.setdefault(key, _make_mapping(outer))
        if setting.path[depth] == "*":
            inner = {"type": ["object", "null"], "properties": {}}
            mapping = mapping.setdefault("additionalProperties", inner)
        keys = mapping.setdefault("properties", {})
    keys[setting.path[-1]] = {"description": _describe(setting), **_make_value(setting)}


def _make_mapping(section: str) -> JsonTree:
    return {"description": SECTION_DESCRIPTIONS[section], "type": ["object", "null"]}


def _describe(setting: Setting) -> str:
    only = " It is read from the project's own file only." if setting.is_project_only else ""
    return setting.description + only


def _make_value(setting: Setting) -> JsonTree:
    default = {} if setting.default is None else {"default": setting.default}
    return {**_make_type(setting), **default}


def _make_command() -> JsonTree:
    """Return the schema of an item of `context_commands`."""
    rows = {row.key: {"description": row.description, **_make_value(row)} for row in COMMAND_KEYS}
    return {
        "type": "object",
        "properties": rows,
        "required": [*REQUIRED_COMMAND_KEYS],
    }


def _make_type(setting: Setting) -> JsonTree:
    """Return the schema of what `setting_kinds` accepts, as far as a schema can express it."""
    time = [
        {"type": "string", "pattern": f"^{TIME_PATTERN}$"},
        {"type": "number", "exclusiveMinimum": 0},
        _NULL,
    ]
    size = [
        {"type": "string", "pattern": f"^{SIZE_PATTERN}$"},
        {"type": "integer", "minimum": 0},
        _NULL,
    ]
    texts: JsonTree = {"type": ["array", "null"], "items": {"type": "string"}}
    types: dict[str, JsonTree] = {
        "flag": {"type": ["boolean", "null"]},
        "whole": {"type": ["integer", "null"], "minimum": setting.minimum},
        "number": {"type": ["number", "null"], "minimum": setting.minimum},
        "template": {
            "type": ["string", "null"],
            "maxLength": MAX_TEMPLATE_CHARS,
            "pattern": build_template_pattern(setting.choices),
        },
        "text": {"type": ["string", "null"]},
        "time": {"anyOf": time},
        "size": {"anyOf": size},
        "choice": {"enum": [*setting.choices, None]},
        "choices": {**texts, "items": {"enum": [*setting.choices]}},
        "mapping": {"type": ["object", "null"]},
        "specifier": {"type": ["string", "null"]},
    }
    if setting.kind == "commands":
        return {**texts, "items": _make_command()}
    return types.get(setting.kind, texts)
