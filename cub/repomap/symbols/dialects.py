"""What each language writes its own way, said in the way of all signatures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

Reword = Callable[[str, str, str], str]  # the text, the name, and what it is a member of

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


REWORDED: Mapping[str, Reword] = {
    "python": _python,
    "ruby": _ruby,
    "bash": _bash,
    "lua": _lua,
    "c": _c,
    "cpp": _c,
    "csharp": _csharp,
}
