"""Extract what a source file or a manifest says about its package."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

# Comments, encodings and blank lines before a docstring, then its quotes.
_DOCSTRING = re.compile(
    r"(?:\s|#[^\n]*\n)*+[rRuUbB]?(\"\"\"|'''|\"|')(.*?)(?:(?<!\\)\1|\Z)", re.DOTALL
)
_GO_LINES = re.compile(r"((?:^//[^\n]*\n)+)package\s", re.MULTILINE)
_GO_BLOCK = re.compile(r"/\*(.*?)\*/\s*package\s", re.DOTALL)
_RUST_LINES = re.compile(r"(?:\s|//(?!!)[^\n]*\n|#!\[[^\]]*\])*+((?:[ \t]*//![^\n]*\n?)+)")
_RUST_BLOCK = re.compile(r"(?:\s|//[^\n]*\n)*+/\*!(.*?)\*/", re.DOTALL)
_JAVADOC = re.compile(r"/\*\*(.*?)\*/\s*+(?:@[^\n]*\n\s*+)*+package\s", re.DOTALL)
_BLOCK = re.compile(r"/\*\*(.*?)\*/", re.DOTALL)
_STARS = re.compile(r"^\s*\*+ ?", re.MULTILINE)
_TAG = re.compile(
    r"^[ \t*]*@(?:file(?:overview)?|packageDocumentation|module)\b[ \t]*", re.MULTILINE
)


def _extract_python_doc(text: str) -> str:
    match = _DOCSTRING.match(text)
    return match[2] if match else ""


def _extract_go_doc(text: str) -> str:
    lines = _GO_LINES.search(text)
    if lines:
        prose = re.sub(r"^//(?:go:|\s*\+build|nolint).*\n", "", lines[1], flags=re.MULTILINE)
        return re.sub(r"^// ?", "", prose, flags=re.MULTILINE)
    block = _GO_BLOCK.search(text)
    return block[1] if block else ""


def _extract_rust_doc(text: str) -> str:
    lines = _RUST_LINES.match(text)
    if lines:
        return re.sub(r"^[ \t]*//! ?", "", lines[1], flags=re.MULTILINE)
    block = _RUST_BLOCK.match(text)
    return _STARS.sub("", block[1]) if block else ""


def _extract_java_doc(text: str) -> str:
    match = _JAVADOC.search(text)
    return _STARS.sub("", match[1]) if match else ""


def _extract_script_doc(text: str) -> str:
    """Return the comment of an index.ts or the like that is marked as the file's or package's."""
    comment = next((block[1] for block in _BLOCK.finditer(text) if _TAG.search(block[1])), "")
    return _TAG.sub("", _STARS.sub("", comment))


# By the ending of the file.
DOC_EXTRACTORS: dict[str, Callable[[str], str]] = {
    "py": _extract_python_doc,
    "go": _extract_go_doc,
    "rs": _extract_rust_doc,
    "java": _extract_java_doc,
    "ts": _extract_script_doc,
    "js": _extract_script_doc,
}


_MAX_MANIFEST_CHARS = 262_144
_MAX_TEXT_CHARS = 2_000  # no description is a text to search through
# Where the description is, outermost key first; the first string counts.
_KEYS = {
    "package.json": (("description",),),
    "pyproject.toml": (("project", "description"), ("tool", "poetry", "description")),
    "Cargo.toml": (("package", "description"),),
    "composer.json": (("description",),),
    "deno.json": (("description",),),
}
MANIFEST_NAMES = tuple(_KEYS)


def extract_manifest_description(name: str, text: str) -> str:
    """Return the description in the manifest of this name; "" if it has none, or is invalid."""
    if "description" not in text or len(text) > _MAX_MANIFEST_CHARS:
        return ""
    try:
        tree = tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return next(filter(None, (_get_text(tree, keys) for keys in _KEYS[name])), "")


def _get_text(tree: Any, keys: tuple[str, ...]) -> str:
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree[:_MAX_TEXT_CHARS] if isinstance(tree, str) else ""
