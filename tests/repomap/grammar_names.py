"""The grammars and queries that the table of languages names."""

from __future__ import annotations

from cub.repomap.listing.languages import index_grammars

_PARSED = {name: row for name, row in index_grammars().items() if not row.component}
GRAMMAR_NAMES = tuple(_PARSED)
QUERY_NAMES = {query for name, row in _PARSED.items() for query in row.queries or [name]}
