"""Split a Markdown file into its YAML front matter and its text.

Front matter stands between two lines `---`, the first of which is the first line of the file.
Line endings, a byte order mark and a missing line ending at the end make no difference. Fields of
agents are read by their lines if they are not YAML.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from cub.config_edit.nodes import parse_scalar
from cub.config_edit.yaml_text import parse_yaml
from cub.errors import CubError
from cub.source_text import MAX_CONFIG_BYTES, decode_source

_BOM = "\ufeff"
_BLOCK = re.compile(r"---[ \t]*\r?\n(?:(?P<yaml>.*?)\r?\n)??---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
# Fields of agents that read them line by line: not YAML are `*.ts`, `{a,b}/**` and `Use: x`.
_PATTERN_KEYS = ("globs", "paths", "applyTo", "fileMatchPattern")
_LINE_KEYS = (*_PATTERN_KEYS, "description", "name", "alwaysApply", "trigger", "inclusion", "type")
_FIELD = re.compile(
    rf"^({'|'.join(_LINE_KEYS)})[ \t]*:(.*(?:\n(?:[ \t]|-|\]).*)*)",
    re.MULTILINE,
)
_NO_YAML = re.compile(
    rf"^(?:{'|'.join(_LINE_KEYS)})[ \t]*:[ \t]+(?:\*[^\n]*[*./{{,]|[{{\[!@%`]|[^'\"\n]*: )"
    r"|^[ \t]*-[ \t]+[*{!@%`]",
    re.MULTILINE,
)
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_PARTS = re.compile(r"(?:\{(?:[^{}]|\{[^{}]*\})*\}|[^,])+")  # between commas outside of braces
_ITEM = r"[A-Za-z0-9](?:[\w./* -]*[\w./*-])?"
_SIMPLE = re.compile(
    r"(?P<key>[A-Za-z_][\w-]*): +"
    r"(?:(?P<word>[A-Za-z0-9](?:[\w./*, -]*[\w./*-])?)|\"(?P<text>[ !#-\[\]-~]*)\""
    rf"|\[(?P<items> *{_ITEM}(?:, *{_ITEM})* *)\]) *",
    re.ASCII,
)


class MarkdownText(NamedTuple):
    """Hold a file's fields and its text with LF line endings; `error` is why fields are missing.

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
    yaml = yaml.rstrip().removesuffix("---")
    is_odd = len(yaml) <= MAX_CONFIG_BYTES and bool(_NO_YAML.search(yaml))
    fields, error = ({}, None) if is_odd else _read_yaml(yaml, path)
    if (is_odd or error) and (lines := _read_lines(yaml[:MAX_CONFIG_BYTES])):
        others, error = _read_yaml(_FIELD.sub(lambda m: "\n" * m[0].count("\n"), yaml), path)
        fields = {**(others if isinstance(others, dict) else {}), **lines}
    elif is_odd:
        fields, error = _read_yaml(yaml, path)
    if error:
        return MarkdownText(fields or {}, body, error, line)
    if not isinstance(fields, dict):
        return MarkdownText({}, _to_lf(text))
    return MarkdownText(fields, body, line=line)


def _read_yaml(text: str, path: str) -> tuple[Any, CubError | None]:
    if simple := _read_simple(text):
        return simple, None
    try:
        root = parse_yaml(decode_source(text.encode(), path))
    except CubError as error:
        return None, error
    return root.to_python() if root else None, None


def _read_simple(text: str) -> dict[str, Any]:
    """Return the fields of front matter of plain words and lists of them; none for any other.

    That is most front matter, and takes a tenth of the time of a parser of YAML.
    """
    fields: dict[str, Any] = {}
    for line in text.rstrip("\n").split("\n")[1:]:
        match = _SIMPLE.fullmatch(line)
        if not match or match["key"] in fields or parse_scalar(match["key"]) != match["key"]:
            return {}
        if items := match["items"]:
            value: Any = [parse_scalar(item.strip(" ")) for item in items.split(",")]
        else:
            value = parse_scalar(match["word"]) if match["word"] else match["text"]
        fields[match["key"]] = value
    return fields


def _read_lines(text: str) -> dict[str, Any]:
    """Return the fields of agents as texts, patterns as lists; none if one comes twice."""
    found = _FIELD.findall(text)
    fields = {key: _read_text(key, value) for key, value in found}
    return fields if len(fields) == len(found) else {}


def _read_text(key: str, value: str) -> Any:
    lines = [_COMMENT.sub("", line).strip() for line in value.split("\n")]
    if key not in _PATTERN_KEYS:
        return parse_scalar(" ".join(lines).strip().strip("'\""))
    items = [line.removeprefix("- ") for line in lines]
    text = (
        (", " if value.startswith("\n") and lines[-1].startswith("-") else " ").join(items).strip()
    )
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return split_patterns(text)


def split_patterns(text: str) -> list[str]:
    """Return the patterns in a text, at the commas outside of braces and without quotes."""
    parts = (part.strip().strip("'\"") for part in _PARTS.findall(text))
    return [part for part in parts if part]


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


def _to_lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
