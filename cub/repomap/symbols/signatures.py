"""Make the text of a definition before its body a signature on one line, and shorten it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cub.repomap.listing.languages import Language

_STRINGS = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`[^`]*`'
_HASH = re.compile(rf"({_STRINGS})|#[^\n]*")
_SLASHES = re.compile(rf"({_STRINGS})|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_BOTH = re.compile(rf"({_STRINGS})|//[^\n]*|/\*.*?(?:\*/|\Z)|#(?!\[)[^\n]*", re.DOTALL)
_PREPROCESSED = re.compile(
    rf"({_STRINGS})|//[^\n]*|/\*.*?(?:\*/|\Z)|(?<=\n)[ \t]*#[^\n]*", re.DOTALL
)
# A single quote may start a lifetime.
_RUST = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_DASHES = re.compile(rf"({_STRINGS})|--(?:\[\[.*?(?:\]\]|\Z)|[^\n]*)", re.DOTALL)
# A character without which there is no comment, and the pattern, by the word in the table.
_COMMENTS = {
    "slashes": ("/", _SLASHES), "hash": ("#", _HASH), "dashes": ("--", _DASHES),
    "rust": ("/", _RUST), "slashes_and_hash": ("", _BOTH), "preprocessor": ("", _PREPROCESSED),
}  # fmt: skip

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
# Modifiers that are dropped and kept, by the word in the table; None where there are none. In C, a
# type may start with `const`, and `static` keeps a function to its file.
_MODIFIERS = {
    "usual": (_DROPPED, _KEPT),
    "none": None,
    "c": (_DROPPED - {"const"} | {"static"}, _KEPT - {"static"}),
    "cpp": (_DROPPED - {"const"}, _KEPT),
}
_WORD = re.compile(
    r"([A-Za-z_]\w*)(?:\s+|(?<=pub)\([^)]*\)\s*|\((?:set|get)\)\s*|\[\w+\]\s*)(?=[^\s\"(=:,])"
)
_MARK = re.compile(r"@(?!interface\b)[\w.:]+\s*|#?(?=\[)|__attribute__\s*|__declspec\s*|alignas\s*")
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[()\[\]]')


class SignatureHead(NamedTuple):
    """Hold a definition's text without its leading modifiers, and those modifiers."""

    text: str
    modifiers: frozenset[str]


def parse_signature_head(language: Language, text: str) -> SignatureHead:
    """Take comments, attributes and modifiers out of the first part of a definition."""
    mark, comments = _COMMENTS[language.comments]
    if mark in text:
        text = comments.sub(r"\1", text)
    modifiers = _MODIFIERS[language.modifiers]
    if modifiers is None:
        return SignatureHead(text, frozenset())
    return _split_modifiers(text.strip(), *modifiers)


def _split_modifiers(text: str, dropped: frozenset[str], kept: frozenset[str]) -> SignatureHead:
    at, leading, modifiers = 0, list[str](), set[str]()
    while True:
        if match := _MARK.match(text, at):
            at = _skip_brackets(text, match.end())
            continue
        match = _WORD.match(text, at)
        if match is None or (match[1] not in dropped and match[1] not in kept):
            return SignatureHead(" ".join([*leading, text[at:]]), frozenset(modifiers))
        modifiers.add(match[0].strip())
        if match[1] in kept:
            leading.append(match[1])
        at = match.end()


def _skip_brackets(text: str, at: int) -> int:
    """Return the offset after brackets that open at `at`, if any, and whitespace."""
    depth = 0
    if text[at : at + 1] in ("(", "["):
        for match in _BRACKET.finditer(text, at):
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(match[0], 0)
            at = match.end()
            if depth <= 0:
                break
    return at + len(text[at:]) - len(text[at:].lstrip())


_OPEN = re.compile(r"([(\[]) ")
_CLOSE = re.compile(r",? ?(?<=[, ])([)\]])")
_TAIL = " {:=;,\\"


def collapse_signature(text: str) -> str:
    """Collapse whitespace, with none beside brackets, and remove what can't be printed."""
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
    """Hold a signature around its parameters, which are None without brackets for them."""

    head: str
    parameters: tuple[str, ...] | None
    tail: str

    def __str__(self) -> str:
        if self.parameters is None:
            return self.head
        return f"{self.head}({', '.join(self.parameters)}){self.tail}"


def limit_signature(signature: str) -> str:
    """Return the signature, cut to a length that is worth keeping."""
    if len(signature) <= MAX_SIGNATURE_CHARS:
        return signature
    return _drop_parameters(_split_parameters(signature), MAX_SIGNATURE_CHARS)


def shorten_signature(signature: str, width: int) -> str:
    """Return the signature in `width` characters, or its name and `…` if that alone is longer.

    Default values of parameters go first, then their types, then what follows the parameters,
    then parameters from the end on.
    """
    if len(signature) <= width:
        return signature
    parts = _split_parameters(signature)
    for candidate in _simplify(parts):
        if len(text := str(candidate)) <= width:
            return text
        parts = candidate
    return _drop_parameters(parts, width)


def _simplify(parts: _Parts) -> Iterator[_Parts]:
    """Yield the signature with less and less around the names of the parameters."""
    if parts.parameters is None:
        return
    is_class = re.match(r"(?:\w+ )*class ", parts.head) is not None
    plain = tuple(map(_strip_default, parts.parameters))
    if not is_class:
        parts = parts._replace(parameters=plain)
        yield parts
    if parts.tail.startswith((" throws ", " where ", " noexcept")):
        parts = parts._replace(tail="")
        yield parts
    is_go = parts.head.startswith("func ")
    bare = tuple(_strip_type(parameter, is_go=is_go, is_class=is_class) for parameter in plain)
    if not is_class or bare != plain:
        parts = parts._replace(parameters=bare)
        yield parts
    yield parts._replace(tail="")


def _drop_parameters(parts: _Parts, width: int) -> str:
    if parts.parameters is None:
        return _cut_text(parts.head, width)
    plain = _strip_generics(parts.head)
    name = plain.rpartition(" ")[2] or _find_name(plain)
    for head in (parts.head, plain, name):
        width_left = width - len(head) - len("(…)")
        if width_left >= 0:
            parameters = _take_fitting(parts.parameters, width_left)
            return f"{head}({', '.join([*parameters, _CUT])})"
    return name + _CUT


def _take_fitting(parameters: Sequence[str], width: int) -> Iterator[str]:
    for parameter in parameters:
        width -= len(parameter) + len(", ")
        if width < 0:
            return
        yield parameter


def _cut_text(text: str, width: int) -> str:
    """Cut after a word, at the earliest after the name."""
    name = _find_name(text)
    start = text.find(name) + len(name)
    if start >= width:
        return name + _CUT
    gap = max(text.rfind(mark, start, width) for mark in " ,<([|&")
    return text[: max(gap, start)].rstrip(" ,:=|&") + _CUT


_TOKEN = re.compile(
    r'[\w\s]+|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'|->|=>|<=|>=|==|!=|::|.', re.DOTALL
)
_DEPTHS = {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1, ">": -1}


def _iter_outer_tokens(text: str) -> Iterator[tuple[str, int]]:
    """Yield the tokens outside of brackets, and the outer brackets, each with its offset."""
    depth = 0
    for match in _TOKEN.finditer(text):
        change = _DEPTHS.get(match[0], 0)
        if depth + min(change, 0) <= 0:
            yield match[0], match.start()
        depth = max(0, depth + change)


def _split_parameters(signature: str) -> _Parts:
    """Split at the first outer parentheses; those after `func ` are the receiver of Go."""
    tokens = list(_iter_outer_tokens(signature))
    opening = [at for sign, at in tokens if sign == "("]
    closing = [at for sign, at in tokens if sign == ")"]
    number = 1 if signature.startswith("func (") else 0
    if len(opening) <= number:
        return _Parts(signature, None, "")
    start = opening[number]
    end = next((at for at in closing if at > start), len(signature))
    inside = signature[start + 1 : end]
    commas = [at for sign, at in _iter_outer_tokens(inside) if sign == ","]
    edges = zip([-1, *commas], [*commas, len(inside)], strict=True)
    pieces = (inside[a + 1 : b].strip() for a, b in edges)
    return _Parts(signature[:start], tuple(filter(None, pieces)), signature[end + 1 :])


def _find_outer(text: str, sign: str) -> int:
    """Return where `sign` first is outside of brackets, or -1."""
    return next((at for token, at in _iter_outer_tokens(text) if token == sign), -1)


def _strip_default(parameter: str) -> str:
    at = _find_outer(parameter, "=")
    return parameter[:at].rstrip() if at > 0 else parameter


_LAST = re.compile(r"\s[*&]*([\w$.]+)$")


def _strip_type(parameter: str, *, is_go: bool, is_class: bool) -> str:
    """Return the parameter's name: before a colon, first in Go, last in languages like C."""
    at = _find_outer(parameter, ":")
    if at > 0:
        return parameter[:at].rstrip()
    if is_go:
        return parameter.partition(" ")[0]
    match = None if is_class or parameter.startswith("{") else _LAST.search(parameter)
    return match[1] if match else parameter


def _strip_generics(head: str) -> str:
    """Turn `static <T> T read<U>` into `static T read`."""
    brackets = [at for sign, at in _iter_outer_tokens(head) if sign in "<>[]"]
    plain, last = "", 0
    for start, end in zip(brackets[::2], brackets[1::2], strict=False):
        plain, last = plain + head[last:start].rstrip() + " ", end + 1
    return " ".join((plain + head[last:]).split()).replace(" (", "(")


_NAME = re.compile(r"[\w$#@.:~-]*[\w$][?!]?")
_NOT_NAMES = re.compile(
    r" (?:struct|interface|extends|implements|where|permits|throws|with)\b|[<({=|\[]| ?: "
)


def _find_name(text: str) -> str:
    """Return the last word before anything that follows a name."""
    end = _NOT_NAMES.search(text, 1)
    words = _NAME.findall(text[: end.start()] if end else text) or _NAME.findall(text)
    return words[-1] if words else text[:7]
