"""Parse JSON with comments into nodes: the standard library reads it with comments blanked out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NoReturn

from cub.config_edit.nodes import ConfigNode, MappingEntry
from cub.source_text import SourceText
from cub.syntax_errors import describe_json_error

# Atomic: in a larger pattern, a comment must not give up its end for a comma in it to match.
COMMENT_PATTERN = r"(?>//[^\r\n]*|/\*[\s\S]*?\*/)"
MAX_JSON_LEVELS = 100
_BOM = "\ufeff"
_STRING = r'"(?:[^"\\]|\\.)*"?'
_COMMENTS = re.compile(rf"{_STRING}|({COMMENT_PATTERN})|(/\*)", re.DOTALL)
# A comma after the last item; with the first group, after none.
_LAST_COMMAS = re.compile(rf"{_STRING}|([\[{{,:]\s*),|(,)(?=\s*[\]}}])", re.DOTALL)
# Commas and colons say nothing more in a text that is known to be JSON.
_TOKENS = re.compile(rf"{_STRING}|[\[\]{{}}]|[^\s\[\]{{}}:,\"]+", re.DOTALL)


def parse_jsonc(source: SourceText, *, strict: bool = False) -> ConfigNode | None:
    """Return the value of a text; None if there is nothing in it.

    A trailing comma and a byte order mark are allowed unless `strict`; comments always are. Raises
    CubError with `path:line:column` for anything else that is not JSON.
    """
    if strict and source.text.startswith(_BOM):
        raise source.make_error(0, "byte order mark (this file's readers reject it)")
    plain = _blank_comments(source)
    last_commas = [found.start() for found in _LAST_COMMAS.finditer(plain) if found[2]]
    if strict and last_commas:
        message = "trailing comma (this file's readers reject it)"
        raise source.make_error(last_commas[0], message)
    plain = _LAST_COMMAS.sub(lambda found: " " if found[2] else found[0], plain)
    if not plain.strip():
        return None
    try:
        _DECODER.decode(plain)
        tokens = _TOKENS.finditer(plain)
        return _build_node(next(tokens), tokens, 1)
    except json.JSONDecodeError as error:
        raise source.make_error(
            error.pos, f"invalid JSON: {describe_json_error(error.msg)}"
        ) from None
    except ValueError as error:
        raise source.make_error(0, f"invalid JSON: {error}") from None
    except RecursionError:
        raise source.make_error(0, "too deeply nested") from None


def _blank_comments(source: SourceText) -> str:
    """Replace comments and byte order mark with spaces, so the length stays."""

    def replace_comment(match: re.Match[str]) -> str:
        if match[2]:
            raise source.make_error(match.start(), "unterminated comment")
        return re.sub(r"[^\r\n]", " ", match[0]) if match[1] else match[0]

    plain = _COMMENTS.sub(replace_comment, source.text)
    return plain.replace(_BOM, " ", 1) if plain.startswith(_BOM) else plain


def _build_node(token: re.Match[str], others: Iterator[re.Match[str]], level: int) -> ConfigNode:
    """Return the value that starts with `token`, in a text that is known to be JSON."""
    if level > MAX_JSON_LEVELS:
        raise RecursionError
    start, style = token.start(), token[0][0]
    if style not in "[{":
        style = '"' if style == '"' else ""
        return ConfigNode("scalar", start, token.end(), style, _DECODER.decode(token[0]))
    nodes = list[ConfigNode]()
    while (token := next(others))[0] not in "]}":
        nodes.append(_build_node(token, others, level + 1))
    if style == "[":
        return ConfigNode("list", start, token.end(), style, items=tuple(nodes))
    entries = tuple(map(MappingEntry, nodes[::2], nodes[1::2]))
    return ConfigNode("mapping", start, token.end(), style, entries=entries)


def _parse_int(digits: str) -> int | float:
    """Return an integer; as a float where it is longer than Python likes to count."""
    return int(digits) if len(digits) < 19 else float(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


_DECODER = json.JSONDecoder(parse_int=_parse_int, parse_constant=_refuse_constant)
