"""Load tree-sitter's grammars and cub's queries, once a process, when a file needs them."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cub.repomap.listing.languages import index_grammars
from cub.repomap.symbols.bounded_parser import ParseSentinel

if TYPE_CHECKING:
    from tree_sitter import Parser, Query, QueryCursor

_QUERIES = Path(__file__).parent / "queries"


class QueryPattern(NamedTuple):
    """Describe one pattern of a query: the capture that says what it finds, and its directives.

    `prefix`: words to put before a signature. `is_closed`: members are private unless the source
    says otherwise. `has_fields`: name and body are fields of the matched node, because a query for
    them takes long to compile.
    """

    role: str
    prefix: str
    is_closed: bool
    has_fields: bool


class Grammar(NamedTuple):
    """Hold what finds a language's definitions; `patterns` by their number in the query."""

    parser: Parser
    sentinel: ParseSentinel
    cursor: QueryCursor
    patterns: tuple[QueryPattern, ...]


@cache
def load_grammar(name: str) -> Grammar | None:
    """Load the grammar of this name and its query; None if it isn't installed or doesn't fit."""
    language = index_grammars().get(name)
    if language is None or language.component:
        return None
    try:
        from tree_sitter import Language as TreeSitterLanguage
        from tree_sitter import Parser, Query, QueryCursor

        module = import_module(f"tree_sitter_{language.module or name}")
        grammar = TreeSitterLanguage(getattr(module, language.function)())
    except (ImportError, AttributeError, ValueError):  # not there, other names, another ABI
        return None
    parser = Parser(grammar)
    files = [_QUERIES / f"{query}.scm" for query in language.queries or [name]]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    query = Query(grammar, text)
    cursor = QueryCursor(query)
    cursor.set_max_start_depth(language.depth)
    sentinel = _make_sentinel(parser, language.sentinel.encode())
    return Grammar(parser, sentinel, cursor, _read_patterns(query, text.encode()))


def _make_sentinel(parser: Parser, statement: bytes) -> ParseSentinel:
    """Repeat the statement, and measure how fast it is parsed at the start of a file."""
    text = statement * 1_500
    marks = list[int]()

    def mark(offset: int, _has_error: bool) -> bool:
        marks.append(offset)
        return False

    parser.parse(lambda offset, _: text[offset:6_000], progress_callback=mark)
    return ParseSentinel(text, marks[4] - marks[1], len(statement))


# Captures beside the one that says what a pattern finds.
_PARTS = ("name", "of", "body", "value", "until")


def _read_patterns(query: Query, text: bytes) -> tuple[QueryPattern, ...]:
    patterns = []
    for number in range(query.pattern_count):
        span = slice(query.start_byte_for_pattern(number), query.end_byte_for_pattern(number))
        names = re.findall(r"@([a-z]\w*)", re.sub(r"(?m);.*$", "", text[span].decode()))
        (role,) = {name for name in names if name not in _PARTS}
        settings = query.pattern_settings(number)
        prefix, closed, fields = settings.get("prefix"), "members" in settings, "fields" in settings
        patterns.append(QueryPattern(role, prefix or "", closed, fields))
    return tuple(patterns)
