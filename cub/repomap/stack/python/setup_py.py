"""setup.py, read and never run: what it writes down as literals."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import Any

LONGEST = 200_000


def setup_keywords(text: str) -> dict[str, Any]:
    """The keywords of the call of `setup` whose values are literals, or names of literals."""
    tree = parsed(text)
    constants = dict(_constants(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) == "setup":
            return dict(_literals(node.keywords, constants))
    return {}


def parsed(text: str) -> ast.Module:
    """The syntax tree of a text; SyntaxError for what is no Python."""
    if len(text) > LONGEST:
        raise ValueError(f"this has more than {LONGEST:,} characters")
    with warnings.catch_warnings():  # about the text's own escapes
        warnings.simplefilter("ignore")
        return ast.parse(text)


def name_of(node: ast.expr) -> str:
    """The last part of a dotted name: `setup` of `setuptools.setup`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def literal(node: ast.expr) -> Any:
    """The value of a literal; None for anything else."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _constants(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, literal(node.value)


def _literals(keywords: list[ast.keyword], known: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for keyword in keywords:
        value = keyword.value
        found = known.get(value.id) if isinstance(value, ast.Name) else literal(value)
        if keyword.arg and found is not None:
            yield keyword.arg, found
