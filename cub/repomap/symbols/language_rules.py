"""What each language writes its own way, said in the way of all signatures.

Which definitions other files may use, by the rules of each language.

What JavaScript says by assignment: functions in variables, and what CommonJS exports.

Modules of Lua: the table that a file returns is no type, but what holds its definitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from cub.repomap.symbols.file_facts import Definition, DefinitionKind
from cub.repomap.symbols.query_matches import QueryMatch

if TYPE_CHECKING:
    from tree_sitter import Node


RewordSignature = Callable[[str, str, str], str]  # the text, the name, and what it is a member of

_SELF = re.compile(r"\(\s*(?:self|cls)\b(?:\s*:[^,()]*)?(?:,\s*|\s*(?=\)))")
_END = re.compile(r"[;\s]*\bend\s*\Z")
_LOCAL = re.compile(r"local\s+")
_ASSIGNED = re.compile(r"[\w.\s]+?=\s*function\s*(?=\()")
_MACROS = re.compile(r"(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+\s+)+(?=[\w:<>,*&\s]*[\w>][\s*&]+[\w:]+\s*\()")
_DEFINE = re.compile(r"\A#\s*define\s+")
_ATTRIBUTE = re.compile(r"([(,]\s*)(?:\[\w+(?:\([^()]*\))?\]\s*)+")


def _python(text: str, _name: str, member_of: str) -> str:
    """Methods without the parameter that nobody passes."""
    return _SELF.sub("(", text, count=1) if member_of else text


def _ruby(text: str, _name: str, _member_of: str) -> str:
    return _END.sub("", text)


def _bash(_text: str, name: str, _member_of: str) -> str:
    return f"{name}()"


def _lua(text: str, name: str, member_of: str) -> str:
    """`M.a = function(b)` as `function M.a(b)`."""
    text = _LOCAL.sub("", text, count=1)
    whole = f"{member_of}.{name}" if member_of else name
    return _ASSIGNED.sub(lambda _: f"function {whole}", text, count=1)


def _c(text: str, _name: str, member_of: str) -> str:
    """Without macros that export a function; `static` says much of members only."""
    text = _MACROS.sub("", _DEFINE.sub("#define ", text, count=1), count=1)
    return text if member_of else text.removeprefix("static ")


def _csharp(text: str, _name: str, _member_of: str) -> str:
    """Without attributes of parameters."""
    return _ATTRIBUTE.sub(r"\1", text)


SIGNATURE_REWORDERS: Mapping[str, RewordSignature] = {
    "python": _python,
    "ruby": _ruby,
    "bash": _bash,
    "lua": _lua,
    "c": _c,
    "cpp": _c,
    "csharp": _csharp,
}


class ExportCandidate(NamedTuple):
    """What the rules look at; `enclosing_kind` is the kind of the type that holds it, or ""."""

    name: str
    kind: str
    modifiers: frozenset[str]
    member_of: str
    enclosing_kind: str
    preceding_text: bytes  # the text in front of it, a few lines at most


def _exported_python(seen: ExportCandidate) -> bool:
    return not seen.name.startswith("_")


def _go(seen: ExportCandidate) -> bool:
    return seen.name[0].isupper() and (not seen.member_of or seen.member_of[0].isupper())


def _rust(seen: ExportCandidate) -> bool:
    if seen.kind == "macro":
        return b"#[macro_export" in seen.preceding_text.rpartition(b"}")[2]
    return "pub" in seen.modifiers or seen.enclosing_kind == "trait"


def _java(seen: ExportCandidate) -> bool:
    return "public" in seen.modifiers or (
        seen.enclosing_kind == "interface" and "private" not in seen.modifiers
    )


_HIDING = frozenset({"private", "fileprivate", "protected"})


def _open(seen: ExportCandidate) -> bool:
    """Kotlin, Swift, Scala, PHP and TypeScript's members: everything that isn't hidden."""
    return not any(word.partition("[")[0] in _HIDING for word in seen.modifiers)


def _members_only(seen: ExportCandidate) -> bool:
    """JavaScript: what stands at the top is exported by other means."""
    return bool(seen.enclosing_kind or seen.member_of) and seen.name[0] != "#" and _open(seen)


def _exported_c(seen: ExportCandidate) -> bool:
    return "static" not in seen.modifiers or bool(seen.enclosing_kind)


def _exported_ruby(seen: ExportCandidate) -> bool:
    line = seen.preceding_text.rpartition(b"\n")[2]
    return not line.strip().startswith((b"private", b"protected"))


def _exported_lua(seen: ExportCandidate) -> bool:
    return "local" not in seen.modifiers


def _anything(_seen: ExportCandidate) -> bool:
    return True


EXPORT_RULES: Mapping[str, Callable[[ExportCandidate], bool]] = {
    "python": _exported_python,
    "javascript": _members_only,
    "typescript": _members_only,
    "tsx": _members_only,
    "go": _go,
    "rust": _rust,
    "java": _java,
    "c": _exported_c,
    "cpp": _exported_c,
    "csharp": _java,
    "ruby": _exported_ruby,
    "php": _open,
    "kotlin": _open,
    "swift": _open,
    "scala": _open,
    "bash": _anything,
    "lua": _exported_lua,
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


def rewrite_javascript_matches(data: bytes, matches: Iterable[QueryMatch]) -> Iterator[QueryMatch]:
    """The matches with roles that follow from their values and from what is assigned to."""
    for match in matches:
        of = match.get_node("of")
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


def _is_import(data: bytes, match: QueryMatch) -> bool:
    """Whether a variable stands for another file."""
    value = match.get_node("value")
    return value is not None and data.startswith(_IMPORTS, value.start_byte)


def _by_value(match: QueryMatch, function: str, other: str, **nodes: list[Node]) -> QueryMatch:
    """A function or a class that is somebody's value is named by them."""
    value = match.get_node("value")
    if value is None:
        return match._replace(nodes={**match.nodes, **nodes})
    roles = {"class": "class", **dict.fromkeys(_FUNCTIONS, function)}
    role = roles.get(value.type)
    if role is None:
        return match._replace(role=other, nodes={**match.nodes, **nodes, "body": [value]})
    body = value.child_by_field_name("body") or value
    return match._replace(role=role, nodes={**match.nodes, **nodes, "body": [body]})


def _assigned(data: bytes, match: QueryMatch, owner: bytes) -> Iterator[QueryMatch]:
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


def _exported(match: QueryMatch, value: Node) -> Iterator[QueryMatch]:
    """`module.exports = …` shows a name, or makes a definition of an expression with a name."""
    if value.type == "identifier":
        yield _revealed(match, value)
    elif name := (value.type in _NAMED and value.child_by_field_name("name")):
        yield _by_value(match, "function", "class", name=[name], shown=[value], of=[])


def _revealed(match: QueryMatch, name: Node) -> QueryMatch:
    return match._replace(role="reveal", nodes={"reveal": [name]})


def name_javascript_value(text: str, name: str, kind: str) -> str:
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


def hoist_lua_modules(
    definitions: Iterable[Definition], returned_names: Collection[str]
) -> list[Definition]:
    """The definitions with the members of returned tables as those of the file itself.

    A table with a method (`a:b`) is a class that stands in a file of its own, and stays one. What
    may be a function or not (`a.b = c.d`) counts in modules alone.
    """
    rows = list(definitions)
    classes = {one.member_of for one in rows if f"{one.member_of}:" in one.signature}
    modules = {one.member_of for one in rows if one.member_of in returned_names} - classes
    return [_hoisted(one, modules) for one in rows if _counts(one, modules)]


def _hoisted(one: Definition, modules: Collection[str]) -> Definition:
    if one.member_of not in modules:
        return one
    kind: DefinitionKind = "function" if one.kind == "method" else one.kind
    return one._replace(member_of="", kind=kind)


def _counts(one: Definition, modules: Collection[str]) -> bool:
    if one.member_of:
        return one.kind == "method" or one.member_of in modules
    return one.name not in modules
