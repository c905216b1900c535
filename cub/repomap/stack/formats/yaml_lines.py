"""What the lines of a YAML file say, without a YAML parser.

A parser in Python takes a millisecond for each kilobyte of workflows and task files, and gives up
at the first fault. This reader knows what people write there: block mappings and lists, scalars in
all styles, flow lists and mappings. Tags and anchors are skipped, aliases stay as
they are. It never fails, expands nothing, and takes time in proportion to the text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from cub.repomap.stack.formats.yaml_scalars import (
    Flow,
    block_style,
    flow_items,
    open_brackets,
    plain,
    split_key,
    undecorated,
)

MOST_LEVELS = 24
LONGEST_LINE = 4096
_LONGEST_VALUE = 16_384
_MOST_JOINED = 200  # lines that a value in brackets or quotes may run over


class Entry(NamedTuple):
    """A scalar and the keys that lead to it; the items of a list are "0", "1" and so on."""

    keys: tuple[str, ...]
    value: str
    line: int


class _Open(NamedTuple):
    """A key or a list's item that the next line may belong to."""

    indent: int
    item: bool
    key: str


def entries(text: str) -> list[Entry]:
    """All scalars of a text, in order."""
    reader = _Reader([line[:LONGEST_LINE].rstrip() for line in text.split("\n")])
    reader.read()
    return reader.found


def below(found: list[Entry], *keys: str) -> list[Entry]:
    """The entries under these keys, with the keys that are left."""
    count = len(keys)
    return [e._replace(keys=e.keys[count:]) for e in found if e.keys[:count] == keys]


@dataclass(slots=True)
class _Reader:
    lines: list[str]
    at: int = 0
    open: list[_Open] = field(default_factory=list)
    found: list[Entry] = field(default_factory=list)

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
        while content == "-" or (content.startswith("- ") and items < MOST_LEVELS):
            self._enter(indent, item=True)
            items, rest = items + 1, content[1:].lstrip()
            parent, indent = indent, indent + len(content) - len(rest)
            content = undecorated(rest)
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
        if len(self.open) < MOST_LEVELS:
            self.open.append(_Open(indent, item, key))

    def _value(self, indent: int, text: str) -> None:
        text = undecorated(text)
        style = block_style(text)
        line = self.at
        if style:
            self._add(self._block(indent, " " if style == ">" else "\n"), line=line)
        elif text and not text.startswith("#"):
            whole = self._joined(text) if text[0] in "[{\"'" else text
            for item in flow_items(whole) if text[0] in "[{" else [Flow((), plain(whole))]:
                self._add(item.value, *item.keys, line=line)

    def _add(self, value: str, *more: str, line: int) -> None:
        keys = (*(each.key for each in self.open), *more)
        self.found.append(Entry(keys, value, line))

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
        pieces, rest, depth = [text], text[1:], open_brackets(text)
        while quote not in rest if quote else depth > 0:
            if self.at == len(self.lines) or len(pieces) == _MOST_JOINED:
                break
            rest = self.lines[self.at].strip()
            self.at += 1
            pieces.append(rest)
            depth += open_brackets(rest)
        return " ".join(pieces)
