"""tree-sitter's grammars and our queries for them, loaded when a file of the language comes up."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cub.repomap.symbols.bounded_parser import ParseSentinel

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Query, QueryCursor

_QUERIES = Path(__file__).parent / "queries"


class _Source(NamedTuple):
    """Where a language comes from: module, query files, how deep definitions stand, function.

    `ending` is a statement that any program may end with.
    """

    module: str
    queries: tuple[str, ...]
    depth: int
    ending: bytes
    function: str = "language"


_SOURCES = {
    "python": _Source("python", ("python",), 7, b"\npass"),
    "javascript": _Source("javascript", ("script", "javascript"), 7, b"\n;"),
    "typescript": _Source("typescript", ("script", "typescript"), 9, b"\n;", "language_typescript"),
    "tsx": _Source("typescript", ("script", "typescript"), 9, b"\n;", "language_tsx"),
    "go": _Source("go", ("go",), 1, b"\nfunc a()"),
    "rust": _Source("rust", ("rust",), 7, b"\n;"),
    "java": _Source("java", ("java",), 7, b"\n{}"),
    "c": _Source("c", ("c_family", "c"), 7, b"\nint a;"),
    "cpp": _Source("cpp", ("c_family", "cpp"), 11, b"\nint a;"),
    "csharp": _Source("c_sharp", ("csharp",), 7, b"\nenum A{}"),
    "ruby": _Source("ruby", ("ruby",), 9, b"\n;"),
    "php": _Source("php", ("php",), 7, b"\n?><?php\n;", "language_php"),
    "kotlin": _Source("kotlin", ("kotlin",), 7, b"\nclass A"),
    "swift": _Source("swift", ("swift",), 7, b"\n0"),
    "scala": _Source("scala", ("scala",), 7, b"\n{}"),
    "bash": _Source("bash", ("bash",), 5, b"\n:"),
    "lua": _Source("lua", ("lua",), 3, b"\n--"),
}
GRAMMAR_NAMES = tuple(_SOURCES)
QUERY_NAMES = tuple(dict.fromkeys(name for one in _SOURCES.values() for name in one.queries))


class QueryPattern(NamedTuple):
    """One pattern of a query: the capture that says what it finds, and its `#set!` directives.

    `prefix`: words to put first. `is_closed`: members of what it finds are private unless
    something else is said. `has_fields`: name and body are fields of the node that is found, as a
    query for them would take long to compile.
    """

    role: str
    prefix: str
    is_closed: bool
    has_fields: bool


class LoadedParser(NamedTuple):
    """What it takes to parse a language, without its query, which takes longer to load."""

    language: Language
    parser: Parser
    sentinel: ParseSentinel


class Grammar(NamedTuple):
    """What it takes to find a language's definitions; `patterns` by their number in the query."""

    parser: Parser
    sentinel: ParseSentinel
    cursor: QueryCursor
    patterns: tuple[QueryPattern, ...]


@cache
def load_parser(language: str) -> LoadedParser | None:
    """Load a language's parser, once a process; None if it isn't installed or doesn't fit."""
    source = _SOURCES.get(language)
    if source is None:
        return None
    try:
        from tree_sitter import Language, Parser

        grown = Language(getattr(import_module(f"tree_sitter_{source.module}"), source.function)())
    except (ImportError, AttributeError, ValueError):  # not there, other names, another ABI
        return None
    parser = Parser(grown)
    return LoadedParser(grown, parser, _ending(parser, source.ending))


@cache
def load_grammar(language: str) -> Grammar | None:
    """The grammar of a language, once a process; None if it isn't installed or doesn't fit."""
    loaded = load_parser(language)
    if loaded is None:
        return None
    from tree_sitter import Query, QueryCursor

    source = _SOURCES[language]
    files = [_QUERIES / f"{name}.scm" for name in source.queries]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    query = Query(loaded.language, text)
    cursor = QueryCursor(query)
    cursor.set_max_start_depth(source.depth)
    patterns = tuple(_patterns(query, text.encode()))
    return Grammar(loaded.parser, loaded.sentinel, cursor, patterns)


def _ending(parser: Parser, statement: bytes) -> ParseSentinel:
    """The statement often enough, and how fast it is read where nothing stands before it."""
    text = statement * 1_500
    marks = list[int]()

    def mark(offset: int, _has_error: bool) -> bool:
        marks.append(offset)
        return False

    parser.parse(lambda offset, _: text[offset:6_000], progress_callback=mark)
    return ParseSentinel(text, marks[4] - marks[1], len(statement))


# Captures beside the one that says what a pattern finds.
_PARTS = ("name", "of", "body", "value", "until")


def _patterns(query: Query, text: bytes) -> list[QueryPattern]:
    found = []
    for number in range(query.pattern_count):
        span = slice(query.start_byte_for_pattern(number), query.end_byte_for_pattern(number))
        names = re.findall(r"@([a-z]\w*)", re.sub(r"(?m);.*$", "", text[span].decode()))
        (role,) = {name for name in names if name not in _PARTS}
        settings = query.pattern_settings(number)
        prefix, closed, fields = settings.get("prefix"), "members" in settings, "fields" in settings
        found.append(QueryPattern(role, prefix or "", closed, fields))
    return found
