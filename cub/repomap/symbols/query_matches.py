"""Run a query over a tree, and find out where each match is: in a type, at the top, or hidden.

Queries find definitions at some depth, local ones too. In the order of the file, each match is
compared with what encloses it: matches in a function are dropped, those in a type belong to it, and
a namespace makes no difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from cub.repomap.symbols.grammars import Grammar, QueryPattern

if TYPE_CHECKING:
    from tree_sitter import Node


CapturedNodes = dict[str, list["Node"]]
# Captures beside the one that says what a pattern finds; those for predicates begin with `_`.
_PARTS = frozenset({"name", "of", "body", "value", "until"})


class QueryMatch(NamedTuple):
    """Hold what one pattern found: where, in which role, and the nodes that it captured.

    `end` is negative, so that an enclosing match sorts before those in it.
    """

    start: int
    end: int
    role: str
    pattern: QueryPattern
    nodes: CapturedNodes

    def get_node(self, part: str) -> Node | None:
        """Return the node captured as `part`."""
        nodes = self.nodes.get(part)
        return nodes[0] if nodes else None


def run_query(grammar: Grammar, root: Node, end: int) -> list[QueryMatch]:
    """Return all matches that start before `end`, each before those that it encloses."""
    matches = list[QueryMatch]()
    for number, nodes in grammar.cursor.matches(root):
        pattern = grammar.patterns[number]
        role = next(name for name in nodes if name not in _PARTS and name[0] != "_")
        node = nodes[role][0]
        if pattern.has_fields:
            fields = {part: node.child_by_field_name(part) for part in ("name", "body")}
            nodes.update({part: [field] for part, field in fields.items() if field})
        span = (node.start_byte, -node.end_byte)
        if span[0] < end:
            matches.append(QueryMatch(*span, role, pattern, nodes))
    return sorted(matches, key=lambda match: match[:2])


def get_node_text(data: bytes, node: Node) -> str:
    """Return the source text of a node."""
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")


_TYPES = frozenset({"class", "struct", "interface", "trait", "enum", "type", "module", "extension"})
_MAX_NAME_CHARS = 100
_ACCESS = {"private": True, "protected": True, "public": False, "module_function": False}
_NOT_DEFINED = frozenset({"_", "__all__"})
# A parser that is lost in C takes these for the name of a function.
_STATEMENTS = frozenset({"if", "for", "while", "switch", "return", "sizeof", "defined"})
_NAME = re.compile(r"[\w$#@][\w$.:@+-]*[?!=]?")


class ScopedMatch(NamedTuple):
    """Hold a match with a name, and the name and kind of the type around it, "" for none.

    `is_exported_by_scope` and `is_hidden_by_scope`: what encloses it exports or hides it.
    """

    match: QueryMatch
    name: str
    member_of: str
    enclosing_kind: str
    is_exported_by_scope: bool
    is_hidden_by_scope: bool


@dataclass(slots=True)
class _Scope:
    """Describe what encloses the next match; without a kind, it makes no difference."""

    span: tuple[int, int]
    name: str = ""
    kind: str = ""
    is_local: bool = False
    exports: bool = False
    hides: bool = False
    is_silent: bool = False  # defines nothing itself
    is_value: bool = False


def assign_scopes(data: bytes, matches: Iterable[QueryMatch]) -> Iterator[ScopedMatch]:
    """Yield the matches that are not local to a function, in order."""
    scopes = [_Scope((-1, -len(data) - 1))]
    for match in matches:
        while -scopes[-1].span[1] <= match.start or scopes[-1].span == match[:2]:
            scopes.pop()  # a span with several names does not enclose itself
        within = scopes[-1]
        if within.is_local and not (within.is_value and _is_bare(match)):
            continue
        if match.role == "access":
            within.hides = _ACCESS.get(get_node_text(data, match.nodes["access"][0]), within.hides)
            continue
        name = get_node_text(data, match.nodes["name"][0]) if "name" in match.nodes else ""
        name = name.removeprefix(":")  # of a symbol in Ruby
        of = match.nodes.get("of")
        scope = _open_scope(match, name, within, is_owned=bool(of or within.kind))
        scopes.append(scope)
        member_of = get_node_text(data, of[0]) if of else within.name
        is_constructor = name == member_of and match.role in ("function", "prototype")
        if not (scope.is_silent or is_constructor) and (not of or _is_name(member_of)):
            yield ScopedMatch(match, name, member_of, within.kind, within.exports, within.hides)


def _open_scope(match: QueryMatch, name: str, within: _Scope, *, is_owned: bool) -> _Scope:
    span, role = match[:2], match.role
    through = _Scope(span, within.name, within.kind, hides=within.hides)
    if role in ("export", "unnamed", "inner"):
        exports, hides = role == "export", role == "unnamed"
        return replace(through, exports=exports, hides=hides, is_silent=True)
    is_lost = role in ("function", "prototype") and not is_owned and name in _STATEMENTS
    if is_lost or not _is_name(name) or (role == "method" and not is_owned):
        return _Scope(span, is_local=True, is_silent=True)
    if role == "extension":
        return _Scope(span, name, role, is_silent=True)
    if role == "namespace":
        is_test = name in ("test", "tests")
        return _Scope(span, is_local=True, is_silent=True) if is_test else through
    if role in _TYPES:
        return _Scope(span, name, role, hides=match.pattern.is_closed)
    return _Scope(span, is_local=True, is_value=role in ("constant", "variable"))


def _is_bare(match: QueryMatch) -> bool:
    """Return whether a match is only a name: one of several that are declared together."""
    name = match.get_node("name")
    return name is not None and (name.start_byte, -name.end_byte) == match[:2]


def _is_name(text: str) -> bool:
    """Return whether a name says something, unlike operators, quoted names and `_`."""
    is_short = len(text) <= _MAX_NAME_CHARS
    return is_short and text not in _NOT_DEFINED and _NAME.fullmatch(text) is not None
