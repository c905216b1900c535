"""What JavaScript says by assignment: functions in variables, and what CommonJS exports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from cub.repomap.symbols.matches import Match

if TYPE_CHECKING:
    from tree_sitter import Node

_EXPORTS = (b"exports", b"module.exports")
_IMPORTS = (b"require(", b"await import(")
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_NAMED = _FUNCTIONS | {"class"}
_OWNER = re.compile(rb"([\w$]+)(?:\.prototype)?")

_VALUE = re.compile(r"(async\b)?\s*(function\b\s*\*?|class\b)?\s*")
_OWN_NAME = re.compile(r"(?!extends\b|implements\b)[\w$]+\s*")


def reread(data: bytes, matches: Iterable[Match]) -> Iterator[Match]:
    """The matches with roles that follow from their values and from what is assigned to."""
    for match in matches:
        of = match.node("of")
        owner = data[of.start_byte : of.end_byte] if of else b""
        if match.role == "variable":
            if not _is_import(data, match):
                yield _by_value(match, "function", "variable")
        elif match.role == "field":
            yield _by_value(match, "method", "method")
        elif match.role == "assigned":
            yield from _assigned(data, match, owner)
        elif of is None:
            yield match
        elif owner in _EXPORTS:
            yield _by_value(match, "function", match.role, of=[], shown=[of])


def _is_import(data: bytes, match: Match) -> bool:
    """Whether a variable stands for another file."""
    value = match.node("value")
    return value is not None and data.startswith(_IMPORTS, value.start_byte)


def _by_value(match: Match, function: str, other: str, **nodes: list[Node]) -> Match:
    """A function or a class that is somebody's value is named by them."""
    value = match.node("value")
    if value is None:
        return match._replace(nodes={**match.nodes, **nodes})
    roles = {"class": "class", **dict.fromkeys(_FUNCTIONS, function)}
    role = roles.get(value.type)
    if role is None:
        return match._replace(role=other, nodes={**match.nodes, **nodes, "body": [value]})
    body = value.child_by_field_name("body") or value
    return match._replace(role=role, nodes={**match.nodes, **nodes, "body": [body]})


def _assigned(data: bytes, match: Match, owner: bytes) -> Iterator[Match]:
    (of,), (name,), (value,) = (match.nodes[part] for part in ("of", "name", "value"))
    called = data[name.start_byte : name.end_byte]
    if owner == b"module" and called == b"exports":
        yield from _exported(match, value)
    elif owner in _EXPORTS and data[value.start_byte : value.end_byte] == called:
        yield _revealed(match, value)
    elif owner in _EXPORTS and called != b"default":
        yield _by_value(match, "function", "variable", of=[], shown=[of])
    elif value.type in _FUNCTIONS and (found := _OWNER.fullmatch(owner)):
        within = of.child_by_field_name("object") if found[0] != found[1] else of
        yield _by_value(match, "method", "method", of=[within or of])


def _exported(match: Match, value: Node) -> Iterator[Match]:
    """`module.exports = …` shows a name, or makes a definition of an expression with a name."""
    if value.type == "identifier":
        yield _revealed(match, value)
    elif name := (value.type in _NAMED and value.child_by_field_name("name")):
        yield _by_value(match, "function", "class", name=[name], shown=[value], of=[])


def _revealed(match: Match, name: Node) -> Match:
    return match._replace(role="reveal", nodes={"reveal": [name]})


def named(text: str, name: str, kind: str) -> str:
    """The first part of a function or class that is a value, with the name that it goes by."""
    found = _VALUE.match(text)
    is_async, keyword, rest = (found[1], found[2], text[found.end() :]) if found else ("", "", "")
    if keyword:
        own = _OWN_NAME.match(rest)
        rest = rest[own.end() :] if own else rest
    else:
        rest = rest.rstrip().removesuffix("=>").strip()
        rest = rest if rest.startswith(("(", "<")) else f"({rest})"
    gap = " " if rest[:1].isalpha() else ""
    keyword = "" if kind == "method" else (keyword or "function").replace(" ", "")
    words = (is_async, keyword, name + gap + rest)
    return " ".join(word for word in words if word)
