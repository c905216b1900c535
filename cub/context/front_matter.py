"""Split a Markdown file into its YAML front matter and its text.

Front matter stands between two lines `---`, the first of which is the first line of the file.
Line endings, a byte order mark and a missing line ending at the end make no difference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from cub.config_edit.nodes import decode_source
from cub.config_edit.yaml_text import parse_yaml
from cub.errors import CubError

_BOM = "\ufeff"
_BLOCK = re.compile(r"---[ \t]*\r?\n(?:(?P<yaml>.*?)\r?\n)??---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
# Cursor's own files have patterns without quotes, which YAML takes for aliases.
_BARE_PATTERN = re.compile(
    r"^((?:globs|paths|applyTo):[ \t]+|[ \t]*-[ \t]+)(\*[^\r\n]*?[*./{][^\r\n]*?)[ \t]*$",
    re.MULTILINE,
)


class MarkdownText(NamedTuple):
    """Hold a file's fields and its text with LF line endings; `error` is why it has no fields.

    `line` is the line of the file in which the text begins, counted from 1.
    """

    fields: Mapping[str, Any]
    body: str
    error: CubError | None = None
    line: int = 1


def split_front_matter(data: bytes, path: str) -> MarkdownText:
    """Return the front matter and the rest of a file; `path` is its name in errors.

    Bytes that are not UTF-8 become U+FFFD. What stands between `---` lines and is no mapping is
    text, not front matter.
    """
    text = data.decode("utf-8", "replace").removeprefix(_BOM)
    block = _BLOCK.match(text) if text.startswith("---") else None
    if not block:
        return MarkdownText({}, _to_lf(text))
    yaml, body = _to_lf(block[0]), _to_lf(text[block.end() :])
    line = yaml.count("\n") + 1
    if not (block["yaml"] or "").strip():
        return MarkdownText({}, body, line=line)
    # With its first line, errors count lines as the file does.
    yaml = _BARE_PATTERN.sub(_quote_pattern, yaml).rstrip().removesuffix("---")
    try:
        root = parse_yaml(decode_source(yaml.encode(), path))
    except CubError as error:
        return MarkdownText({}, body, error, line)
    fields = root.to_python() if root else None
    if not isinstance(fields, dict):
        return MarkdownText({}, _to_lf(text))
    return MarkdownText(fields, body, line=line)


def list_field(fields: Mapping[str, Any], key: str) -> list[Any]:
    """Return a field as a list: one scalar is a list of one, and none is an empty list."""
    value = fields.get(key)
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def read_flag(fields: Mapping[str, Any], key: str) -> bool | None:
    """Return a field that is true or false; None if it is neither."""
    value = fields.get(key)
    return value if isinstance(value, bool) else None


def _quote_pattern(match: re.Match[str]) -> str:
    value = match[2].replace("'", "''")
    return f"{match[1]}'{value}'"


def _to_lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
