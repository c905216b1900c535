"""Read `.cub/config.yaml` and check it against the table of keys; errors have exact places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from cub import __version__
from cub.config_edit.nodes import ConfigNode, MappingEntry
from cub.config_edit.yaml_text import parse_yaml
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.installation import find_installation
from cub.project.setting_kinds import SettingFault, find_setting_fault
from cub.project.settings import (
    COMMAND_KEYS,
    DEFAULT_MAP_TOKENS,
    USER_NAMED_SECTIONS,
    Setting,
    SettingPath,
    find_setting,
    list_member_keys,
)
from cub.project.targets import DEFAULT_TARGETS, normalize_target
from cub.source_text import SourceText, decode_source
from cub.text import suggest_similar

CONFIG_FILE = ".cub/config.yaml"
CONFIG_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class ProjectConfig:
    """Hold what a project asks for; every field has a default. `schema` is None if not set.

    `targets` are the default ones unless `has_targets`.
    """

    schema: int | None = None
    targets: tuple[str, ...] = DEFAULT_TARGETS
    placement: Literal["bottom", "top"] = "bottom"
    inline: tuple[str, ...] = ()
    map_tokens: int = DEFAULT_MAP_TOKENS
    map_exclude: tuple[str, ...] = ()
    map_commit: bool = True
    ledger_commit: bool = True
    tasks_commit: bool = True
    backend: Literal["jsonl", "beads"] = "jsonl"
    warnings: tuple[PlanWarning, ...] = ()
    has_targets: bool = False


def parse_config(
    data: bytes | None, *, version: str = __version__, schema: int = CONFIG_SCHEMA
) -> ProjectConfig:
    """Read the file's bytes; None means no file. `schema` is the newest that this cub knows.

    Raises CubError with `file:line:column` and the key for a syntax error, a wrong type, a target
    outside the project, a `requires-cub` that excludes `version`, or a newer schema.
    """
    source = decode_source(data or b"", CONFIG_FILE)
    root = parse_yaml(source)
    _require_known(root, source, version, schema)
    layer = parse_layer(root, source)
    values: dict[str, Any] = {key: row.value for key, row in layer.values.items()}
    return ProjectConfig(
        schema=values.get("schema"),
        targets=tuple(dict.fromkeys(map(normalize_target, values.get("targets", DEFAULT_TARGETS)))),
        placement=values.get("placement", "bottom"),
        inline=tuple(dict.fromkeys(values.get("inline", ()))),
        map_tokens=values.get("map.tokens", DEFAULT_MAP_TOKENS),
        map_exclude=tuple(values.get("map.exclude", ())),
        map_commit=values.get("map.commit", True),
        ledger_commit=values.get("ledger.commit", True),
        tasks_commit=values.get("tasks.commit", True),
        backend=values.get("tasks.backend", "jsonl"),
        warnings=tuple(layer.warnings),
        has_targets="targets" in values,
    )


def _require_known(root: ConfigNode | None, source: SourceText, version: str, schema: int) -> None:
    """Refuse the file of a newer cub as such, before its other keys are looked at."""
    members = root.collect_entries() if root else {}
    for key in ("requires-cub", "schema"):
        setting, entry = find_setting((key,)), members.get(key)
        value = entry.value.to_python() if entry else None
        if not setting or not entry or value is None or find_setting_fault(setting, value):
            continue
        if key == "requires-cub" and not _is_met(value, version):
            message = f"this project needs cub {value}, and this is cub {version}"
            hint = "install a version of cub that matches"
            if command := find_installation().suggest_upgrade():
                hint += f"; `{command}` gets the newest one"
        elif key == "schema" and value > schema:
            by = f"by a newer cub (schema {value}, this cub knows {schema})"
            message = f"this project was written {by}"
            hint = find_installation().advise_upgrade(f"schema {value}")
        else:
            continue
        raise source.make_error(entry.value.start, f"{key}: {message}", hint)


def _is_met(specifier: Any, version: str) -> bool:
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(str(specifier)).contains(version, prereleases=True)


MAX_UNKNOWN_KEYS = 20  # warnings of one kind


class LayerValue(NamedTuple):
    """Hold a value, its line, and the lines of a list's items."""

    value: Any
    line: int
    item_lines: tuple[int, ...] = ()


@dataclass(slots=True)
class ConfigLayer:
    """Hold what one file sets, by key; an agent or a profile as a whole, as `harnesses.NAME`.

    `warnings` are about keys that are not in the table, in the order of their lines; those of
    profiles, which are layers of their own, are among them.
    """

    source: SourceText
    prefix: str = ""
    values: dict[str, LayerValue] = field(default_factory=dict)
    warnings: list[PlanWarning] = field(default_factory=list)
    profiles: dict[str, ConfigLayer] = field(default_factory=dict)

    def record_value(self, path: SettingPath, entry: MappingEntry) -> None:
        """Note a value, unless it is not set."""
        if (value := entry.value.to_python()) is not None:
            get_line = self.source.get_line_number
            lines = tuple(get_line(item.start) for item in entry.value.items)
            self.values[".".join(path)] = LayerValue(value, get_line(entry.key.start), lines)

    def make_error(self, path: SettingPath, node: ConfigNode, fault: SettingFault) -> CubError:
        """Make an error that names the place of a value, and its key."""
        name = f"{self.prefix}{'.'.join(path)}"
        return self.source.make_error(node.start, fault.describe(name), fault.hint)


def parse_layer(root: ConfigNode | None, source: SourceText) -> ConfigLayer:
    """Return what a file sets; CubError with file, line, column and key for a wrong type."""
    layer = ConfigLayer(source)
    if root is None or _is_null(root):
        return layer
    if root.kind != "mapping":
        raise source.make_error(root.start, "expected a mapping of keys to values")
    _read_entries(root, layer, ())
    layer.warnings.sort(key=lambda warning: warning.line or 0)
    return layer


def _read_entries(node: ConfigNode, layer: ConfigLayer, path: SettingPath) -> None:
    """Read all entries of the mapping at `path`."""
    for key, entry in node.collect_entries().items():
        key_path = (*path, key)
        setting = find_setting(key_path)
        if setting:
            _require_valid(entry.value, setting, layer, key_path)
            if setting.kind == "commands":
                _warn_unknown_command_keys(entry.value, layer, key)
            if key_path[0] not in USER_NAMED_SECTIONS:
                layer.record_value(key_path, entry)
        elif not path and key in USER_NAMED_SECTIONS and not (layer.prefix and key == "profiles"):
            _read_named_entries(entry, layer, key_path)
        elif list_member_keys(key_path):
            if _is_mapping(entry.value, layer, key_path):
                _read_entries(entry.value, layer, key_path)
        else:
            _warn_unknown_key(entry, layer, key_path)


def _read_named_entries(entry: MappingEntry, layer: ConfigLayer, path: SettingPath) -> None:
    """Read agents or profiles: mappings under names that the user chose."""
    if not _is_mapping(entry.value, layer, path):
        return
    for name, inner in entry.value.collect_entries().items():
        key_path = (*path, name)
        if not _is_mapping(inner.value, layer, key_path):
            continue
        layer.record_value(key_path, inner)
        if path == ("profiles",):
            profile = ConfigLayer(layer.source, f"profiles.{name}.", warnings=layer.warnings)
            layer.profiles[name] = profile
            _read_entries(inner.value, profile, ())
        else:
            _read_entries(inner.value, layer, key_path)


def _is_mapping(node: ConfigNode, layer: ConfigLayer, path: SettingPath) -> bool:
    """Return whether there is something to read in the node; CubError for another type."""
    if node.kind != "mapping" and not _is_null(node):
        raise layer.make_error(path, node, SettingFault("must be a mapping"))
    return node.kind == "mapping"


def _require_valid(
    node: ConfigNode, setting: Setting, layer: ConfigLayer, path: SettingPath
) -> None:
    if fault := find_setting_fault(setting, node.to_python()):
        place = node if fault.item is None else node.items[fault.item]
        entry = place.find_entry(fault.key) if fault.key else None
        raise layer.make_error(path, entry.value if entry else place, fault)


def _warn_unknown_key(
    entry: MappingEntry, layer: ConfigLayer, path: SettingPath, known: Sequence[str] = ()
) -> None:
    """Warn of an unknown key, with the one that it may be meant for; of very many only that."""
    line = layer.source.get_line_number(entry.key.start)
    warnings = layer.warnings
    if len(warnings) == MAX_UNKNOWN_KEYS:
        warnings.append(PlanWarning("more unknown keys, not listed", layer.source.path, line))
    if len(warnings) > MAX_UNKNOWN_KEYS:
        return
    known = known or list_member_keys(path[:-1])
    keys = [key for key in known if not (layer.prefix and key == "profiles")]
    near = suggest_similar(path[-1], keys)
    key, meant = (layer.prefix + ".".join((*path[:-1], name)) for name in (path[-1], near))
    hint = f"did you mean {meant!r}?" if near else "cub keeps the key and ignores it"
    warnings.append(PlanWarning(f"unknown key {key!r}", layer.source.path, line, hint))


def _warn_unknown_command_keys(node: ConfigNode, layer: ConfigLayer, key: str) -> None:
    known = [row.key for row in COMMAND_KEYS]
    for number, item in enumerate(node.items):
        for name, entry in item.collect_entries().items():
            if name not in known:
                _warn_unknown_key(entry, layer, (f"{key}[{number}]", name), known)


def _is_null(node: ConfigNode) -> bool:
    return node.kind == "scalar" and node.value is None
