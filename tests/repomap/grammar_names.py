"""The grammars and queries that the table of languages names, and a sample of each language."""

from __future__ import annotations

from cub.repomap.listing.languages import index_grammars

_PARSED = {name: row for name, row in index_grammars().items() if not row.component}
GRAMMAR_NAMES = tuple(_PARSED)
QUERY_NAMES = {query for name, row in _PARSED.items() for query in row.queries or [name]}
# Each defines `f`, and may be repeated.
SAMPLES = {
    "python": b"def f(a):\n    return [a, 1]\n\n",
    "javascript": b"export function f(a) { return [a, 1]; }\n",
    "typescript": b"export function f(a: string): void { return; }\n",
    "tsx": b"export const f = () => <a b={1}>c</a>;\n",
    "go": b"func f(a int) int { return a + 1 }\n",
    "rust": b"fn f(a: u8) -> u8 { a + 1 }\n",
    "java": b"class f { int g(int a) { return a + 1; } }\n",
    "c": b"int f(int a) { return a + 1; }\n",
    "cpp": b"class f { int g(int a) { return a + 1; } };\n",
    "csharp": b"class f { int G(int a) { return a + 1; } }\n",
    "ruby": b"def f(a)\n  a + 1\nend\n",
    "php": b"function f($a) { return $a + 1; }\n",
    "kotlin": b"fun f(a: Int): Int {\n  return a + 1\n}\n",
    "swift": b"func f(a: Int) -> Int { return a + 1 }\n",
    "scala": b"class f { def g(a: Int) = a + 1 }\n",
    "bash": b"f() { echo 1; }\n",
    "lua": b"function f(a) return a + 1 end\n",
}


def make_sample(language: str, size: int = 0) -> bytes:
    """Return a sample, repeated up to about `size` bytes."""
    start = b"<?php\n" if language == "php" else b""
    return start + SAMPLES[language] * max(1, size // len(SAMPLES[language]))
