"""`.cub/config.yaml` as cub acts on it: read with exact places, and every fault an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from cub.edit.plan import PlanWarning
from cub.layout.nodes import Node
from cub.layout.reading import parse as nodes_of
from cub.layout.source import Source, read
from cub.project.config_layer import layer_of
from cub.project.setting_values import fault
from cub.project.settings import MAP_TOKENS, setting_at
from cub.project.targets import DEFAULT_TARGETS, normal

CONFIG = ".cub/config.yaml"
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Config:
    """What a project asks for; every field has a default, so a project needs no file.

    `schema` is None where the file does not tell it.
    """

    schema: int | None = None
    requires_cub: str = ""
    targets: tuple[str, ...] = DEFAULT_TARGETS
    placement: Literal["bottom", "top"] = "bottom"
    inline: tuple[str, ...] = ()
    map_tokens: int = MAP_TOKENS
    map_exclude: tuple[str, ...] = ()
    map_commit: bool = True
    ledger_commit: bool = True
    tasks_commit: bool = True
    backend: Literal["jsonl", "beads"] = "jsonl"
    warnings: tuple[PlanWarning, ...] = ()


def parse(data: bytes | None, *, version: str, path: str = CONFIG, schema: int = SCHEMA) -> Config:
    """Read the file's bytes; None stands for no file. `schema` is the newest that this cub knows.

    Raises CubError with `file:line:column` and the key for a syntax error, a wrong type, a
    target outside the project, a `requires-cub` that excludes `version`, or a newer schema.
    """
    if data is None or not data.strip():
        return Config()
    source = read(data, path)
    root = nodes_of(source)
    _require_known(root, source, version, schema)
    layer = layer_of(root, source)
    values: dict[str, Any] = {key: found.value for key, found in layer.values.items()}
    return Config(
        schema=values.get("schema"),
        requires_cub=str(values.get("requires-cub", "")),
        targets=tuple(dict.fromkeys(map(normal, values.get("targets", DEFAULT_TARGETS)))),
        placement=values.get("placement", "bottom"),
        inline=tuple(dict.fromkeys(values.get("inline", ()))),
        map_tokens=values.get("map.tokens", MAP_TOKENS),
        map_exclude=tuple(values.get("map.exclude", ())),
        map_commit=values.get("map.commit", True),
        ledger_commit=values.get("ledger.commit", True),
        tasks_commit=values.get("tasks.commit", True),
        backend=values.get("tasks.backend", "jsonl"),
        warnings=layer.warnings,
    )


def load(data: bytes, path: str) -> Any:
    """The file as ruamel's round-trip tree; None for a file that says nothing.

    Raises CubError as `parse` does for what is not YAML, or no YAML that cub reads.
    """
    from cub.layout import round_trip

    source = read(data, path)
    nodes_of(source)
    return round_trip.load(source)


def _require_known(root: Node | None, source: Source, version: str, schema: int) -> None:
    """Refuse the file of a newer cub as such, before its other keys are looked at."""
    members = root.members() if root else {}
    for key, check in (("requires-cub", _requirement), ("schema", _newer)):
        setting, entry = setting_at((key,)), members.get(key)
        value = entry.value.plain() if entry else None
        if not setting or not entry or value is None or fault(setting, value):
            continue
        message, hint = check(value, version, schema)
        if message:
            raise source.error(entry.value.start, f"{key}: {message}", hint)


def _requirement(value: Any, version: str, _: int) -> tuple[str, str]:
    from packaging.specifiers import SpecifierSet

    if SpecifierSet(str(value)).contains(version, prereleases=True):
        return "", ""
    return (
        f"this project needs cub {value}, this is cub {version}",
        "install a cub that fits, the way you installed this one",
    )


def _newer(value: Any, _: str, schema: int) -> tuple[str, str]:
    if value <= schema:
        return "", ""
    return (
        f"this project was written by a newer cub (schema {value}, this cub knows {schema})",
        f"upgrade cub to one that knows schema {value}, the way you installed it",
    )
