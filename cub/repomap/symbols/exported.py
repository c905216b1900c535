"""Which definitions other files may use, by the rules of each language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple


class Seen(NamedTuple):
    """What the rules look at; `holder` is the kind of the type that holds it, or ""."""

    name: str
    kind: str
    modifiers: frozenset[str]
    member_of: str
    holder: str
    before: bytes  # the text in front of it, a few lines at most


def _python(seen: Seen) -> bool:
    return not seen.name.startswith("_")


def _go(seen: Seen) -> bool:
    return seen.name[0].isupper() and (not seen.member_of or seen.member_of[0].isupper())


def _rust(seen: Seen) -> bool:
    if seen.kind == "macro":
        return b"#[macro_export" in seen.before.rpartition(b"}")[2]
    return "pub" in seen.modifiers or seen.holder == "trait"


def _java(seen: Seen) -> bool:
    return "public" in seen.modifiers or (
        seen.holder == "interface" and "private" not in seen.modifiers
    )


_HIDING = frozenset({"private", "fileprivate", "protected"})


def _open(seen: Seen) -> bool:
    """Kotlin, Swift, Scala, PHP and TypeScript's members: everything that isn't hidden."""
    return not any(word.partition("[")[0] in _HIDING for word in seen.modifiers)


def _members_only(seen: Seen) -> bool:
    """JavaScript: what stands at the top is exported by other means."""
    return bool(seen.holder or seen.member_of) and seen.name[0] != "#" and _open(seen)


def _c(seen: Seen) -> bool:
    return "static" not in seen.modifiers or bool(seen.holder)


def _ruby(seen: Seen) -> bool:
    line = seen.before.rpartition(b"\n")[2]
    return not line.strip().startswith((b"private", b"protected"))


def _lua(seen: Seen) -> bool:
    return "local" not in seen.modifiers


def _anything(_seen: Seen) -> bool:
    return True


RULES: Mapping[str, Callable[[Seen], bool]] = {
    "python": _python,
    "javascript": _members_only,
    "typescript": _members_only,
    "tsx": _members_only,
    "go": _go,
    "rust": _rust,
    "java": _java,
    "c": _c,
    "cpp": _c,
    "csharp": _java,
    "ruby": _ruby,
    "php": _open,
    "kotlin": _open,
    "swift": _open,
    "scala": _open,
    "bash": _anything,
    "lua": _lua,
}

# Names that a language calls by itself: nobody imports them.
UNCALLED = frozenset({"constructor", "__construct", "__destruct", "initialize", "deinit"})
