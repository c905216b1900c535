"""A match in its place made into a definition."""

from __future__ import annotations

import re
from typing import cast

from cub.repomap.symbols.definition import Definition, Kind
from cub.repomap.symbols.dialects import REWORDED
from cub.repomap.symbols.enclosing import Placed
from cub.repomap.symbols.exported import RULES, UNCALLED, Seen
from cub.repomap.symbols.heads import Head, head_of, one_line
from cub.repomap.symbols.javascript import named
from cub.repomap.symbols.matches import Match
from cub.repomap.symbols.signatures import capped

SCRIPTS = frozenset({"javascript", "typescript", "tsx"})
_C = frozenset({"c", "cpp"})
_TYPE_FIRST = frozenset({"java", "csharp", *_C})
_UPPER = frozenset({"python", "kotlin", "swift", "scala", "lua", *SCRIPTS})  # constants by case
_MARKED = frozenset({"kotlin", *_C})  # and by word
_CONSTANT = re.compile(rb"\bconst(?:expr)?\b")
_KINDS: dict[str, Kind] = {"prototype": "function", "namespace": "module", "property": "function"}
_SHORT = 72  # characters of a type alias with its value
_LONGEST = 2_000  # bytes that are looked at for a signature


def described(language: str, data: bytes, place: Placed) -> Definition:
    """The definition, with its signature and whether others may use it."""
    match = place.match
    kind = _kind(language, data, place)
    head = _head(language, data, place, kind)
    before = data[max(0, match.start - 200) : match.start]
    seen = Seen(place.name, kind, head.modifiers, place.member_of, place.holder, before)
    exported = (
        place.shown
        or "shown" in match.nodes
        or (RULES[language](seen) and not place.hidden and place.name not in UNCALLED)
    )
    line = match.nodes["name"][0].start_point.row + 1
    signature = capped(match.pattern.prefix + one_line(head.text)) or place.name
    return Definition(place.name, kind, line, signature, place.member_of, exported)


def _kind(language: str, data: bytes, place: Placed) -> Kind:
    role, name = place.match.role, place.name
    if role == "variable" and language in _UPPER and name.isupper() and len(name) > 1:
        return "constant"
    if role == "variable" and language in _MARKED and _is_constant(data, place.match):
        return "constant"
    kind = _KINDS.get(role) or cast(Kind, role)
    return "method" if kind == "function" and place.member_of else kind


def _is_constant(data: bytes, match: Match) -> bool:
    before = data[match.start : match.nodes["name"][0].start_byte]
    return _CONSTANT.search(before) is not None and b"*" not in before


def _head(language: str, data: bytes, place: Placed, kind: Kind) -> Head:
    """The text of a signature, and the modifiers in front of it."""
    match, (start, end) = place.match, _span(place.match)
    head = _cut(language, data, start, end)
    if kind in ("constant", "variable"):
        if language not in _TYPE_FIRST:
            text = _cut(language, data, match.nodes["name"][0].start_byte, end).text
        else:
            text = head.text.removeprefix("static ")
        return head._replace(text=_value(text.removeprefix(":"), place.name))
    if language in SCRIPTS and (value := match.node("value")) and kind != "type":
        text = _cut(language, data, value.start_byte, end).text
        return head._replace(text=named(text, place.name, kind))
    if reword := REWORDED.get(language):
        return head._replace(text=reword(head.text, place.name, place.member_of))
    return head


def _cut(language: str, data: bytes, start: int, end: int) -> Head:
    text = data[start : min(end, start + _LONGEST)].decode("utf-8", "replace")
    return head_of(language, text)


def _span(match: Match) -> tuple[int, int]:
    """From where to where the signature goes: a short value of a type is a part of it."""
    end = -match.end
    if until := match.nodes.get("until"):
        end = until[-1].end_byte
    elif body := match.nodes.get("body"):
        end = body[0].start_byte
    elif (value := match.nodes.get("value")) and end - match.start > _SHORT:
        end = value[0].start_byte
    return match.start, end


_GENERICS = re.compile(r"<[^<>]*(?:<[^<>]*(?:<[^<>]*>[^<>]*)*>[^<>]*)*>")


def _value(text: str, name: str) -> str:
    """A variable's name and type; the name alone where several are declared together."""
    before, _, after = _GENERICS.sub("", text).partition(name)
    several = "," in before or "=" in before or after.lstrip().startswith(",")
    return name if several else text
