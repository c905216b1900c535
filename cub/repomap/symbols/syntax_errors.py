"""Find the first syntax error of a source file, in languages whose grammars are reliable."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, NamedTuple

from cub.repomap.listing.languages import index_grammars
from cub.repomap.symbols.grammars import load_grammar

if TYPE_CHECKING:
    from tree_sitter import Node


class SyntaxFault(NamedTuple):
    """Hold the line of a syntax error, counted from 1, and what the parser says of it."""

    line: int
    message: str


def find_syntax_error(grammar: str, data: bytes) -> SyntaxFault | None:
    """Find the first syntax error of a file; None if there is none, or the grammar can't tell."""
    language = index_grammars().get(grammar)
    if language is None or not language.syntax_checked:
        return None
    fault = _ask_python(data) if grammar == "python" else SyntaxFault(0, "syntax error")
    loaded = load_grammar(grammar) if fault else None
    tree = loaded.parse(data) if loaded else None
    if fault is None or tree is None or not tree.root_node.has_error:
        return None
    return fault if fault.line else fault._replace(line=_find_error_line(tree.root_node, data))


def _ask_python(data: bytes) -> SyntaxFault | None:
    """Ask the Python that runs cub.

    It may be older or newer than the file's, so its answer counts only if the grammar agrees.
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


def _find_error_line(root: Node, data: bytes) -> int:
    """Return the line of the innermost first error; what is missing at the end is on the last."""
    node = root
    while not node.is_error and not node.is_missing:
        inner = next((child for child in node.children if child.has_error), None)
        if inner is None:
            break
        node = inner
    return 1 + data.count(b"\n", 0, min(node.start_byte, len(data.rstrip())))
