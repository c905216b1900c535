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
_TYPES: dict[str, str] = {
    "flag": "boolean", "whole": "integer", "number": "number", "mapping": "object",
    "text": "string", "template": "string", "specifier": "string",
}  # fmt: skip
_WITH_UNITS: dict[str, tuple[str, JsonTree]] = {
    "time": (TIME_PATTERN, {"type": "number", "exclusiveMinimum": 0}),
    "size": (SIZE_PATTERN, {"type": "integer", "minimum": 0}),
}


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
    only = " It is read from the project's own file only." if setting.is_project_only else ""
    keys[setting.path[-1]] = {"description": setting.description + only, **_make_value(setting)}


def _make_mapping(section: str) -> JsonTree:
    return {"description": SECTION_DESCRIPTIONS[section], "type": ["object", "null"]}


def _make_value(setting: Setting) -> JsonTree:
    default = {} if setting.default is None else {"default": setting.default}
    return {**_make_type(setting), **default}


def _make_command() -> JsonTree:
    """Return the schema of an item of `context_commands`."""
    rows = {row.key: {"description": row.description, **_make_value(row)} for row in COMMAND_KEYS}
    return {"type": "object", "properties": rows, "required": [*REQUIRED_COMMAND_KEYS]}


def _make_type(setting: Setting) -> JsonTree:
    """Return the schema of what `setting_kinds` accepts, as far as a schema can express it."""
    kind = setting.kind
    if kind in _WITH_UNITS:
        pattern, number = _WITH_UNITS[kind]
        return {"anyOf": [{"type": "string", "pattern": f"^{pattern}$"}, number, _NULL]}
    if kind == "choice":
        return {"enum": [*setting.choices, None]}
    if kind in _TYPES:
        limits: JsonTree = {"minimum": setting.minimum} if kind in ("whole", "number") else {}
        if kind == "template":
            pattern = build_template_pattern(setting.choices)
            limits = {"maxLength": MAX_TEMPLATE_CHARS, "pattern": pattern}
        return {"type": [_TYPES[kind], "null"], **limits}
    items = {"enum": [*setting.choices]} if kind == "choices" else {"type": "string"}
    items = _make_command() if kind == "commands" else items
    return {"type": ["array", "null"], "items": items}
