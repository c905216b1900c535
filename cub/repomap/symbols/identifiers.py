"""Find the identifiers that a file mentions, and those that it imports, without a parser.

That reads ten times as much a second as a parser, and languages without a grammar too. Comments
and strings count as well: they name what the code is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from cub.repomap.listing.languages import index_grammars

# Bytes beyond ASCII are letters.
_NAME = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]{2,99}")
_LINKS = (b"::", b"->", b"?.")  # what other languages write for a dot
_NAMES_AND_DOTS = bytes(
    byte if byte >= 128 or chr(byte).isalnum() or byte in b"_$." else ord(" ")
    for byte in range(256)
)
_DIGITS = b"0123456789"
_MAX_IGNORED_CHARS = 2  # shorter names are not worth a place in a map
_PATH_LIKE = (
    rb"^[ \t]*(?:(?:pub(?:\([^)\n]*\))?|public|global|static)[ \t]+)*"
    rb"(?:import|using|use|mod|extern[ \t]+crate)\b"
    rb"[^;\n{=(]{0,300}(?:\{[^}]{0,4000}\})?[^;\n]{0,300}"
)
# Import statements, by the word in the table of languages.
_IMPORTS = {
    "path_like": _PATH_LIKE,
    "python": rb"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+import[ \t]*(?:\([^)]{0,4000}\)|[^\n]*)"
    rb"|import[ \t]+[^\n]*)",
    "script": rb"^[ \t]*(?:import|export)\b[^'\"`;()=]{0,4000}['\"][^'\"\n]*"
    rb"|^[^\n]{0,200}\b(?:require|import)\([ \t]*['\"][^'\"\n]*",
    "go": rb"^import[ \t]*(?:\([^)]{0,8000}\)|[^\n]*)",
    "c": rb'^[ \t]*#[ \t]*(?:include|import)[ \t]*[<"][^>"\n]*',
    "ruby": rb"^[ \t]*(?:require|require_relative|load|autoload|include|extend|prepend)\b[^\n]*",
    "lua": rb"^[^\n]{0,200}\brequire\b[^\n]*",
    "shell": rb"^[ \t]*(?:source|\.|load)[ \t]+[^\n]*",
    "php": _PATH_LIKE + rb"|^[^\n]{0,100}\b(?:require|include)(?:_once)?\b[^\n]*",
}
# Where these say which package a name is from. A package that starts with a dot is the project's.
_ORIGINS = {
    "python": rb"[ \t]*from[ \t]+(?P<package>\.?\w*)[\w.]*[ \t]+import\b(?P<names>[^#]*)",
    "script": rb"[ \t]*import\b(?P<names>[^'\"]*)\bfrom[ \t]*['\"]"
    rb"(?:@[\w.-]+/)?(?P<package>\.?[\w-]*)",
}


@cache
def _compile_imports(style: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes] | None]:
    """Compile the patterns of the languages that a project has: some milliseconds each."""
    origin = re.compile(_ORIGINS[style]) if style in _ORIGINS else None
    return re.compile(_IMPORTS[style], re.MULTILINE), origin


def find_names(data: bytes, imported_names: str) -> str:
    """Return each name that a file mentions once, by code points, with spaces between.

    `name` stands alone or in front; `.name` follows a dot, an arrow or two colons; `module.name`
    follows a name that is among the `imported_names`.
    """
    modules = frozenset(imported_names.encode("utf-8", "surrogateescape").split())
    for link in _LINKS:
        data = data.replace(link, b".")
    words = set(data.translate(_NAMES_AND_DOTS).split())
    names = {word for word in words if b"." not in word}
    for chain in words - names:
        before, *others = chain.split(b".")
        names.add(before)
        for name in others:
            names.add(b"." + name)
            if before in modules:
                names.add(before + b"." + name)
            before = name
    return _join_names(n for n in names if len(n) > _MAX_IGNORED_CHARS and n[0] not in _DIGITS)


def find_imported_names(grammar: str, data: bytes) -> str:
    """Return the identifiers of the import statements, parts of paths and modules included.

    `package=name` says of a name where it comes from, in the languages whose statements tell.
    """
    language = index_grammars().get(grammar)
    imports, origin = _compile_imports(language.imports if language else "path_like")
    statements = imports.findall(data)
    names = set(_NAME.findall(b"\n".join(statements)))
    for match in filter(None, map(origin.match, statements)) if origin else ():
        names.update(match["package"] + b"=" + name for name in _NAME.findall(match["names"]))
    return _join_names(names)


def _join_names(names: Iterable[bytes]) -> str:
    return b" ".join(sorted(names)).decode("utf-8", "replace")
