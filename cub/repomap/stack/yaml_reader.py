"""Read the scalars of a YAML file, each with its keys, from its events.

Nothing is constructed: tags have no effect, and an alias is a value `*name`, so that no file can
expand. Size, depth and number of values are bounded, and a file is read up to its first error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import count, islice
from typing import Any, NamedTuple

from cub.config_edit.yaml_events import YamlSyntaxError, is_event, iter_yaml_events

MAX_LEVELS = 24
_MAX_CHARS = 1_000_000
_MAX_EVENTS = 100_000


class YamlScalar(NamedTuple):
    """Hold a scalar and the keys that lead to it; the items of a list are "0", "1" and so on."""

    keys: tuple[str, ...]
    value: str


def read_yaml_scalars(text: str) -> list[YamlScalar]:
    """Return the scalars of a text in order, as strings; empty values are left out.

    Never fails: what follows a syntax error or lies beyond a limit is missing.
    """
    scalars: list[YamlScalar] = []
    with suppress(YamlSyntaxError, StopIteration):
        events = islice(iter_yaml_events(text[:_MAX_CHARS], takes_tabs=True), _MAX_EVENTS)
        for event in events:
            if hasattr(event, "anchor"):  # the outermost node of a document
                _read_node(event, events, (), scalars)
    return scalars


def select_below(scalars: list[YamlScalar], *keys: str) -> list[YamlScalar]:
    """Return the scalars under these keys, with the rest of their keys."""
    return [e._replace(keys=e.keys[len(keys) :]) for e in scalars if e.keys[: len(keys)] == keys]


def _read_node(
    event: Any, events: Iterator[Any], keys: tuple[str | None, ...], scalars: list[YamlScalar]
) -> None:
    """Add the scalars of a node, unless a key above is empty, a list or a mapping."""
    if not hasattr(event, "flow_style"):
        text, known = _get_text(event), tuple(key for key in keys if key is not None)
        if text is not None and len(known) == len(keys):
            scalars.append(YamlScalar(known, text))
        return
    if len(keys) == MAX_LEVELS:
        raise YamlSyntaxError("nested too deeply")
    is_mapping = is_event(event, "MappingStart")
    for number in count():
        inner, key = next(events), str(number) if not is_mapping else None
        if is_event(inner, "MappingEnd") or is_event(inner, "SequenceEnd"):
            return
        if is_mapping:
            key = _get_text(inner)
            if key is None:
                _read_node(inner, events, (*keys, None), scalars)
            inner = next(events)
        _read_node(inner, events, (*keys, key), scalars)


def _get_text(event: Any) -> str | None:
    """Return what a scalar or an alias says; None for a collection and a missing value."""
    if is_event(event, "Alias"):
        return f"*{event.anchor}"
    if not is_event(event, "Scalar") or (not event.value and not event.style):
        return None
    return str(event.value).strip("\n") if event.style in ("|", ">") else str(event.value)
