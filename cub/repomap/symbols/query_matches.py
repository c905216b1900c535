"""Where each match stands: in a type, at the top, or out of sight in a function.

Queries find definitions at some depth, local ones too. Read in the order of the file, each is
seen against what encloses it: what a function holds is dropped, what a type holds belongs to it,
and a namespace is looked through.

What a query finds in a tree, in the order of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from cub.repomap.symbols.grammars import Grammar, QueryPattern

if TYPE_CHECKING:
    from tree_sitter import Node


_TYPES = frozenset({"class", "struct", "interface", "trait", "enum", "type", "module", "extension"})
_LONGEST_NAME = 100
_ACCESS = {"private": True, "protected": True, "public": False, "module_function": False}
_NOT_DEFINED = frozenset({"_", "__all__"})
# What a parser takes for the name of a function where it has lost its way in C.
_STATEMENTS = frozenset({"if", "for", "while", "switch", "return", "sizeof", "defined"})
_NAME = re.compile(r"[\w$#@][\w$.:@+-]*[?!=]?")


class ScopedMatch(NamedTuple):
    """A match with a name, and the type that holds it (name and kind), if there is one.

    `is_exported_by_scope` and `is_hidden_by_scope`: what encloses it says that others see it, or
    don't.
    """

    match: QueryMatch
    name: str
    member_of: str
    enclosing_kind: str
    is_exported_by_scope: bool
    is_hidden_by_scope: bool


@dataclass(slots=True)
class _Holder:
    """What is open; without a kind, it is looked through."""

    span: tuple[int, int]
    name: str = ""
    kind: str = ""
    is_local: bool = False
    shows: bool = False
    hides: bool = False
    is_silent: bool = False  # defines nothing itself
    is_value: bool = False


def assign_scopes(data: bytes, matches: Iterable[QueryMatch]) -> Iterator[ScopedMatch]:
    """The matches that are no one's own business, in order."""
    holders = [_Holder((-1, -len(data) - 1))]
    for match in matches:
        while -holders[-1].span[1] <= match.start or holders[-1].span == match[:2]:
            holders.pop()  # one span with several names is no holder of itself
        within = holders[-1]
        if within.is_local and not (within.is_value and _is_bare(match)):
            continue
        if match.role == "access":
            within.hides = _ACCESS.get(get_node_text(data, match.nodes["access"][0]), within.hides)
            continue
        name = get_node_text(data, match.nodes["name"][0]) if "name" in match.nodes else ""
        name = name.removeprefix(":")  # a symbol of Ruby's
        of = match.nodes.get("of")
        holder = _opened(match, name, within, is_owned=bool(of or within.kind))
        holders.append(holder)
        member_of = get_node_text(data, of[0]) if of else within.name
        if not (holder.is_silent or _is_constructor(match, name, member_of)) and (
            not of or _is_name(member_of)
        ):
            yield ScopedMatch(match, name, member_of, within.kind, within.shows, within.hides)


def _opened(match: QueryMatch, name: str, within: _Holder, *, is_owned: bool) -> _Holder:
    """What a match is to the matches that it encloses."""
    span, role = match[:2], match.role
    through = _Holder(span, within.name, within.kind, hides=within.hides)
    if role in ("export", "unnamed", "inner"):
        shows, hides = role == "export", role == "unnamed"
        return replace(through, shows=shows, hides=hides, is_silent=True)
    is_lost = role in ("function", "prototype") and not is_owned and name in _STATEMENTS
    if is_lost or not _is_name(name) or (role == "method" and not is_owned):
        return _Holder(span, is_local=True, is_silent=True)
    if role == "extension":
        return _Holder(span, name, role, is_silent=True)
    if role == "namespace":
        is_test = name in ("test", "tests")
        return _Holder(span, is_local=True, is_silent=True) if is_test else through
    if role in _TYPES:
        return _Holder(span, name, role, hides=match.pattern.is_closed)
    return _Holder(span, is_local=True, is_value=role in ("constant", "variable"))


def _is_bare(match: QueryMatch) -> bool:
    """Whether a match is nothing but a name: one of several that are declared together."""
    name = match.get_node("name")
    return name is not None and (name.start_byte, -name.end_byte) == match[:2]


def _is_constructor(match: QueryMatch, name: str, member_of: str) -> bool:
    """A constructor has the name of its type, and says no more than that."""
    return name == member_of and match.role in ("function", "prototype")


def _is_name(text: str) -> bool:
    """Operators and names in quotes say little; `_` is where a value goes that nobody wants."""
    short = len(text) <= _LONGEST_NAME
    return short and text not in _NOT_DEFINED and _NAME.fullmatch(text) is not None


CapturedNodes = dict[str, list["Node"]]


class QueryMatch(NamedTuple):
    """What one pattern found: where, in which role, and the nodes that it captured.

    `end` is negative, so that what encloses sorts before what it encloses.
    """

    start: int
    end: int
    number: int
    role: str
    pattern: QueryPattern
    nodes: CapturedNodes

    def get_node(self, part: str) -> Node | None:
        """The node captured as `part`."""
        found = self.nodes.get(part)
        return found[0] if found else None


def run_query(grammar: Grammar, root: Node, end: int) -> list[QueryMatch]:
    """All matches that begin before `end`, what encloses before what it encloses."""
    found = list[QueryMatch]()
    for number, nodes in grammar.cursor.matches(root):
        pattern = grammar.patterns[number]
        node = nodes[pattern.role][0]
        if pattern.has_fields:
            nodes.update(_fields(node))
        span = (node.start_byte, -node.end_byte)
        if span[0] >= end:
            continue
        found.append(QueryMatch(*span, len(found), pattern.role, pattern, nodes))
    found.sort()
    return found


def _fields(node: Node) -> CapturedNodes:
    fields = {part: node.child_by_field_name(part) for part in ("name", "body")}
    return {part: [field] for part, field in fields.items() if field}


def get_node_text(data: bytes, node: Node) -> str:
    """The source text of a node."""
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")
