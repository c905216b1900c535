"""Hold a configuration text with its format, its outermost value, and positions in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from cub.config_edit import jsonc, yaml_text
from cub.config_edit.nodes import ConfigNode
from cub.source_text import LINE_END_PATTERN, SourceText, decode_source

KeyPath = tuple[str, ...]


class ConfigFormat(NamedTuple):
    """Say how a text is read: `comment` matches a comment outside of strings."""

    parse: Callable[[SourceText], ConfigNode | None]
    comment: str
    is_json: bool = True


YAML = ConfigFormat(yaml_text.parse_yaml, "(?<!\\S)#[^\r\n\x85\u2028\u2029]*+", is_json=False)
JSON = ConfigFormat(jsonc.parse_jsonc, jsonc.COMMENT_PATTERN)
# For programs that take comments, but no trailing comma and no byte order mark.
STRICT_JSON = ConfigFormat(partial(jsonc.parse_jsonc, strict=True), jsonc.COMMENT_PATTERN)


class TextEdit(NamedTuple):
    """Replace a span of the text with another text."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class ConfigText:
    """Hold a text and its outermost value; None if there is none."""

    source: SourceText
    root: ConfigNode | None
    format: ConfigFormat

    @property
    def text(self) -> str:
        """Return the text itself."""
        return self.source.text

    @property
    def python_value(self) -> Any:
        """Return the value as Python objects."""
        return self.root.to_python() if self.root else None

    @property
    def newline(self) -> str:
        """Return the line ending for new lines: the most common one."""
        ends = LINE_END_PATTERN.findall(self.text)
        return max(dict.fromkeys(ends), key=ends.count) if ends else "\n"

    def format_value(self, value: Any, quote: str = "") -> str:
        """Format a value on one line."""
        if self.format.is_json:
            return json.dumps(value, ensure_ascii=False)
        return yaml_text.format_yaml(value, quote)

    def insert_lines_below(self, offset: int, lines: Sequence[str]) -> TextEdit:
        """Add lines below that of `offset`; a missing trailing newline stays missing."""
        offset, newline = self.source.find_next_line(offset), self.newline
        before = self.text[:offset].removeprefix("\ufeff")
        if before and not before.endswith(("\n", "\r")):
            return TextEdit(offset, offset, newline.join(["", *lines]))
        return TextEdit(offset, offset, newline.join([*lines, ""]))


def parse_config_text(data: bytes, path: str, config_format: ConfigFormat = YAML) -> ConfigText:
    """Parse a file's bytes; CubError with `path:line:column` for what can't be read."""
    source = decode_source(data, path)
    return ConfigText(source, config_format.parse(source), config_format)


def apply_text_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """Return the text with all edits made; they don't overlap."""
    parts, at = [], 0
    for start, end, new in sorted(edits, key=lambda splice: splice[:2]):
        parts += [text[at:start], new]
        at = end
    return "".join((*parts, text[at:]))
