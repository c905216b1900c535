"""What the lines of a YAML file say, without a YAML parser.

A parser in Python takes a millisecond for each kilobyte of workflows and task files, and gives up
at the first fault. This reader knows what people write there: block mappings and lists, scalars in
all styles, flow lists and mappings. Tags and anchors are skipped, aliases stay as
they are. It never fails, expands nothing, and takes time in proportion to the text.

The parts of a line of YAML: keys, scalars in quotes or without, and flow collections.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_LEVELS = 24
MAX_LINE_CHARS = 4096
_LONGEST_VALUE = 16_384
_MOST_JOINED = 200  # lines that a value in brackets or quotes may run over


class YamlScalar(NamedTuple):
    """A scalar and the keys that lead to it; the items of a list are "0", "1" and so on."""

    keys: tuple[str, ...]
    value: str
    line: int


class _Open(NamedTuple):
    """A key or a list's item that the next line may belong to."""

    indent: int
    item: bool
    key: str


def read_yaml_scalars(text: str) -> list[YamlScalar]:
    """All scalars of a text, in order."""
    reader = _Reader([line[:MAX_LINE_CHARS].rstrip() for line in text.split("\n")])
    reader.read()
    return reader.found


def select_below(scalars: list[YamlScalar], *keys: str) -> list[YamlScalar]:
    """The entries under these keys, with the keys that are left."""
    count = len(keys)
    return [e._replace(keys=e.keys[count:]) for e in scalars if e.keys[:count] == keys]


@dataclass(slots=True)
class _Reader:
    lines: list[str]
    at: int = 0
    open: list[_Open] = field(default_factory=list)
    found: list[YamlScalar] = field(default_factory=list)

    def read(self) -> None:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            content = line.lstrip(" ")
            if line.startswith(("---", "...", "%")):
                self.open.clear()
            elif content and content[0] not in "#\t":
                self._line(len(line) - len(content), content)

    def _line(self, indent: int, content: str) -> None:
        items = 0
        while content == "-" or (content.startswith("- ") and items < MAX_LEVELS):
            self._enter(indent, item=True)
            items, rest = items + 1, content[1:].lstrip()
            parent, indent = indent, indent + len(content) - len(rest)
            content = strip_anchor_and_tag(rest)
        key, value = split_key(content)
        if key is not None:
            self._enter(indent, item=False, key=key)
            self._value(indent, value)
        elif items:
            self._value(parent, content)
        elif self.open and indent > self.open[-1].indent:
            self._more(content)

    def _enter(self, indent: int, *, item: bool, key: str = "0") -> None:
        """Leave what is indented more, and what stood at the same place before."""
        while self.open and self.open[-1][:2] > (indent, item):
            self.open.pop()
        if self.open and self.open[-1][:2] == (indent, item):
            last = self.open.pop()
            key = str(int(last.key) + 1) if item else key
        if len(self.open) < MAX_LEVELS:
            self.open.append(_Open(indent, item, key))

    def _value(self, indent: int, text: str) -> None:
        text = strip_anchor_and_tag(text)
        style = detect_block_style(text)
        line = self.at
        if style:
            self._add(self._block(indent, " " if style == ">" else "\n"), line=line)
        elif text and not text.startswith("#"):
            whole = self._joined(text) if text[0] in "[{\"'" else text
            for item in (
                split_flow_items(whole)
                if text[0] in "[{"
                else [FlowScalar((), unquote_scalar(whole))]
            ):
                self._add(item.value, *item.keys, line=line)

    def _add(self, value: str, *more: str, line: int) -> None:
        keys = (*(each.key for each in self.open), *more)
        self.found.append(YamlScalar(keys, value, line))

    def _more(self, content: str) -> None:
        """A plain text that begins below its key, or goes on below its first line."""
        keys = tuple(each.key for each in self.open)
        last = self.found[-1] if self.found else None
        if last is None or last.keys != keys:
            self._value(self.open[-1].indent, content)
        elif len(last.value) < _LONGEST_VALUE:
            self.found[-1] = last._replace(
                value=f"{last.value} {content.partition(' #')[0].rstrip()}"
            )

    def _block(self, indent: int, joint: str) -> str:
        """The lines below that are indented more than `indent`, without the indent of the first."""
        start, own = self.at, 0
        while self.at < len(self.lines):
            line = self.lines[self.at]
            depth = len(line) - len(line.lstrip(" "))
            if line and depth <= indent:
                break
            own = own or (depth if line else 0)
            self.at += 1
        kept = [line[own:] for line in self.lines[start : self.at]]
        return joint.join(kept).strip("\n ")

    def _joined(self, text: str) -> str:
        """A value in brackets or quotes with the lines that it goes on in."""
        quote = text[0] if text[0] in "'\"" else ""
        pieces, rest, depth = [text], text[1:], count_open_brackets(text)
        while quote not in rest if quote else depth > 0:
            if self.at == len(self.lines) or len(pieces) == _MOST_JOINED:
                break
            rest = self.lines[self.at].strip()
            self.at += 1
            pieces.append(rest)
            depth += count_open_brackets(rest)
        return " ".join(pieces)


MAX_FLOW_LEVELS = 12
_QUOTED = re.compile(r""""((?:[^"\\]|\\.)*+)"|'((?:[^']|'')*+)'""", re.DOTALL)
_DECORATION = re.compile(r"(?:[&!][^\s,\[\]{}]*+(?:[ \t]++|$))*+")
_BLOCK = re.compile(r"([|>])[-+0-9]*+[ \t]*+(?:#.*)?")
_TOKENS = re.compile(r""""(?:[^"\\]|\\.)*+"?|'[^']*+'?|[\[\]{},]|[^"'\[\]{},]++""", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "", "\n": ""}
_STARTS_NO_KEY = frozenset("[]{},#&*!|>%@`?")


class FlowScalar(NamedTuple):
    """One value of a flow collection and its key in it, none for a value that stands alone."""

    keys: tuple[str, ...]
    value: str


def split_key(content: str) -> tuple[str | None, str]:
    """The key of a line and what stands behind its colon; None for a line without a key."""
    if content[:1] in ('"', "'"):
        quoted = _QUOTED.match(content)
        rest = content[quoted.end() :].lstrip() if quoted else ""
        return (unquote_scalar(content), rest[1:].strip()) if rest[:1] == ":" else (None, content)
    at = content.find(": ")
    if at < 0 and content.endswith(":"):
        at = len(content) - 1
    comment = content.find(" #")
    if at <= 0 or content[0] in _STARTS_NO_KEY or 0 <= comment < at:
        return None, content
    return content[:at].rstrip(), content[at + 1 :].strip()


def strip_anchor_and_tag(text: str) -> str:
    """A value without its anchor and tag."""
    found = _DECORATION.match(text)
    return text[found.end() :] if found else text


def detect_block_style(text: str) -> str:
    """`|` or `>` where the value is the indented text below, else ""."""
    found = _BLOCK.fullmatch(text)
    return found[1] if found else ""


def unquote_scalar(text: str) -> str:
    """What a scalar stands for: without quotes, or without the comment behind it."""
    quoted = _QUOTED.match(text)
    if quoted is None:
        return text.partition(" #")[0].rstrip()
    if quoted[2] is not None:
        return quoted[2].replace("''", "'")
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), quoted[1], flags=re.DOTALL)


def split_flow_items(text: str) -> list[FlowScalar]:
    """The values in `[a, b]` or `{a: 1}`, at most `MAX_FLOW_LEVELS` deep."""
    found: list[FlowScalar] = []
    keys: list[str] = []  # one for each open bracket, "" for that of a mapping
    piece = ""
    for part in _TOKENS.findall(text):
        if part in ("[", "{"):
            keys[-1:] = [split_key(piece.strip())[0] or keys[-1]] if keys else []
            keys.append("0" if part == "[" else "")
        elif part in ("]", "}", ","):
            found += _flow(keys, piece.strip())
            keys[-1:] = _after(keys[-1], part)
        else:
            piece += part
            continue
        piece = ""
        if not keys or len(keys) > MAX_FLOW_LEVELS:
            break
    return [*found, *_flow(keys, piece.strip())]


def _flow(keys: list[str], piece: str) -> list[FlowScalar]:
    """The value that ends here, if one does."""
    if not piece or not keys:
        return []
    if keys[-1].isdigit():
        return [FlowScalar(tuple(keys), unquote_scalar(piece))]
    key, value = split_key(piece)
    return (
        [FlowScalar((*keys[:-1], key), unquote_scalar(value))] if key is not None and value else []
    )


def _after(key: str, part: str) -> list[str]:
    """The place behind a comma, or none behind a closing bracket."""
    if part != ",":
        return []
    return [str(int(key) + 1) if key.isdigit() else ""]


def count_open_brackets(line: str) -> int:
    """How many more brackets a line opens than it closes."""
    found = _TOKENS.findall(line)
    return sum((part in ("[", "{")) - (part in ("]", "}")) for part in found)
