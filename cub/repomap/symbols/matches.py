"""What a query finds in a tree, in the order of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cub.repomap.symbols.grammars import Grammar, Pattern

if TYPE_CHECKING:
    from tree_sitter import Node

Nodes = dict[str, list["Node"]]


class Match(NamedTuple):
    """What one pattern found: where, in which role, and the nodes that it captured.

    `end` is negative, so that what encloses sorts before what it encloses.
    """

    start: int
    end: int
    number: int
    role: str
    pattern: Pattern
    nodes: Nodes

    def node(self, part: str) -> Node | None:
        """The node captured as `part`."""
        found = self.nodes.get(part)
        return found[0] if found else None


def matches_in(known: Grammar, root: Node, end: int) -> list[Match]:
    """All matches that begin before `end`, what encloses before what it encloses."""
    found = list[Match]()
    for number, nodes in known.cursor.matches(root):
        pattern = known.patterns[number]
        node = nodes[pattern.role][0]
        if pattern.has_fields:
            nodes.update(_fields(node))
        span = (node.start_byte, -node.end_byte)
        if span[0] >= end:
            continue
        found.append(Match(*span, len(found), pattern.role, pattern, nodes))
    found.sort()
    return found


def _fields(node: Node) -> Nodes:
    fields = {part: node.child_by_field_name(part) for part in ("name", "body")}
    return {part: [field] for part, field in fields.items() if field}


def text_of(data: bytes, node: Node) -> str:
    """The source text of a node."""
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")
