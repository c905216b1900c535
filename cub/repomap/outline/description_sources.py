"""What the first lines of a source file say about its package: docstrings and comments.

The description in a manifest, and nothing else of it.
"""

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


def extract_python_doc(text: str) -> str:
    """The docstring of a module, however it begins."""
    found = _DOCSTRING.match(text)
    return found[2] if found else ""


def extract_go_doc(text: str) -> str:
    """The comment right above `package`."""
    lines = _GO_LINES.search(text)
    if lines:
        said = re.sub(r"^//(?:go:|\s*\+build|nolint).*\n", "", lines[1], flags=re.MULTILINE)
        return re.sub(r"^// ?", "", said, flags=re.MULTILINE)
    block = _GO_BLOCK.search(text)
    return block[1] if block else ""


def extract_rust_doc(text: str) -> str:
    """The inner comment `//!` or `/*!` of a module or crate."""
    lines = _RUST_LINES.match(text)
    if lines:
        return re.sub(r"^[ \t]*//! ?", "", lines[1], flags=re.MULTILINE)
    block = _RUST_BLOCK.match(text)
    return _STARS.sub("", block[1]) if block else ""


def extract_java_doc(text: str) -> str:
    """The Javadoc of package-info.java."""
    found = _JAVADOC.search(text)
    return _STARS.sub("", found[1]) if found else ""


def extract_script_doc(text: str) -> str:
    """The comment of an index.ts or the like that is marked as the file's or package's."""
    found = next((block[1] for block in _BLOCK.finditer(text) if _TAG.search(block[1])), "")
    return _TAG.sub("", _STARS.sub("", found))


DOC_EXTRACTORS: dict[str, Callable[[str], str]] = {
    "py": extract_python_doc,
    "go": extract_go_doc,
    "rs": extract_rust_doc,
    "java": extract_java_doc,
    "ts": extract_script_doc,
    "js": extract_script_doc,
}


_LARGEST = 262_144
_LONGEST = 2_000  # characters: no description is a text to search through
# Where the description is in each, outermost key first; the first text counts.
_KEYS = {
    "package.json": (("description",),),
    "pyproject.toml": (("project", "description"), ("tool", "poetry", "description")),
    "Cargo.toml": (("package", "description"),),
    "composer.json": (("description",),),
    "deno.json": (("description",),),
}
MANIFEST_NAMES = tuple(_KEYS)


def extract_manifest_description(name: str, text: str) -> str:
    """The description in the manifest of this name; "" if it has none, or can't be read."""
    if "description" not in text or len(text) > _LARGEST:
        return ""
    try:
        tree = tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return next(filter(None, (_at(tree, keys) for keys in _KEYS[name])), "")


def _at(tree: Any, keys: tuple[str, ...]) -> str:
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree[:_LONGEST] if isinstance(tree, str) else ""
