"""Load tree-sitter's grammars and cub's queries, once a process, when a file needs them."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cub.repomap.listing.languages import index_grammars
from cub.repomap.symbols.bounded_parser import ParseSentinel, parse_bounded

if TYPE_CHECKING:
    from tree_sitter import Parser, QueryCursor, Tree

_LETTERS = bytes(code if code < 128 else ord("_") for code in range(256))
_QUERIES = Path(__file__).parent / "queries"


class QueryPattern(NamedTuple):
    """Hold the directives of one pattern of a query.

    `prefix`: words to put before a signature. `is_closed`: members are private unless the source
    says otherwise. `has_fields`: name and body are fields of the matched node, because a query for
    them takes long to compile.
    """

    prefix: str
    is_closed: bool
    has_fields: bool


class Grammar(NamedTuple):
    """Hold what finds a language's definitions; `patterns` by their number in the query.

    With an `ascii_scanner`, the parser crashes on characters beyond ASCII.
    """

    parser: Parser
    sentinel: ParseSentinel
    cursor: QueryCursor
    patterns: tuple[QueryPattern, ...]
    ascii_scanner: bool = False

    def parse(self, data: bytes) -> Tree | None:
        """Return the tree of a source text; None if it is too deep, or takes too long to parse."""
        if self.ascii_scanner:  # each byte becomes a letter: places in the text stay the same
            mark = data[: len(BOM_UTF8) * data.startswith(BOM_UTF8)]
            data = mark + data[len(mark) :].translate(_LETTERS)
        return parse_bounded(self.parser, data, self.sentinel)


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
    numbers = range(query.pattern_count)
    patterns = tuple(_read_directives(query.pattern_settings(number)) for number in numbers)
    return Grammar(parser, sentinel, cursor, patterns, language.ascii_scanner)


def _make_sentinel(parser: Parser, statement: bytes) -> ParseSentinel:
    """Repeat the statement, and measure how fast it is parsed at the start of a file."""
    text = statement * 1_500
    marks = list[int]()

    def mark(offset: int, _has_error: bool) -> bool:
        marks.append(offset)
        return False

    parser.parse(lambda offset, _: text[offset:6_000], progress_callback=mark)
    return ParseSentinel(text, marks[4] - marks[1], len(statement))


def _read_directives(settings: Mapping[str, str | None]) -> QueryPattern:
    return QueryPattern(settings.get("prefix") or "", "members" in settings, "fields" in settings)
