"""The text of a form: YAML that a person likes to edit, and that reads back as it was written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cub.errors import CubError
from cub.layout.nodes import Node, scalar
from cub.layout.reading import parse
from cub.layout.source import Source, read

TEXTS = ("title", "type", "priority", "parent", "description", "notes")
LISTS = {
    "labels": "labels",
    "depends_on": "depends_on",
    "acceptance_criteria": "accept",
    "checks": "checks",
}
_ORDER = (*TEXTS[:4], *LISTS, *TEXTS[4:])
_MOST = 1024 * 1024  # bytes; a description may have 64 KiB, and so may the notes
_PLAIN = re.compile(r"[^\W_](?:[\w ,./()'&+-]*[\w./)])?")
_HALF = re.compile("[\ud800-\udfff]")


def written(fields: Mapping[str, Any]) -> str:
    """The fields as YAML. Bytes that are no text are shown as U+FFFD."""
    said = {key: fields.get(key) or ([] if key in LISTS else fields.get(key)) for key in _ORDER}
    return "".join(f"{key}:{_value(value)}\n" for key, value in said.items())


def parsed(text: str, shown: str) -> dict[str, Any]:
    """The fields of a form. CubError with `shown`, line and column for what is none."""
    source = read(text.encode("utf-8", "surrogateescape"), shown, _MOST)
    root = parse(source)
    if root is None or root.kind != "mapping":
        raise CubError("this is no form of a task", where=shown, hint="nothing was changed")
    found: dict[str, Any] = {}
    for key, entry in root.members().items():
        if key not in _ORDER:
            raise source.error(entry.key.start, f"unknown field {key!r}", ", ".join(_ORDER))
        found[key] = (_list if key in LISTS else _text)(source, entry.value)
    return found


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "".join(f"\n  - {_scalar(str(item))}" for item in value) or " []"
    said = _HALF.sub("\ufffd", "" if value is None else str(value))
    lines = said.strip("\n").split("\n")
    if len(lines) > 1 and all(line.replace("\t", "").isprintable() for line in lines):
        # Without a number, YAML takes the blanks of the first line for the depth of the block.
        depth = "2" if lines[0][:1] in (" ", "\t") else ""
        return "\n  ".join((f" |{depth}", *lines)).replace("\n  \n", "\n\n")
    return f" {_scalar(said)}".rstrip()


def _scalar(text: str) -> str:
    """Plain where nothing in it means anything to YAML, else in quotes."""
    if _PLAIN.fullmatch(text) and (scalar(text) == text or text.isdecimal()):
        return text
    return _quoted(_HALF.sub("\ufffd", text)) if text else ""


def _quoted(text: str) -> str:
    said = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in said)


def _list(source: Source, node: Node) -> list[str]:
    if node.kind == "list":
        return [_text(source, item) for item in node.items]
    if node.kind == "scalar" and node.value is None:
        return []
    raise source.error(node.start, "here a list is expected", "write `- ` before each item")


def _text(source: Source, node: Node) -> str:
    """A text as it is written: 1.10 is no number here."""
    if node.kind != "scalar":
        hint = "put a text that has `: ` in it, or begins with `[`, `{` or `- `, in quotes"
        raise source.error(node.start, "here a text is expected", hint)
    if node.value is None:
        return ""
    said = node.value if isinstance(node.value, str) else source.text[node.start : node.end]
    return said.strip("\n")
