"""The identifiers that a file speaks of, and those that it imports; found without a parser.

That reads ten times as much a second as a parser, in languages without a grammar too. What
stands in comments and strings counts as well: it names what the code is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

# Bytes beyond ASCII are letters.
_NAME = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]{2,99}")
_LINKS = (b"::", b"->", b"?.")  # what other languages write for a dot
_NAMES_ALONE = bytes(
    byte if byte >= 128 or chr(byte).isalnum() or byte in b"_$." else ord(" ")
    for byte in range(256)
)
_DIGITS = b"0123456789"
_SHORT = 2  # letters: that names nothing that is worth a place in a map
_PATH_LIKE = (
    rb"^[ \t]*(?:(?:pub(?:\([^)\n]*\))?|public|global|static)[ \t]+)*"
    rb"(?:import|using|use|mod|extern[ \t]+crate)\b"
    rb"[^;\n{=(]{0,300}(?:\{[^}]{0,4000}\})?[^;\n]{0,300}"
)
_C = rb'^[ \t]*#[ \t]*(?:include|import)[ \t]*[<"][^>"\n]*'
_SCRIPT = (
    rb"^[ \t]*(?:import|export)\b[^'\"`;()=]{0,4000}['\"][^'\"\n]*"
    rb"|^[^\n]{0,200}\b(?:require|import)\([ \t]*['\"][^'\"\n]*"
)
_BY_GRAMMAR = {
    "python": rb"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+import[ \t]*(?:\([^)]{0,4000}\)|[^\n]*)"
    rb"|import[ \t]+[^\n]*)",
    "go": rb"^import[ \t]*(?:\([^)]{0,8000}\)|[^\n]*)",
    "c": _C,
    "cpp": _C,
    "ruby": rb"^[ \t]*(?:require|require_relative|load|autoload|include|extend|prepend)\b[^\n]*",
    "lua": rb"^[^\n]{0,200}\brequire\b[^\n]*",
    "bash": rb"^[ \t]*(?:source|\.|load)[ \t]+[^\n]*",
    "php": _PATH_LIKE + rb"|^[^\n]{0,100}\b(?:require|include)(?:_once)?\b[^\n]*",
} | dict.fromkeys(["javascript", "typescript", "tsx", "vue"], _SCRIPT)
_FROM = {
    "python": rb"[ \t]*from[ \t]+(?P<package>\.?\w*)[\w.]*[ \t]+import\b(?P<names>[^#]*)",
} | dict.fromkeys(
    ["javascript", "typescript", "tsx", "vue"],
    rb"[ \t]*import\b(?P<names>[^'\"]*)\bfrom[ \t]*['\"](?:@[\w.-]+/)?(?P<package>\.?[\w-]*)",
)


@cache
def _origin(grammar: str) -> re.Pattern[bytes] | None:
    """A package that begins with a dot is one of the project's own."""
    return re.compile(_FROM[grammar]) if grammar in _FROM else None


@cache
def _imports(grammar: str) -> re.Pattern[bytes]:
    """Compiled for the languages that a project has: that takes some milliseconds each."""
    return re.compile(_BY_GRAMMAR.get(grammar, _PATH_LIKE), re.MULTILINE)


def find_names(data: bytes, imported_names: str) -> str:
    """What a file speaks of, each once, by code points, with blanks between.

    `name` stands alone or in front; `.name` follows a dot, an arrow or two colons; `module.name`
    follows a name that is among the `imported_names` ones.
    """
    modules = frozenset(imported_names.encode("utf-8", "surrogateescape").split())
    for link in _LINKS:
        data = data.replace(link, b".")
    said = set(data.translate(_NAMES_ALONE).split())
    found = {name for name in said if b"." not in name}
    for chain in said - found:
        before, *others = chain.split(b".")
        found.add(before)
        for name in others:
            found.add(b"." + name)
            if before in modules:
                found.add(before + b"." + name)
            before = name
    return _joined(name for name in found if len(name) > _SHORT and name[0] not in _DIGITS)


def find_imported_names(grammar: str, data: bytes) -> str:
    """The identifiers of the import statements, parts of paths and modules too, as `find_names`.

    `package=name` says of a name where it comes from, in the languages whose statements tell.
    """
    found = _imports(grammar).findall(data)
    names = set(_NAME.findall(b"\n".join(found)))
    return _joined(names.union(_origins(grammar, found)))


def _origins(grammar: str, statements: list[bytes]) -> Iterator[bytes]:
    pattern = _origin(grammar)
    for found in map(pattern.match, statements) if pattern else ():
        if found:
            for name in _NAME.findall(found["names"]):
                yield found["package"] + b"=" + name


def _joined(names: Iterable[bytes]) -> str:
    return b" ".join(sorted(names)).decode("utf-8", "replace")
