"""Which value of each key counts, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cub.edit.plan import PlanWarning
from cub.errors import UsageError
from cub.layout.reading import parse
from cub.layout.source import read
from cub.project.config_input import from_environment
from cub.project.config_layer import Layer, layer_of
from cub.project.settings import NAMED, SECTIONS, SETTINGS, setting_at, similar

Origin = Literal["default", "user", "project", "profile", "environment", "several"]


@dataclass(frozen=True, slots=True)
class Value:
    """A key's value. `where` is a file and line, `profile NAME` or a variable; empty for defaults.

    A client or a profile is one value, under `harnesses.NAME` or `profiles.NAME`. A mapping of
    keys has the origin "several".
    """

    key: str
    value: Any
    origin: Origin = "default"
    where: str = ""


@dataclass(slots=True)
class Layers:
    """Values by key, and what a person should know about their origins."""

    values: dict[str, Value] = field(default_factory=dict)
    warnings: list[PlanWarning] = field(default_factory=list)

    def rows(self) -> list[Value]:
        """All keys in the order of the table, clients and profiles under their names."""
        found = []
        for key in dict.fromkeys([*(s.key.partition(".*")[0] for s in SETTINGS), *NAMED]):
            if key in NAMED:
                named = [v for v in self.values.values() if v.key.startswith(f"{key}.")]
                found += named or [Value(key, {})]
            else:
                found.append(self.values[key])
        return found

    def find(self, key: str) -> Value:
        """A value, a part of one, or a mapping of several; UsageError for an unknown key."""
        if key in self.values:
            return self.values[key]
        keys = key.split(".")
        outer, inner = self.values.get(".".join(keys[:2])), keys[2:]
        if keys[0] in NAMED and outer and inner:
            return _part(outer, key, inner)
        below = [row for row in self.rows() if row.key == key or row.key.startswith(f"{key}.")]
        if not below:
            near = similar(key, [*(row.key for row in self.rows()), *SECTIONS])
            hint = f"did you mean {near!r}?" if near else "`cub config show` lists what there is"
            raise UsageError(f"unknown key {key!r}", hint=hint)
        return below[0] if below[0].key == key else Value(key, _tree(below, key), "several")


def _part(outer: Value, key: str, inner: list[str]) -> Value:
    """What stands inside a client or a profile, or else the default of a client's key."""
    found: Any = outer.value
    for name in inner:
        found = found.get(name) if isinstance(found, dict) else None
    setting = setting_at(tuple(key.split(".")))
    if found is None and setting:
        return Value(key, setting.default)
    if found is None:
        raise UsageError(f"{key!r} is not set")
    return Value(key, found, outer.origin, outer.where)


def _tree(rows: list[Value], key: str) -> dict[str, Any]:
    """Rows below `key` as one mapping."""
    tree: dict[str, Any] = {}
    for row in rows:
        *outer, last = row.key[len(key) + 1 :].split(".", 0 if key in NAMED else -1)
        node = tree
        for name in outer:
            node = node.setdefault(name, {})
        node[last] = row.value
    return tree


def settled(
    project: Layer, user: Layer, environ: Mapping[str, str], profile: str | None = None
) -> Layers:
    """Defaults, then the user's file, the project's, the profile, the environment: later ones win.

    Raises UsageError for an unknown profile, CubError for a wrong variable.
    """
    found = Layers({s.key: Value(s.key, s.default) for s in SETTINGS if "*" not in s.key})
    found.warnings += [*user.warnings, *project.warnings]
    _add(found, user, "user")
    _add(found, project, "project")
    if profile is not None:
        _add(found, _profile(project, user, profile), "profile", f"profile {profile}")
    for setting, name, value in from_environment(environ):
        if setting.project:
            found.warnings.append(PlanWarning(_not_taken(setting.key), name))
        elif value is not None:
            found.values[setting.key] = Value(setting.key, value, "environment", name)
    return found


def read_layer(data: bytes | None, path: str) -> Layer:
    """What a file sets; `path` stands for it in messages."""
    source = read(data or b"", path)
    return layer_of(parse(source), source)


def _add(found: Layers, layer: Layer, origin: Origin, where: str = "") -> None:
    for key, (value, line) in layer.values.items():
        setting = setting_at(tuple(key.split(".")))
        if origin != "project" and setting and setting.project:
            found.warnings.append(PlanWarning(_not_taken(key), layer.source.path, line))
        else:
            place = where or f"{layer.source.path}:{line}"
            found.values[key] = Value(key, value, origin, place)


def _profile(project: Layer, user: Layer, name: str) -> Layer:
    profiles = {**user.profiles, **project.profiles}
    if name not in profiles:
        near = similar(name, profiles)
        known = f"there are: {', '.join(profiles)}" if profiles else "`profiles` has none"
        raise UsageError(f"no profile {name!r}", hint=f"did you mean {near!r}?" if near else known)
    return profiles[name]


def _not_taken(key: str) -> str:
    return f"{key!r} is not taken from here: it counts in the project's own file only"
