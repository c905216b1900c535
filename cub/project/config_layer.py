"""One configuration, a file or a profile in it, checked against the table of keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.layout.nodes import Entry, Node
from cub.layout.source import Source
from cub.project.setting_values import fault
from cub.project.settings import LIVE, NAMED, TOP, Path, Setting, members_of, setting_at, similar

MOST_UNKNOWN = 20  # warnings of one kind; nobody reads more of them


class Found(NamedTuple):
    """A value, and the line that it stands in."""

    value: Any
    line: int


@dataclass(slots=True)
class Layer:
    """What one file sets, by key; a client or a profile as a whole, as `harnesses.NAME`.

    `unknown` warns about keys that are not in the table, those in profiles too, `idle` about
    those that this version does not act on. `profiles` are layers of their own.
    """

    source: Source
    prefix: str = ""
    values: dict[str, Found] = field(default_factory=dict)
    unknown: list[PlanWarning] = field(default_factory=list)
    idle: list[PlanWarning] = field(default_factory=list)
    profiles: dict[str, Layer] = field(default_factory=dict)

    @property
    def warnings(self) -> tuple[PlanWarning, ...]:
        """All of them in the order of the lines."""
        return tuple(sorted((*self.unknown, *self.idle), key=lambda warning: warning.line or 0))

    def keep(self, path: Path, entry: Entry) -> None:
        """Note a value, unless it is not set."""
        if (value := entry.value.plain()) is not None:
            self.values[".".join(path)] = Found(value, self.source.line(entry.key.start))

    def error(self, path: Path, node: Node, message: str, hint: str = "") -> CubError:
        """An error that names the place of a value, and its key."""
        return self.source.error(node.start, f"{self.prefix}{'.'.join(path)}: {message}", hint)


def layer_of(root: Node | None, source: Source) -> Layer:
    """What a file sets; CubError with file, line, column and key for a wrong type."""
    layer = Layer(source)
    if root is None or _is_null(root):
        return layer
    if root.kind != "mapping":
        raise source.error(root.start, "this is not a mapping of keys to values")
    _read(root, layer, ())
    for key, entry in root.members().items():
        if key in TOP and key not in LIVE:
            _warn_idle(entry, layer, key)
    return layer


def _read(node: Node, layer: Layer, path: Path) -> None:
    """All entries of a mapping that stands at `path`."""
    for key, entry in node.members().items():
        here = (*path, key)
        setting = setting_at(here)
        if setting:
            _check(entry.value, setting, layer, here)
            if not setting.live and here[0] in LIVE and not layer.prefix:
                _warn_idle(entry, layer, setting.key)
            if here[0] not in NAMED:
                layer.keep(here, entry)
        elif not path and key in NAMED and not (layer.prefix and key == "profiles"):
            _named(entry, layer, here)
        elif members_of(here):
            _read_section(entry, layer, here)
        else:
            _warn(entry, layer, here)


def _named(entry: Entry, layer: Layer, path: Path) -> None:
    """Clients, or profiles: mappings under names of the person's choice."""
    if not _is_mapping(entry.value, layer, path):
        return
    for name, inner in entry.value.members().items():
        here = (*path, name)
        if not _is_mapping(inner.value, layer, here):
            continue
        layer.keep(here, inner)
        if path == ("profiles",):
            profile = Layer(layer.source, f"profiles.{name}.", unknown=layer.unknown)
            layer.profiles[name] = profile
            _read(inner.value, profile, ())
        else:
            _read(inner.value, layer, here)


def _read_section(entry: Entry, layer: Layer, path: Path) -> None:
    if _is_mapping(entry.value, layer, path):
        _read(entry.value, layer, path)


def _is_mapping(node: Node, layer: Layer, path: Path) -> bool:
    """Whether there is something in it to be read; CubError for another type."""
    if node.kind != "mapping" and not _is_null(node):
        raise layer.error(path, node, "this is not a mapping")
    return node.kind == "mapping"


def _check(node: Node, setting: Setting, layer: Layer, path: Path) -> None:
    if found := fault(setting, node.plain()):
        place = node if found.item is None else node.items[found.item]
        raise layer.error(path, place, found.message, found.hint)


def _warn(entry: Entry, layer: Layer, path: Path) -> None:
    """Tell of an unknown key, and what it may be meant for; of very many only that."""
    line = layer.source.line(entry.key.start)
    if len(layer.unknown) > MOST_UNKNOWN:
        return
    if len(layer.unknown) == MOST_UNKNOWN:
        layer.unknown.append(PlanWarning("more keys are unknown", layer.source.path, line))
        return
    known = [key for key in members_of(path[:-1]) if not (layer.prefix and key == "profiles")]
    near = similar(path[-1], known)
    key, meant = (layer.prefix + ".".join((*path[:-1], name)) for name in (path[-1], near))
    hint = f"did you mean {meant!r}?" if near else "it is kept, and has no effect"
    layer.unknown.append(PlanWarning(f"unknown key {key!r}", layer.source.path, line, hint))


def _warn_idle(entry: Entry, layer: Layer, key: str) -> None:
    what = f"key {key!r} has no effect in this version"
    line = layer.source.line(entry.key.start)
    layer.idle.append(PlanWarning(what, layer.source.path, line))


def _is_null(node: Node) -> bool:
    return node.kind == "scalar" and node.value is None
