"""The parts of a line of YAML: keys, scalars in quotes or without, and flow collections."""

from __future__ import annotations

import re
from typing import NamedTuple

MOST_FLOW_LEVELS = 12
_QUOTED = re.compile(r""""((?:[^"\\]|\\.)*+)"|'((?:[^']|'')*+)'""", re.DOTALL)
_DECORATION = re.compile(r"(?:[&!][^\s,\[\]{}]*+(?:[ \t]++|$))*+")
_BLOCK = re.compile(r"([|>])[-+0-9]*+[ \t]*+(?:#.*)?")
_TOKENS = re.compile(r""""(?:[^"\\]|\\.)*+"?|'[^']*+'?|[\[\]{},]|[^"'\[\]{},]++""", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "", "\n": ""}
_STARTS_NO_KEY = frozenset("[]{},#&*!|>%@`?")


class Flow(NamedTuple):
    """One value of a flow collection and its key in it, none for a value that stands alone."""

    keys: tuple[str, ...]
    value: str


def split_key(content: str) -> tuple[str | None, str]:
    """The key of a line and what stands behind its colon; None for a line without a key."""
    if content[:1] in ('"', "'"):
        quoted = _QUOTED.match(content)
        rest = content[quoted.end() :].lstrip() if quoted else ""
        return (plain(content), rest[1:].strip()) if rest[:1] == ":" else (None, content)
    at = content.find(": ")
    if at < 0 and content.endswith(":"):
        at = len(content) - 1
    comment = content.find(" #")
    if at <= 0 or content[0] in _STARTS_NO_KEY or 0 <= comment < at:
        return None, content
    return content[:at].rstrip(), content[at + 1 :].strip()


def undecorated(text: str) -> str:
    """A value without its anchor and tag."""
    found = _DECORATION.match(text)
    return text[found.end() :] if found else text


def block_style(text: str) -> str:
    """`|` or `>` where the value is the indented text below, else ""."""
    found = _BLOCK.fullmatch(text)
    return found[1] if found else ""


def plain(text: str) -> str:
    """What a scalar stands for: without quotes, or without the comment behind it."""
    quoted = _QUOTED.match(text)
    if quoted is None:
        return text.partition(" #")[0].rstrip()
    if quoted[2] is not None:
        return quoted[2].replace("''", "'")
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), quoted[1], flags=re.DOTALL)


def flow_items(text: str) -> list[Flow]:
    """The values in `[a, b]` or `{a: 1}`, at most `MOST_FLOW_LEVELS` deep."""
    found: list[Flow] = []
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
        if not keys or len(keys) > MOST_FLOW_LEVELS:
            break
    return [*found, *_flow(keys, piece.strip())]


def _flow(keys: list[str], piece: str) -> list[Flow]:
    """The value that ends here, if one does."""
    if not piece or not keys:
        return []
    if keys[-1].isdigit():
        return [Flow(tuple(keys), plain(piece))]
    key, value = split_key(piece)
    return [Flow((*keys[:-1], key), plain(value))] if key is not None and value else []


def _after(key: str, part: str) -> list[str]:
    """The place behind a comma, or none behind a closing bracket."""
    if part != ",":
        return []
    return [str(int(key) + 1) if key.isdigit() else ""]


def open_brackets(line: str) -> int:
    """How many more brackets a line opens than it closes."""
    found = _TOKENS.findall(line)
    return sum((part in ("[", "{")) - (part in ("]", "}")) for part in found)
