"""ruamel.yaml's round trip, with the values that `nodes` gives and a file's own indents."""

from __future__ import annotations

import re
from functools import cache
from io import StringIO
from typing import TYPE_CHECKING, Any

from cub.config_edit import nodes
from cub.config_edit.collection_edits import detect_indents
from cub.config_edit.config_text import ConfigText, KeyPath
from cub.config_edit.nodes import SourceText
from cub.config_edit.value_edits import make_canonical

if TYPE_CHECKING:
    from ruamel.yaml import YAML


def set_value_by_round_trip(config: ConfigText, path: KeyPath, value: Any) -> str:
    """The text as ruamel.yaml writes it, with the value set."""
    if config.root is None or config.root.kind != "mapping":
        raise ValueError("this is no mapping")
    node = tree = load_round_trip(config.source)
    for key in path[:-1]:
        node = node.setdefault(key, {})
        if not hasattr(node, "setdefault"):
            raise ValueError("this is no mapping")
    _assign(node, path[-1], value)
    return _dumped(tree, config)


def load_round_trip(source: SourceText) -> Any:
    """The tree of a text that `reading` has accepted; None if there is nothing in it."""
    from ruamel.yaml.error import YAMLError

    try:
        return _yaml().load(source.text)
    except AssertionError:  # ruamel.yaml's own, for comments above and behind the mark of a block
        raise source.make_error(0, "this can't be edited: a comment is in its way") from None
    except (YAMLError, ValueError) as error:
        words = " ".join(str(error).split())
        raise source.make_error(0, f"this can't be edited: {words}") from None


def _dumped(tree: Any, config: ConfigText) -> str:
    """The tree as text, indented and with line ends as in the text that it was read from."""
    out = StringIO()
    yaml = _yaml()
    mapping, dash, item = detect_indents(config)
    yaml.indent(mapping=mapping, sequence=item, offset=dash)
    yaml.dump(tree, out)
    done = out.getvalue().removeprefix("\ufeff")
    mark = "\ufeff" if config.text.startswith("\ufeff") else ""
    return mark + (done.replace("\n", "\r\n") if "\r\n" in config.text else done)


def _assign(node: Any, key: str, value: Any) -> None:
    """Set a value; a mapping stays the same one, with the comments of the keys that it keeps."""
    old = node.get(key)
    if not (isinstance(old, dict) and isinstance(value, dict)):
        node[key] = value
        return
    for gone in [name for name in old if name not in value]:
        del old[gone]
    for name, inner in value.items():
        if name not in old or make_canonical(old[name]) != make_canonical(inner):
            _assign(old, name, inner)


def _yaml() -> YAML:
    from ruamel.yaml import YAML

    yaml = YAML(typ="rt", pure=True)
    yaml.Resolver = _resolver()
    yaml.preserve_quotes = True
    yaml.width = 4096
    yaml.composer.warn_double_anchors = False
    return yaml


@cache
def _resolver() -> type:
    """The rules of YAML 1.2's core schema; ruamel's own also know dates."""
    from ruamel.yaml.resolver import VersionedResolver

    rules = [
        ("null", nodes.NULL_PATTERN, ["~", "n", "N", ""]),
        ("bool", nodes.BOOL_PATTERN, list("tTfF")),
        ("int", nodes.INT_PATTERN, list("-+0123456789")),
        ("float", nodes.FLOAT_PATTERN, list("-+0123456789.")),
        ("merge", re.compile("<<"), ["<"]),
    ]
    table: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for name, pattern, starts in rules:
        whole = re.compile(f"(?:{pattern.pattern})\\Z")
        for start in starts:
            table.setdefault(start, []).append((f"tag:yaml.org,2002:{name}", whole))

    class Core(VersionedResolver):
        versioned_resolver = table

    return Core
