"""The text of a definition in front of its body, as one line without noise."""

from __future__ import annotations

import re
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


class Head(NamedTuple):
    """A definition's text without its leading modifiers, and those modifiers."""

    text: str
    modifiers: frozenset[str]


def head_of(language: str, text: str) -> Head:
    """Take comments, attributes and modifiers out of a definition's first part."""
    mark, comments = _COMMENTS.get(language, ("/", _SLASHES))
    if mark in text:
        text = comments.sub(r"\1", text)
    if language in _PLAIN:
        return Head(text, frozenset())
    return _without_modifiers(text.strip(), *_MODIFIERS.get(language, (_DROPPED, _KEPT)))


def _without_modifiers(text: str, dropped: frozenset[str], keeping: frozenset[str]) -> Head:
    at, kept, seen = 0, list[str](), set[str]()
    while True:
        if found := _MARK.match(text, at):
            at = _after_brackets(text, found.end())
            continue
        found = _WORD.match(text, at)
        if found is None or (found[1] not in dropped and found[1] not in keeping):
            return Head(" ".join([*kept, text[at:]]), frozenset(seen))
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


def one_line(text: str) -> str:
    """White space as single blanks, none beside brackets, nothing that can't be printed."""
    text = " ".join(text.split())
    if not text.isprintable():
        text = "".join(char for char in text if char.isprintable())
    if "( " in text or "[ " in text:
        text = _OPEN.sub(r"\1", text)
    if " )" in text or ",)" in text or " ]" in text or ",]" in text:
        text = _CLOSE.sub(r"\1", text)
    return text.replace(" ,", ",").rstrip(_TAIL)
