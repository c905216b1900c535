"""Which names a source file gives to others: one query over its tree.

A match in its place made into a definition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import cast

from cub.repomap.symbols.bounded_parser import parse_bounded
from cub.repomap.symbols.file_facts import Definition, DefinitionKind
from cub.repomap.symbols.grammars import GRAMMAR_NAMES, load_grammar
from cub.repomap.symbols.language_rules import (
    EXPORT_RULES,
    IMPLICITLY_CALLED,
    SIGNATURE_REWORDERS,
    ExportCandidate,
    hoist_lua_modules,
    name_javascript_value,
    rewrite_javascript_matches,
)
from cub.repomap.symbols.query_matches import (
    QueryMatch,
    ScopedMatch,
    assign_scopes,
    get_node_text,
    run_query,
)
from cub.repomap.symbols.signatures import (
    SignatureHead,
    collapse_signature,
    limit_signature,
    parse_signature_head,
)

_MOST = 10_000  # beyond, a file is a table

__all__ = ["GRAMMAR_NAMES", "find_definitions"]


def find_definitions(language: str, data: bytes) -> tuple[Definition, ...] | None:
    """What a file defines, in its order; None if there is no grammar or it can't be parsed."""
    known = load_grammar(language)
    tree = parse_bounded(known.parser, data, known.sentinel) if known else None
    if known is None or tree is None:
        return None
    matches: Iterable[QueryMatch] = run_query(known, tree.root_node, len(data))
    if language in SCRIPT_LANGUAGES:
        matches = rewrite_javascript_matches(data, matches)
    revealed = set[str]()
    places = assign_scopes(data, _without_reveals(data, matches, revealed))
    found = _first_of_each(language, data, islice(places, _MOST))
    return _settled(hoist_lua_modules(found, revealed) if language == "lua" else found, revealed)


def _first_of_each(language: str, data: bytes, places: Iterable[ScopedMatch]) -> list[Definition]:
    """Of overloads the first, and a definition rather than its prototype."""
    found = dict[tuple[str, str, str], tuple[bool, Definition]]()
    for place in places:
        one = build_definition(language, data, place)
        key = (one.name, one.kind, one.member_of)
        is_prototype = place.match.role == "prototype"
        if key not in found or (found[key][0] and not is_prototype):
            found[key] = (is_prototype, one)
    return [one for _, one in found.values()]


def _without_reveals(
    data: bytes, matches: Iterable[QueryMatch], revealed: set[str]
) -> Iterator[QueryMatch]:
    """The matches that define; those that only show a name are collected."""
    for match in matches:
        if match.role == "reveal":
            revealed.add(get_node_text(data, match.nodes["reveal"][0]))
        else:
            yield match


def _settled(found: Sequence[Definition], revealed: set[str]) -> tuple[Definition, ...]:
    """With what only the whole file tells: names shown elsewhere, members of hidden types."""
    shown = dict[str, bool]()
    top = [one for one in found if not one.member_of]
    for one in top:
        shown[one.name] = shown.get(one.name, False) or one.exported or one.name in revealed
    settled = []
    for one in found:
        exported = (
            one.exported and shown.get(one.member_of, True) if one.member_of else shown[one.name]
        )
        if one.member_of:
            shown.setdefault(one.name, exported)
        settled.append(one if exported == one.exported else one._replace(exported=exported))
    return tuple(sorted(settled, key=lambda one: one.line))


SCRIPT_LANGUAGES = frozenset({"javascript", "typescript", "tsx"})
_C = frozenset({"c", "cpp"})
_TYPE_FIRST = frozenset({"java", "csharp", *_C})
_UPPER = frozenset(
    {"python", "kotlin", "swift", "scala", "lua", *SCRIPT_LANGUAGES}
)  # constants by case
_MARKED = frozenset({"kotlin", *_C})  # and by word
_CONSTANT = re.compile(rb"\bconst(?:expr)?\b")
_KINDS: dict[str, DefinitionKind] = {
    "prototype": "function",
    "namespace": "module",
    "property": "function",
}
_SHORT = 72  # characters of a type alias with its value
_LONGEST = 2_000  # bytes that are looked at for a signature


def build_definition(language: str, data: bytes, place: ScopedMatch) -> Definition:
    """The definition, with its signature and whether others may use it."""
    match = place.match
    kind = _kind(language, data, place)
    head = _head(language, data, place, kind)
    before = data[max(0, match.start - 200) : match.start]
    seen = ExportCandidate(
        place.name, kind, head.modifiers, place.member_of, place.enclosing_kind, before
    )
    exported = (
        place.is_exported_by_scope
        or "shown" in match.nodes
        or (
            EXPORT_RULES[language](seen)
            and not place.is_hidden_by_scope
            and place.name not in IMPLICITLY_CALLED
        )
    )
    line = match.nodes["name"][0].start_point.row + 1
    signature = limit_signature(match.pattern.prefix + collapse_signature(head.text)) or place.name
    return Definition(place.name, kind, line, signature, place.member_of, exported)


def _kind(language: str, data: bytes, place: ScopedMatch) -> DefinitionKind:
    role, name = place.match.role, place.name
    if role == "variable" and language in _UPPER and name.isupper() and len(name) > 1:
        return "constant"
    if role == "variable" and language in _MARKED and _is_constant(data, place.match):
        return "constant"
    kind = _KINDS.get(role) or cast(DefinitionKind, role)
    return "method" if kind == "function" and place.member_of else kind


def _is_constant(data: bytes, match: QueryMatch) -> bool:
    before = data[match.start : match.nodes["name"][0].start_byte]
    return _CONSTANT.search(before) is not None and b"*" not in before


def _head(language: str, data: bytes, place: ScopedMatch, kind: DefinitionKind) -> SignatureHead:
    """The text of a signature, and the modifiers in front of it."""
    match, (start, end) = place.match, _span(place.match)
    head = _cut(language, data, start, end)
    if kind in ("constant", "variable"):
        if language not in _TYPE_FIRST:
            text = _cut(language, data, match.nodes["name"][0].start_byte, end).text
        else:
            text = head.text.removeprefix("static ")
        return head._replace(text=_value(text.removeprefix(":"), place.name))
    if language in SCRIPT_LANGUAGES and (value := match.get_node("value")) and kind != "type":
        text = _cut(language, data, value.start_byte, end).text
        return head._replace(text=name_javascript_value(text, place.name, kind))
    if reword := SIGNATURE_REWORDERS.get(language):
        return head._replace(text=reword(head.text, place.name, place.member_of))
    return head


def _cut(language: str, data: bytes, start: int, end: int) -> SignatureHead:
    text = data[start : min(end, start + _LONGEST)].decode("utf-8", "replace")
    return parse_signature_head(language, text)


def _span(match: QueryMatch) -> tuple[int, int]:
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
