"""Find which names a source file gives to others, with one query over its tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import cast

from cub.repomap.listing.languages import Language, index_grammars
from cub.repomap.symbols.file_facts import Definition, DefinitionKind
from cub.repomap.symbols.grammars import load_grammar
from cub.repomap.symbols.language_rules import (
    EXPORT_RULES,
    IMPLICITLY_CALLED,
    MATCH_REWRITERS,
    SIGNATURE_REWORDERS,
    hoist_lua_modules,
    name_javascript_value,
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

_MAX_DEFINITIONS = 10_000  # a file with more is a table


def find_definitions(grammar_name: str, data: bytes) -> tuple[Definition, ...] | None:
    """Return what a file defines, in its order; None without a grammar or if parsing fails."""
    grammar = load_grammar(grammar_name)
    tree = grammar.parse(data) if grammar else None
    if grammar is None or tree is None:
        return None
    language = index_grammars()[grammar_name]
    matches: Iterable[QueryMatch] = run_query(grammar, tree.root_node, len(data))
    if rewrite := MATCH_REWRITERS.get(language.definitions):
        matches = rewrite(data, matches)
    revealed = set[str]()
    scoped = islice(
        assign_scopes(data, _collect_reveals(data, matches, revealed)), _MAX_DEFINITIONS
    )
    definitions = _drop_repeated(language, data, scoped)
    if language.definitions == "lua":
        definitions = hoist_lua_modules(definitions, revealed)
    return _settle_exports(definitions, revealed)


def _collect_reveals(
    data: bytes, matches: Iterable[QueryMatch], revealed: set[str]
) -> Iterator[QueryMatch]:
    """Yield the matches that define, and collect the names that the others only export."""
    for match in matches:
        if match.role == "reveal":
            revealed.add(get_node_text(data, match.nodes["reveal"][0]))
        else:
            yield match


def _drop_repeated(
    language: Language, data: bytes, scoped: Iterable[ScopedMatch]
) -> list[Definition]:
    """Keep the first of overloads, and a definition rather than its prototype."""
    first = dict[tuple[str, str, str], tuple[bool, Definition]]()
    for place in scoped:
        definition = _build_definition(language, data, place)
        key = (definition.name, definition.kind, definition.member_of)
        is_prototype = place.match.role == "prototype"
        if key not in first or (first[key][0] and not is_prototype):
            first[key] = (is_prototype, definition)
    return [definition for _, definition in first.values()]


def _settle_exports(
    definitions: Sequence[Definition], revealed: set[str]
) -> tuple[Definition, ...]:
    """Apply what only the whole file tells: names exported elsewhere, members of hidden types."""
    exported_names = dict[str, bool]()
    for d in definitions:
        if not d.member_of:
            is_exported = exported_names.get(d.name, False) or d.exported or d.name in revealed
            exported_names[d.name] = is_exported
    settled = []
    for d in definitions:
        if d.member_of:
            exported = d.exported and exported_names.get(d.member_of, True)
            exported_names.setdefault(d.name, exported)
        else:
            exported = exported_names[d.name]
        settled.append(d if exported == d.exported else d._replace(exported=exported))
    return tuple(sorted(settled, key=lambda d: d.line))


_CONSTANT = re.compile(rb"\bconst(?:expr)?\b")
_KINDS: dict[str, DefinitionKind] = {
    "prototype": "function",
    "namespace": "module",
    "property": "function",
}
_MAX_VALUE_CHARS = 72  # of a type alias together with its value
_MAX_SIGNATURE_BYTES = 2_000


def _build_definition(language: Language, data: bytes, place: ScopedMatch) -> Definition:
    match = place.match
    kind = _choose_kind(language, data, place)
    head = _read_head(language, data, place, kind)
    before = data[max(0, match.start - 200) : match.start]
    exported = (
        place.is_exported_by_scope
        or "shown" in match.nodes
        or (
            EXPORT_RULES[language.exported](place, head.modifiers, before)
            and not place.is_hidden_by_scope
            and place.name not in IMPLICITLY_CALLED
        )
    )
    line = match.nodes["name"][0].start_point.row + 1
    signature = limit_signature(match.pattern.prefix + collapse_signature(head.text)) or place.name
    return Definition(place.name, kind, line, signature, place.member_of, exported)


def _choose_kind(language: Language, data: bytes, place: ScopedMatch) -> DefinitionKind:
    role, name, constants = place.match.role, place.name, language.constants
    before = data[place.match.start : place.match.nodes["name"][0].start_byte]
    if role == "variable" and (
        ("upper_case" in constants and name.isupper() and len(name) > 1)
        or ("const" in constants and _CONSTANT.search(before) and b"*" not in before)
    ):
        return "constant"
    kind = _KINDS.get(role) or cast(DefinitionKind, role)
    return "method" if kind == "function" and place.member_of else kind


def _read_head(
    language: Language, data: bytes, place: ScopedMatch, kind: DefinitionKind
) -> SignatureHead:
    match, start, end = place.match, place.match.start, _find_signature_end(place.match)
    head = _parse_span(language, data, start, end)
    if kind in ("constant", "variable"):
        if language.type_first:
            text = head.text.removeprefix("static ")
        else:
            text = _parse_span(language, data, match.nodes["name"][0].start_byte, end).text
        return head._replace(text=_simplify_variable(text.removeprefix(":"), place.name))
    is_script = language.definitions == "script"
    if is_script and (value := match.get_node("value")) and kind != "type":
        text = _parse_span(language, data, value.start_byte, end).text
        return head._replace(text=name_javascript_value(text, place.name, kind))
    if reword := SIGNATURE_REWORDERS.get(language.reword):
        return head._replace(text=reword(head.text, place.name, place.member_of))
    return head


def _parse_span(language: Language, data: bytes, start: int, end: int) -> SignatureHead:
    text = data[start : min(end, start + _MAX_SIGNATURE_BYTES)].decode("utf-8", "replace")
    return parse_signature_head(language, text)


def _find_signature_end(match: QueryMatch) -> int:
    """Return the offset where the signature ends: a short value of a type is a part of it."""
    end = -match.end
    if until := match.nodes.get("until"):
        return until[-1].end_byte
    if body := match.nodes.get("body"):
        return body[0].start_byte
    if (value := match.nodes.get("value")) and end - match.start > _MAX_VALUE_CHARS:
        return value[0].start_byte
    return end


_GENERICS = re.compile(r"<[^<>]*(?:<[^<>]*(?:<[^<>]*>[^<>]*)*>[^<>]*)*>")


def _simplify_variable(text: str, name: str) -> str:
    """Return a variable's name and type; the name alone if several are declared together."""
    before, _, after = _GENERICS.sub("", text).partition(name)
    several = "," in before or "=" in before or after.lstrip().startswith(",")
    return name if several else text
