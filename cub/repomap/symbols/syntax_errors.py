"""Where a source file stops being a program of its language: its first syntax error."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, NamedTuple

from cub.repomap.symbols.bounded_parser import parse_bounded
from cub.repomap.symbols.grammars import load_parser

if TYPE_CHECKING:
    from tree_sitter import Node

# The languages whose grammars find an error in at most one of 200 files that compile. Those of
# C, C++ and C#, where a preprocessor decides, of Kotlin, Swift and shells find more.
CHECKABLE_LANGUAGES = frozenset(
    ("python", "javascript", "typescript", "tsx", "go", "rust", "java", "php", "ruby", "lua",
     "scala")
)  # fmt: skip


class SyntaxFault(NamedTuple):
    """A syntax error: its line, counted from 1, and what the parser says of it."""

    line: int
    message: str


def find_syntax_error(language: str, data: bytes) -> SyntaxFault | None:
    """Find the first syntax error of a file; None where there is none, or nobody can tell."""
    if language not in CHECKABLE_LANGUAGES:
        return None
    said = _ask_python(data) if language == "python" else SyntaxFault(0, "syntax error")
    loaded = load_parser(language) if said else None
    tree = parse_bounded(loaded.parser, data, loaded.sentinel) if loaded else None
    if said is None or tree is None or not tree.root_node.has_error:
        return None
    return said if said.line else said._replace(line=_find_error(tree.root_node, data))


def _ask_python(data: bytes) -> SyntaxFault | None:
    """Ask the Python that runs cub, which may be older or newer than the file's: so its answer
    counts only where the grammar agrees.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except SyntaxError as error:
        return SyntaxFault(error.lineno or 1, f"{type(error).__name__}: {error.msg}")
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _find_error(root: Node, data: bytes) -> int:
    """The line of the innermost first error; what is missing at the end is on the last line."""
    node = root
    while not node.is_error and not node.is_missing:
        inner = next((child for child in node.children if child.has_error), None)
        if inner is None:
            break
        node = inner
    return 1 + data.count(b"\n", 0, min(node.start_byte, len(data.rstrip())))
