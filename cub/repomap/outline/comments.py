"""What the first lines of a source file say about its package: docstrings and comments."""

from __future__ import annotations

import re
from collections.abc import Callable

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


def python_doc(text: str) -> str:
    """The docstring of a module, however it begins."""
    found = _DOCSTRING.match(text)
    return found[2] if found else ""


def go_doc(text: str) -> str:
    """The comment right above `package`."""
    lines = _GO_LINES.search(text)
    if lines:
        said = re.sub(r"^//(?:go:|\s*\+build|nolint).*\n", "", lines[1], flags=re.MULTILINE)
        return re.sub(r"^// ?", "", said, flags=re.MULTILINE)
    block = _GO_BLOCK.search(text)
    return block[1] if block else ""


def rust_doc(text: str) -> str:
    """The inner comment `//!` or `/*!` of a module or crate."""
    lines = _RUST_LINES.match(text)
    if lines:
        return re.sub(r"^[ \t]*//! ?", "", lines[1], flags=re.MULTILINE)
    block = _RUST_BLOCK.match(text)
    return _STARS.sub("", block[1]) if block else ""


def java_doc(text: str) -> str:
    """The Javadoc of package-info.java."""
    found = _JAVADOC.search(text)
    return _STARS.sub("", found[1]) if found else ""


def script_doc(text: str) -> str:
    """The comment of an index.ts or the like that is marked as the file's or package's."""
    found = next((block[1] for block in _BLOCK.finditer(text) if _TAG.search(block[1])), "")
    return _TAG.sub("", _STARS.sub("", found))


DOCS: dict[str, Callable[[str], str]] = {
    "py": python_doc,
    "go": go_doc,
    "rs": rust_doc,
    "java": java_doc,
    "ts": script_doc,
    "js": script_doc,
}
