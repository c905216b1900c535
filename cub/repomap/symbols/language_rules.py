"""Apply what is special about each language: its signatures, what it exports, where it defines.

The table of languages names the functions here by a word: `SIGNATURE_REWORDERS`, `EXPORT_RULES`,
`MATCH_REWRITERS`.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from cub.repomap.symbols.file_facts import Definition, DefinitionKind
from cub.repomap.symbols.query_matches import QueryMatch, ScopedMatch

if TYPE_CHECKING:
    from tree_sitter import Node


_SELF = re.compile(r"\(\s*(?:self|cls)\b(?:\s*:[^,()]*)?(?:,\s*|\s*(?=\)))")
_END = re.compile(r"[;\s]*\bend\s*\Z")
_LOCAL = re.compile(r"local\s+")
_ASSIGNED = re.compile(r"[\w.\s]+?=\s*function\s*(?=\()")
_MACROS = re.compile(r"(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+\s+)+(?=[\w:<>,*&\s]*[\w>][\s*&]+[\w:]+\s*\()")
_DEFINE = re.compile(r"\A#\s*define\s+")
_ATTRIBUTE = re.compile(r"([(,]\s*)(?:\[\w+(?:\([^()]*\))?\]\s*)+")


def _reword_lua(text: str, name: str, member_of: str) -> str:
    """Turn `M.a = function(b)` into `function M.a(b)`."""
    text = _LOCAL.sub("", text, count=1)
    qualified = f"{member_of}.{name}" if member_of else name
    return _ASSIGNED.sub(lambda _: f"function {qualified}", text, count=1)


def _reword_c(text: str, _name: str, member_of: str) -> str:
    """Remove macros that export a function; `static` matters for members only."""
    text = _MACROS.sub("", _DEFINE.sub("#define ", text, count=1), count=1)
    return text if member_of else text.removeprefix("static ")


RewordSignature = Callable[[str, str, str], str]  # the text, the name, and what it is a member of

SIGNATURE_REWORDERS: Mapping[str, RewordSignature] = {
    # Nobody passes the first parameter of a method.
    "python": lambda text, _, member_of: _SELF.sub("(", text, count=1) if member_of else text,
    "ruby": lambda text, _, __: _END.sub("", text),
    "shell": lambda _, name, __: f"{name}()",
    "lua": _reword_lua,
    "c": _reword_c,
    "csharp": lambda text, _, __: _ATTRIBUTE.sub(r"\1", text),
}


# A definition's place, its modifiers, and the text before it, a few lines at most.
ExportRule = Callable[[ScopedMatch, frozenset[str], bytes], bool]


def _is_capitalized(place: ScopedMatch, *_: object) -> bool:
    owner = place.member_of
    return place.name[0].isupper() and (not owner or owner[0].isupper())


def _is_pub(place: ScopedMatch, modifiers: frozenset[str], before: bytes) -> bool:
    if place.match.role == "macro":
        return b"#[macro_export" in before.rpartition(b"}")[2]
    return "pub" in modifiers or place.enclosing_kind == "trait"


def _is_public(place: ScopedMatch, modifiers: frozenset[str], _: bytes) -> bool:
    in_interface = place.enclosing_kind == "interface"
    return "public" in modifiers or (in_interface and "private" not in modifiers)


_HIDING = frozenset({"private", "fileprivate", "protected"})


def _is_not_private(_: ScopedMatch, modifiers: frozenset[str], __: bytes) -> bool:
    return not any(word.partition("[")[0] in _HIDING for word in modifiers)


def _is_public_member(place: ScopedMatch, modifiers: frozenset[str], before: bytes) -> bool:
    """Return whether a member is public; what is at the top is exported by other means."""
    is_member = bool(place.enclosing_kind or place.member_of)
    return is_member and place.name[0] != "#" and _is_not_private(place, modifiers, before)


def _is_not_marked(_: ScopedMatch, __: frozenset[str], before: bytes) -> bool:
    line = before.rpartition(b"\n")[2]
    return not line.strip().startswith((b"private", b"protected"))


EXPORT_RULES: Mapping[str, ExportRule] = {
    "everything": lambda *_: True,
    "no_underscore": lambda place, *_: not place.name.startswith("_"),
    "members": _is_public_member,
    "capitalized": _is_capitalized,
    "pub": _is_pub,
    "public": _is_public,
    "not_private": _is_not_private,
    "not_marked": _is_not_marked,
    "not_static": lambda place, words, _: "static" not in words or bool(place.enclosing_kind),
    "not_local": lambda _, words, __: "local" not in words,
}

# Names that a language calls by itself: nobody imports them.
IMPLICITLY_CALLED = frozenset({"constructor", "__construct", "__destruct", "initialize", "deinit"})


_EXPORTS = (b"exports", b"module.exports")
_IMPORTS = (b"require(", b"await import(")
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_NAMED = _FUNCTIONS | {"class"}
_OWNER = re.compile(rb"([\w$]+)(?:\.prototype)?")

_VALUE = re.compile(r"(async\b)?\s*(function\b\s*\*?|class\b)?\s*")
_OWN_NAME = re.compile(r"(?!extends\b|implements\b)[\w$]+\s*")


def _rewrite_javascript_matches(data: bytes, matches: Iterable[QueryMatch]) -> Iterator[QueryMatch]:
    """Yield the matches, with roles that follow from their values and assignments."""
    for match in matches:
        of = match.get_node("of")
        owner = data[of.start_byte : of.end_byte] if of else b""
        if match.role == "variable":
            value = match.get_node("value")
            if value is None or not data.startswith(_IMPORTS, value.start_byte):
                yield _assign_role(match, "function", "variable")
        elif match.role == "field":
            yield _assign_role(match, "method", "method")
        elif match.role == "assigned":
            yield from _resolve_assignment(data, match, owner)
        elif of is None:
            yield match
        elif owner in _EXPORTS:
            yield _assign_role(match, "function", match.role, of=[], shown=[of])


def _assign_role(match: QueryMatch, function: str, other: str, **nodes: list[Node]) -> QueryMatch:
    """Give a variable or field that holds a function or class the role of its value."""
    value = match.get_node("value")
    if value is None:
        return match._replace(nodes={**match.nodes, **nodes})
    roles = {"class": "class", **dict.fromkeys(_FUNCTIONS, function)}
    role = roles.get(value.type)
    if role is None:
        return match._replace(role=other, nodes={**match.nodes, **nodes, "body": [value]})
    body = value.child_by_field_name("body") or value
    return match._replace(role=role, nodes={**match.nodes, **nodes, "body": [body]})


def _resolve_assignment(data: bytes, match: QueryMatch, owner: bytes) -> Iterator[QueryMatch]:
    (of,), (name,), (value,) = (match.nodes[part] for part in ("of", "name", "value"))
    assigned_name = data[name.start_byte : name.end_byte]
    if owner == b"module" and assigned_name == b"exports":
        yield from _resolve_export(match, value)
    elif owner in _EXPORTS and data[value.start_byte : value.end_byte] == assigned_name:
        yield _make_reveal(match, value)
    elif owner in _EXPORTS and assigned_name != b"default":
        yield _assign_role(match, "function", "variable", of=[], shown=[of])
    elif value.type in _FUNCTIONS and (parts := _OWNER.fullmatch(owner)):
        within = of.child_by_field_name("object") if parts[0] != parts[1] else of
        yield _assign_role(match, "method", "method", of=[within or of])


def _resolve_export(match: QueryMatch, value: Node) -> Iterator[QueryMatch]:
    """Resolve `module.exports = …`, which exports a name or defines an expression with a name."""
    if value.type == "identifier":
        yield _make_reveal(match, value)
    elif name := (value.type in _NAMED and value.child_by_field_name("name")):
        yield _assign_role(match, "function", "class", name=[name], shown=[value], of=[])


def _make_reveal(match: QueryMatch, name: Node) -> QueryMatch:
    return match._replace(role="reveal", nodes={"reveal": [name]})


def name_javascript_value(text: str, name: str, kind: str) -> str:
    """Return the first part of a function or class that is a value, under its own name."""
    match = _VALUE.match(text)
    is_async, keyword, rest = (match[1], match[2], text[match.end() :]) if match else ("", "", "")
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


_OVERLOAD = re.compile(rb"^[ \t]*@(?:\w+\.)*overload\b(?!\()", re.MULTILINE)
_PYTHON_START = re.compile(rb"^[ \t]*(?:async[ \t]+)?(?:def|class)\b", re.MULTILINE)
_RUST_TEST = re.compile(
    rb"^[ \t]*#\[\s*(?:cfg\(\s*(?:all\((?:[^()\]]*,\s*)?)?test\s*[,)]"
    rb"|(?:\w+::)*(?:test|bench|fixture|quickcheck|rstest|test_case|wasm_bindgen_test)\s*[\](])",
    re.MULTILINE,
)
_RUST_END = re.compile(rb"[;{}][,) \t]*(?://[^\n]*)?\n")
_MAX_MARK_BYTES = 2_000  # between an attribute and what it stands before


def _rewrite_marked(
    mark: re.Pattern[bytes],
    barrier: re.Pattern[bytes],
    change: Mapping[str, Any],
    data: bytes,
    matches: Iterable[QueryMatch],
) -> Iterator[QueryMatch]:
    """Yield the matches, those changed before which a mark stands, and no barrier between."""
    marks = [found.start() for found in mark.finditer(data)]
    for match in matches:
        start = marks[bisect(marks, match.start) - 1] if marks else match.start
        is_near = 0 < match.start - start <= _MAX_MARK_BYTES
        is_marked = is_near and not barrier.search(data, start, match.start)
        yield match._replace(**change) if is_marked else match


MATCH_REWRITERS: Mapping[str, Callable[[bytes, Iterable[QueryMatch]], Iterator[QueryMatch]]] = {
    "script": _rewrite_javascript_matches,
    # What has `@overload` is a prototype of what implements it.
    "python": partial(_rewrite_marked, _OVERLOAD, _PYTHON_START, {"role": "prototype"}),
    # What has an attribute of tests is local, with all that it holds.
    "rust": partial(_rewrite_marked, _RUST_TEST, _RUST_END, {"role": "local", "nodes": {}}),
}


def hoist_lua_modules(
    definitions: Iterable[Definition], returned_names: Collection[str]
) -> list[Definition]:
    """Return the definitions with the members of returned tables as those of the file itself.

    A table with a method (`a:b`) is a class in a file of its own, and stays one. What may be a
    function or not (`a.b = c.d`) counts in modules alone.
    """
    rows = list(definitions)
    classes = {row.member_of for row in rows if f"{row.member_of}:" in row.signature}
    modules = {row.member_of for row in rows if row.member_of in returned_names} - classes
    hoisted = []
    for row in rows:
        if row.member_of in modules:
            kind: DefinitionKind = "function" if row.kind == "method" else row.kind
            hoisted.append(row._replace(member_of="", kind=kind))
        elif row.kind == "method" if row.member_of else row.name not in modules:
            hoisted.append(row)
    return hoisted
