"""The text of a definition in front of its body, as one line without noise.

How a signature is cut where there is less room: the name comes first, then the parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_STRINGS = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`[^`]*`'
_HASH = re.compile(rf"({_STRINGS})|#[^\n]*")
_SLASHES = re.compile(rf"({_STRINGS})|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_BOTH = re.compile(rf"({_STRINGS})|//[^\n]*|/\*.*?(?:\*/|\Z)|#(?!\[)[^\n]*", re.DOTALL)
_PREPROCESSED = re.compile(
    rf"({_STRINGS})|//[^\n]*|/\*.*?(?:\*/|\Z)|(?<=\n)[ \t]*#[^\n]*", re.DOTALL
)
# A quote may begin a lifetime.
_RUST = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_DASHES = re.compile(rf"({_STRINGS})|--(?:\[\[.*?(?:\]\]|\Z)|[^\n]*)", re.DOTALL)
_COMMENTS = {
    "python": ("#", _HASH), "ruby": ("#", _HASH), "bash": ("#", _HASH), "lua": ("--", _DASHES),
    "rust": ("/", _RUST), "php": ("", _BOTH),
    "c": ("", _PREPROCESSED), "cpp": ("", _PREPROCESSED), "csharp": ("", _PREPROCESSED),
}  # fmt: skip
_PLAIN = frozenset({"python", "go", "ruby", "bash"})  # languages without modifiers

_DROPPED = frozenset(
    re.findall(
        r"\w+",
        """public private protected internal fileprivate package export declare default pub open
        final override overriding virtual native synchronized strictfp transient volatile extern
        inline noinline crossinline readonly partial lateinit external tailrec actual expect
        nonisolated convenience required dynamic weak unowned lazy implicit new accessor register
        constexpr consteval constinit explicit friend thread_local __inline __inline__ _Noreturn
        noexcept var let val const local""",
    )
)
_KEPT = frozenset(
    re.findall(
        r"\w+",
        "static abstract async suspend data sealed case unsafe mutating indirect operator infix",
    )
)
# A type may begin with `const`; what is static in a file of C is nobody's else.
_C = (_DROPPED - {"const"} | {"static"}, _KEPT - {"static"})
_MODIFIERS = {"c": _C, "cpp": (_DROPPED - {"const"}, _KEPT)}
_WORD = re.compile(
    r"([A-Za-z_]\w*)(?:\s+|(?<=pub)\([^)]*\)\s*|\((?:set|get)\)\s*|\[\w+\]\s*)(?=[^\s\"(=:,])"
)
_MARK = re.compile(r"@(?!interface\b)[\w.:]+\s*|#?(?=\[)|__attribute__\s*|__declspec\s*|alignas\s*")
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[()\[\]]')


class SignatureHead(NamedTuple):
    """A definition's text without its leading modifiers, and those modifiers."""

    text: str
    modifiers: frozenset[str]


def parse_signature_head(language: str, text: str) -> SignatureHead:
    """Take comments, attributes and modifiers out of a definition's first part."""
    mark, comments = _COMMENTS.get(language, ("/", _SLASHES))
    if mark in text:
        text = comments.sub(r"\1", text)
    if language in _PLAIN:
        return SignatureHead(text, frozenset())
    return _without_modifiers(text.strip(), *_MODIFIERS.get(language, (_DROPPED, _KEPT)))


def _without_modifiers(
    text: str, dropped: frozenset[str], keeping: frozenset[str]
) -> SignatureHead:
    at, kept, seen = 0, list[str](), set[str]()
    while True:
        if found := _MARK.match(text, at):
            at = _after_brackets(text, found.end())
            continue
        found = _WORD.match(text, at)
        if found is None or (found[1] not in dropped and found[1] not in keeping):
            return SignatureHead(" ".join([*kept, text[at:]]), frozenset(seen))
        seen.add(found[0].strip())
        if found[1] in keeping:
            kept.append(found[1])
        at = found.end()


def _after_brackets(text: str, at: int) -> int:
    """Behind the brackets that open at `at`, and the blanks that follow; `at` if none do."""
    depth = 0
    if text[at : at + 1] in ("(", "["):
        for found in _BRACKET.finditer(text, at):
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(found[0], 0)
            at = found.end()
            if depth <= 0:
                break
    return at + len(text[at:]) - len(text[at:].lstrip())


_OPEN = re.compile(r"([(\[]) ")
_CLOSE = re.compile(r",? ?(?<=[, ])([)\]])")
_TAIL = " {:=;,\\"


def collapse_signature(text: str) -> str:
    """White space as single blanks, none beside brackets, nothing that can't be printed."""
    text = " ".join(text.split())
    if not text.isprintable():
        text = "".join(char for char in text if char.isprintable())
    if "( " in text or "[ " in text:
        text = _OPEN.sub(r"\1", text)
    if " )" in text or ",)" in text or " ]" in text or ",]" in text:
        text = _CLOSE.sub(r"\1", text)
    return text.replace(" ,", ",").rstrip(_TAIL)


MAX_SIGNATURE_CHARS = 160  # characters that are kept of any signature
_CUT = "…"


class _Parts(NamedTuple):
    """A signature around its parameters; None of them if it has no brackets for them."""

    head: str
    parameters: tuple[str, ...] | None
    tail: str

    def __str__(self) -> str:
        if self.parameters is None:
            return self.head
        return f"{self.head}({', '.join(self.parameters)}){self.tail}"


def limit_signature(signature: str) -> str:
    """A signature of a length that is worth keeping."""
    if len(signature) <= MAX_SIGNATURE_CHARS:
        return signature
    return _with_fewer(_parts(signature), MAX_SIGNATURE_CHARS)


def shorten_signature(signature: str, width: int) -> str:
    """The signature in `width` characters, or its name and `…` if that alone is longer.

    Default values of parameters go first, then their types, then what follows the parameters,
    then parameters from the end on.
    """
    if len(signature) <= width:
        return signature
    parts = _parts(signature)
    for candidate in _simpler(parts):
        if len(text := str(candidate)) <= width:
            return text
        parts = candidate
    return _with_fewer(parts, width)


def _simpler(parts: _Parts) -> Iterator[_Parts]:
    """The same with less and less around the names of the parameters."""
    if parts.parameters is None:
        return
    is_class = re.match(r"(?:\w+ )*class ", parts.head) is not None
    plain = tuple(_without_default(one) for one in parts.parameters)
    if not is_class:
        parts = parts._replace(parameters=plain)
        yield parts
    if parts.tail.startswith((" throws ", " where ", " noexcept")):
        parts = parts._replace(tail="")
        yield parts
    is_go = parts.head.startswith("func ")
    bare = tuple(_without_type(one, is_go=is_go, is_class=is_class) for one in plain)
    if not is_class or bare != plain:
        parts = parts._replace(parameters=bare)
        yield parts
    yield parts._replace(tail="")


def _with_fewer(parts: _Parts, width: int) -> str:
    """As many parameters as fit, or what fits of a text without parameters."""
    if parts.parameters is None:
        return _chopped(parts.head, width)
    parameters = parts.parameters
    plain = _without_generics(parts.head)
    name = plain.rpartition(" ")[2] or _name_in(plain)
    for head in (parts.head, plain, name):
        room = width - len(head) - len("(…)")
        if room >= 0:
            return f"{head}({', '.join([*_fitting(parameters, room), _CUT])})"
    return name + _CUT


def _fitting(parameters: Sequence[str], room: int) -> Iterator[str]:
    for parameter in parameters:
        room -= len(parameter) + len(", ")
        if room < 0:
            return
        yield parameter


def _chopped(text: str, width: int) -> str:
    """Cut behind a word, at the earliest behind the name."""
    name = _name_in(text)
    start = text.find(name) + len(name)
    if start >= width:
        return name + _CUT
    gap = max(text.rfind(mark, start, width) for mark in " ,<([|&")
    return text[: max(gap, start)].rstrip(" ,:=|&") + _CUT


_TOKEN = re.compile(
    r'[\w\s]+|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'|->|=>|<=|>=|==|!=|::|.', re.DOTALL
)
_DEPTHS = {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1, ">": -1}


def _at_top(text: str) -> Iterator[tuple[str, int]]:
    """The tokens of a text that stand in no brackets, brackets included, and where."""
    depth = 0
    for found in _TOKEN.finditer(text):
        change = _DEPTHS.get(found[0], 0)
        if depth + min(change, 0) <= 0:
            yield found[0], found.start()
        depth = max(0, depth + change)


def _parts(signature: str) -> _Parts:
    """Cut at the first brackets that stand in no others; behind `func ` Go has a receiver's."""
    tokens = list(_at_top(signature))
    opened = [at for sign, at in tokens if sign == "("]
    closed = [at for sign, at in tokens if sign == ")"]
    which = 1 if signature.startswith("func (") else 0
    if len(opened) <= which:
        return _Parts(signature, None, "")
    start = opened[which]
    end = next((at for at in closed if at > start), len(signature))
    inside = signature[start + 1 : end]
    commas = [at for sign, at in _at_top(inside) if sign == ","]
    edges = zip([-1, *commas], [*commas, len(inside)], strict=True)
    pieces = (inside[a + 1 : b].strip() for a, b in edges)
    return _Parts(signature[:start], tuple(filter(None, pieces)), signature[end + 1 :])


def _first(text: str, wanted: str) -> int:
    """Where `wanted` first stands in no brackets, or -1."""
    return next((at for sign, at in _at_top(text) if sign == wanted), -1)


def _without_default(parameter: str) -> str:
    at = _first(parameter, "=")
    return parameter[:at].rstrip() if at > 0 else parameter


_LAST = re.compile(r"\s[*&]*([\w$.]+)$")


def _without_type(parameter: str, *, is_go: bool, is_class: bool) -> str:
    """The name of a parameter: before a colon, first in Go, last in languages like C."""
    at = _first(parameter, ":")
    if at > 0:
        return parameter[:at].rstrip()
    if is_go:
        return parameter.partition(" ")[0]
    found = None if is_class or parameter.startswith("{") else _LAST.search(parameter)
    return found[1] if found else parameter


def _without_generics(head: str) -> str:
    """`static <T> T read<U>` as `static T read`."""
    inside = [at for sign, at in _at_top(head) if sign in "<>[]"]
    kept, last = "", 0
    for start, end in zip(inside[::2], inside[1::2], strict=False):
        kept, last = kept + head[last:start].rstrip() + " ", end + 1
    return " ".join((kept + head[last:]).split()).replace(" (", "(")


_NAME = re.compile(r"[\w$#@.:~-]*[\w$][?!]?")
_NOT_NAMES = re.compile(
    r" (?:struct|interface|extends|implements|where|permits|throws|with)\b|[<({=|\[]| ?: "
)


def _name_in(text: str) -> str:
    """The last word before anything that comes behind a name."""
    end = _NOT_NAMES.search(text, 1)
    words = _NAME.findall(text[: end.start()] if end else text) or _NAME.findall(text)
    return words[-1] if words else text[:7]
