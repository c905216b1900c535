"""Read the scalars of a YAML file, each with its keys, from its events.

Nothing is constructed: tags have no effect, and an alias is a value `*name`, so that no file can
expand. Size, depth and number of values are bounded, and a file is read up to its first error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from cub.config_edit.yaml_events import YamlSyntaxError, is_event, iter_yaml_events

MAX_LEVELS = 24
_MAX_CHARS = 1_000_000
_MAX_EVENTS = 100_000


class YamlScalar(NamedTuple):
    """Hold a scalar and the keys that lead to it; the items of a list are "0", "1" and so on."""

    keys: tuple[str, ...]
    value: str
    line: int


def read_yaml_scalars(text: str) -> list[YamlScalar]:
    """Return the scalars of a text in order, as strings; empty values are left out.

    Never fails: what follows a syntax error or lies beyond a limit is missing.
    """
    scalars: list[YamlScalar] = []
    with suppress(YamlSyntaxError):
        events = iter_yaml_events(text[:_MAX_CHARS], takes_tabs=True)
        scalars.extend(_iter_scalars(islice(events, _MAX_EVENTS)))
    return scalars


def select_below(scalars: list[YamlScalar], *keys: str) -> list[YamlScalar]:
    """Return the scalars under these keys, with the rest of their keys."""
    count = len(keys)
    return [e._replace(keys=e.keys[count:]) for e in scalars if e.keys[:count] == keys]


@dataclass(slots=True)
class _Collection:
    """Describe an open list or mapping; `key` leads to its current item, None if it has none."""

    is_mapping: bool
    nodes: int = 0  # of a mapping: keys and values
    key: str | None = None

    def start_node(self, text: str | None) -> bool:
        """Count a node, and return whether it is a key; `text` is that of a scalar."""
        is_key = self.is_mapping and self.nodes % 2 == 0
        if is_key:
            self.key = text
        elif not self.is_mapping:
            self.key = str(self.nodes)
        self.nodes += 1
        return is_key


def _iter_scalars(events: Iterable[Any]) -> Iterator[YamlScalar]:
    collections: list[_Collection] = []
    for event in events:
        if is_event(event, "SequenceEnd") or is_event(event, "MappingEnd"):
            collections.pop()
        elif hasattr(event, "anchor"):  # a node
            text = _get_text(event)
            is_key = bool(collections) and collections[-1].start_node(text)
            if hasattr(event, "flow_style"):  # a list or a mapping starts
                if len(collections) == MAX_LEVELS:
                    return
                collections.append(_Collection(is_event(event, "MappingStart")))
            elif not is_key and text is not None:
                keys = tuple(c.key for c in collections if c.key is not None)
                if len(keys) == len(collections):  # no key is a list or a mapping
                    yield YamlScalar(keys, text, event.start_mark.line + 1)


def _get_text(event: Any) -> str | None:
    """Return what a scalar or an alias says; None for a collection and a missing value."""
    if is_event(event, "Alias"):
        return f"*{event.anchor}"
    if not is_event(event, "Scalar") or (not event.value and not event.style):
        return None
    return str(event.value).strip("\n") if event.style in ("|", ">") else str(event.value)
