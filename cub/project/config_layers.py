"""Merge all values of settings, from the command line to the user's own configuration.

For each key, the value of the last layer counts, and its origin is known. What is denied adds up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from cub.config_edit.nodes import NULL_PATTERN
from cub.config_edit.yaml_text import parse_yaml
from cub.debug_log import log_debug
from cub.edit.plan import PlanWarning
from cub.errors import CubError, UsageError
from cub.files.single_file import read_single_file
from cub.project.config import CONFIG_FILE, ConfigLayer, parse_layer
from cub.project.project import Project
from cub.project.setting_kinds import find_setting_fault
from cub.project.settings import (
    SECTION_DESCRIPTIONS,
    SETTINGS,
    USER_NAMED_SECTIONS,
    Setting,
    find_setting,
)
from cub.source_text import decode_source
from cub.text import suggest_similar

_VERBATIM = ("template", "text", "specifier")
ValueOrigin = Literal["default", "user", "project", "profile", "environment", "several"]


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """Hold a key's value; `where` is a file and line, `profile NAME`, a variable, or "".

    An agent or a profile is one value, `harnesses.NAME` or `profiles.NAME`. A mapping of keys has
    the origin "several". `item_places` has the file and line of each item of a list in a file.
    """

    key: str
    value: Any
    origin: ValueOrigin = "default"
    where: str = ""
    item_places: tuple[str, ...] = ()


@dataclass(slots=True)
class ResolvedConfig:
    """Hold values by key, and warnings about their origins."""

    values: dict[str, ConfigValue] = field(default_factory=dict)
    warnings: list[PlanWarning] = field(default_factory=list)

    def set_value(self, row: ConfigValue, setting: Setting | None) -> None:
        """Take a value of the next layer, instead of those below it or in addition to them."""
        if setting and setting.is_collected:
            items = [*self.values[row.key].value, *row.value]
            row = replace(row, value=list(dict.fromkeys(items)))
        self.values[row.key] = row

    def list_values(self) -> list[ConfigValue]:
        """Return all keys in the order of the table, agents and profiles under their names."""
        rows = []
        keys = [*(s.key.partition(".*")[0] for s in SETTINGS), *USER_NAMED_SECTIONS]
        for key in dict.fromkeys(keys):
            if key in USER_NAMED_SECTIONS:
                named = [v for v in self.values.values() if v.key.startswith(f"{key}.")]
                rows += named or [ConfigValue(key, {})]
            else:
                rows.append(self.values[key])
        return rows

    def find_value(self, key: str) -> ConfigValue:
        """Return a value, a part of one, or a mapping of several; UsageError for an unknown key."""
        if key in self.values:
            return self.values[key]
        keys = key.split(".")
        outer, inner = self.values.get(".".join(keys[:2])), keys[2:]
        if keys[0] in USER_NAMED_SECTIONS and outer and inner:
            return _get_part(outer, key, inner)
        rows = self.list_values()
        below = [row for row in rows if row.key == key or row.key.startswith(f"{key}.")]
        if not below:
            near = suggest_similar(key, [*(row.key for row in rows), *SECTION_DESCRIPTIONS])
            hint = f"did you mean {near!r}?" if near else "run `cub config show` to list all keys"
            raise UsageError(f"unknown key {key!r}", hint=hint)
        if below[0].key == key:
            return below[0]
        return ConfigValue(key, _build_tree(below, key), "several")


def resolve_config(
    project: Project, environ: Mapping[str, str], profile: str | None = None
) -> ResolvedConfig:
    """Return the values of all keys in a project."""
    own = parse_layer_bytes(project.config_data, CONFIG_FILE)
    user = parse_layer_bytes(read_user_config(), abbreviate_home(get_user_config_path()))
    layers = merge_layers(own, user, environ, profile)
    for row in layers.list_values():
        if row.origin != "default":
            log_debug(f"{row.key} is set by {row.where or row.origin}")
    return layers


def merge_layers(
    project: ConfigLayer, user: ConfigLayer, environ: Mapping[str, str], profile: str | None = None
) -> ResolvedConfig:
    """Merge defaults, the user's file, the project's, the profile, the environment: later win.

    Raises UsageError for an unknown profile, CubError for a wrong variable. Other variables CUB_*
    are ignored.
    """
    defaults = {s.key: ConfigValue(s.key, s.default) for s in SETTINGS if "*" not in s.key}
    merged = ResolvedConfig(defaults, [*user.warnings, *project.warnings])
    _add_layer(merged, user, "user")
    _add_layer(merged, project, "project")
    if profile is not None:
        layer = _find_profile(project, user, profile)
        _add_layer(merged, layer, "profile", f"profile {profile}")
    for setting in SETTINGS:
        name = get_environment_variable(setting)
        if name in environ and setting.is_project_only:
            merged.warnings.append(PlanWarning(_describe_ignored(setting.key), name))
        elif name in environ and (value := _read_variable(setting, name, environ)) is not None:
            merged.set_value(ConfigValue(setting.key, value, "environment", name), setting)
    return merged


def parse_layer_bytes(data: bytes | None, path: str) -> ConfigLayer:
    """Return what a file sets; `path` is its name in messages."""
    source = decode_source(data or b"", path)
    return parse_layer(parse_yaml(source), source)


def get_environment_variable(setting: Setting) -> str:
    """Return the environment variable of a setting, "" for a setting of an agent."""
    name = setting.key.upper().replace(".", "_").replace("-", "_")
    return "" if "*" in setting.key else f"CUB_{name}"


def parse_setting_value(words: str, setting: Setting | None = None) -> Any:
    """Parse words as YAML; a string that is expected needs no quotes.

    CubError, without a place, for what can't be read.
    """
    wants_text = setting is not None and setting.kind in _VERBATIM
    try:
        source = decode_source(words.encode("utf-8", "surrogateescape"), "")
        if wants_text and not words.startswith(("'", '"')):
            return None if NULL_PATTERN.fullmatch(words) else words
        root = parse_yaml(source)
    except CubError as error:
        message = f"cannot read {words!r}: {error.message}"
        raise CubError(message, hint=error.hint) from None
    return root.to_python() if root else None


def get_user_config_path() -> Path:
    """Return the path of the user's configuration, whether or not it exists."""
    from platformdirs import user_config_path

    return user_config_path("cub").absolute() / "config.yaml"


def abbreviate_home(path: Path) -> str:
    """Shorten a path in the home folder for messages."""
    try:
        return f"~/{path.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):  # elsewhere, or there is no home folder
        return path.as_posix()


def read_user_config() -> bytes | None:
    """Return the bytes of the user's configuration; None if there is none."""
    path = get_user_config_path()
    return read_single_file(path, abbreviate_home(path))


def _read_variable(setting: Setting, name: str, environ: Mapping[str, str]) -> Any:
    try:
        value = parse_setting_value(environ[name], setting)
    except CubError as error:
        raise CubError(error.message, where=name, hint=error.hint) from None
    if fault := find_setting_fault(setting, value):
        raise CubError(fault.describe("").lstrip(), where=name, hint=fault.hint)
    return value


def _get_part(outer: ConfigValue, key: str, inner: list[str]) -> ConfigValue:
    """Return a value inside an agent or a profile, or else the default of an agent's key."""
    value: Any = outer.value
    for name in inner:
        value = value.get(name) if isinstance(value, dict) else None
    setting = find_setting(tuple(key.split(".")))
    if value is None and setting:
        return ConfigValue(key, setting.default)
    if value is None:
        raise UsageError(f"{key!r} is not set", hint="run `cub config show` to list keys")
    return ConfigValue(key, value, outer.origin, outer.where)


def _build_tree(rows: list[ConfigValue], key: str) -> dict[str, Any]:
    """Return the rows below `key` as one mapping."""
    tree: dict[str, Any] = {}
    for row in rows:
        *outer, last = row.key[len(key) + 1 :].split(".", 0 if key in USER_NAMED_SECTIONS else -1)
        node = tree
        for name in outer:
            node = node.setdefault(name, {})
        node[last] = row.value
    return tree


def _add_layer(
    merged: ResolvedConfig, layer: ConfigLayer, origin: ValueOrigin, where: str = ""
) -> None:
    for key, (value, line, item_lines) in layer.values.items():
        setting = find_setting(tuple(key.split(".")))
        if origin != "project" and setting and setting.is_project_only:
            merged.warnings.append(PlanWarning(_describe_ignored(key), layer.source.path, line))
        else:
            location = where or f"{layer.source.path}:{line}"
            places = tuple(f"{layer.source.path}:{item_line}" for item_line in item_lines)
            merged.set_value(ConfigValue(key, value, origin, location, places), setting)


def _find_profile(project: ConfigLayer, user: ConfigLayer, name: str) -> ConfigLayer:
    profiles = {**user.profiles, **project.profiles}
    if name not in profiles:
        near = suggest_similar(name, profiles)
        known = f"choose from {', '.join(profiles)}" if profiles else "add it to `profiles`"
        raise UsageError(
            f"unknown profile {name!r}", hint=f"did you mean {near!r}?" if near else known
        )
    return profiles[name]


def _describe_ignored(key: str) -> str:
    return f"{key!r} is ignored here: set it in the project's .cub/config.yaml"
