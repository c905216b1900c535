"""Parse what manifests are written in, leniently: INI, XML, TOML, JSON, and lines of code.

Whatever is wrong with a text is a ValueError that begins with its line, if that is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from cub.errors import CubError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MAX_LINE_CHARS = 2000
# Of the values that a manifest may be searched for.
_MAX_VALUES, _MAX_LEVELS, MAX_KEY_CHARS = 50_000, 12, 80
# A quote without its end takes the rest of the line, so that no text is read twice.
_QUOTED = r"""(?:"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?)"""
# tomllib takes time in the square of a key's parts.
_LONG_KEY = re.compile(r"""(?<![\w.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}""")
_POSITION = re.compile(r"^(.*) \(at (?:line (\d+), column \d+|end of document)\)$", re.DOTALL)


def parse_ini(text: str) -> dict[str, dict[str, str]]:
    """Return the sections of an INI file with their options."""
    import configparser

    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, default_section="")
    try:
        parser.read_string(text)
    except configparser.MissingSectionHeaderError as error:
        raise ValueError(f"line {error.lineno}: this line is outside of any section") from None
    except (configparser.ParsingError, AttributeError) as error:
        # For a value below an option without one, Python 3.13 names no line, and 3.12 fails itself.
        errors = getattr(error, "errors", None)
        line = f"line {errors[0][0]}: " if errors else ""
        raise ValueError(f"{line}not a valid option") from None
    return {
        name: {key: value or "" for key, value in parser[name].items()}
        for name in parser.sections()
    }


def split_ini_lines(text: str) -> list[str]:
    """Return the lines of an option that has several."""
    return [line.strip() for line in text.split("\n") if line.strip()]


def iter_code_lines(text: str, comment: str = "#") -> Iterator[str]:
    """Yield the lines that hold more than whitespace and a comment, stripped."""
    for line in (full[:_MAX_LINE_CHARS].strip() for full in text.split("\n")):
        if line and not line.startswith(comment):
            yield line


def find_first(pattern: re.Pattern[str], lines: Iterable[str]) -> str:
    """Return the first group that matched in the first line that begins with it, "" for none."""
    matches = filter(None, map(pattern.match, lines))
    return next((next(filter(None, match.groups()), "") for match in matches), "")


def strip_comments(text: str, comment: str) -> str:
    """Return the text without comments that begin with `comment`, or are between `/*` and `*/`.

    What looks like a comment inside of quotes stays. The pattern takes time in proportion to the
    text.
    """
    blocks = r"|/\*(?s:.*?)(?:\*/|\Z)" if comment == "//" else ""
    pattern = rf"({_QUOTED})|{re.escape(comment)}[^\n]*+{blocks}"
    return re.sub(pattern, lambda match: match[1] or "", text)


def parse_xml(text: str) -> Element:
    """Return the root element, all names without their namespaces.

    A text with a document type is refused: its entities could make a few lines a gigabyte.
    """
    from xml.etree import ElementTree as ET

    doctype = text.find("<!DOCTYPE")
    if doctype >= 0:
        line = text.count("\n", 0, doctype) + 1
        raise ValueError(f"line {line}: XML with a document type is not read")
    try:
        root = ET.fromstring(text.lstrip("\ufeff \t\r\n"))  # noqa: S314 - no entities
    except ET.ParseError as error:
        reason = str(error.msg).partition(":")[0]
        raise ValueError(f"line {error.position[0]}: this is not XML: {reason}") from None
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def get_xml_text(parent: Element | None, path: str) -> str:
    """Return the text of the first element at a path of names, "" if there is none."""
    text = parent.findtext(path) if parent is not None else None
    return " ".join((text or "").split())


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text."""
    if _LONG_KEY.search(text):
        raise ValueError("a key has a hundred or more parts")
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = _POSITION.match(str(error))
        line = f"line {match[2]}: " if match and match[2] else ""
        raise ValueError(f"{line}this is not TOML: {match[1] if match else error}") from None


def parse_json(text: str) -> dict[str, Any]:
    """Return the object in a JSON text; comments and trailing commas are fine."""
    try:
        tree = json.loads(text)
    except json.JSONDecodeError:
        tree = _parse_commented_json(text)
    return as_table(tree)


def _parse_commented_json(text: str) -> Any:
    from cub.config_edit.jsonc import parse_jsonc
    from cub.source_text import SourceText

    try:
        node = parse_jsonc(SourceText(text, ""))
    except CubError as error:
        line = f"line {error.line}: " if error.line else ""
        raise ValueError(f"{line}{error.message}") from None
    return node.to_python() if node else {}


def format_version(value: object) -> str:
    """Return a version as a string, whether it is written as a string or as a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(str(value).split())


def as_table(value: object) -> dict[str, Any]:
    """Return a value if it is a table (an object), else an empty one."""
    return value if isinstance(value, dict) else {}


def get_value_at(tree: object, *keys: str) -> Any:
    """Return the value at the end of these keys; None if one of them is missing."""
    for key in keys:
        tree = as_table(tree).get(key)
    return tree


def get_text_at(tree: object, *keys: str) -> str:
    """Return the string at the end of these keys, "" if there is none."""
    value = get_value_at(tree, *keys)
    return value if isinstance(value, str) else ""


def list_tree_values(tree: object) -> list[tuple[str, str]]:
    """Return the strings and numbers of a tree, each after the path of its keys: `sdk.version`."""
    return list(islice(_iter_tree_values(tree, ()), _MAX_VALUES))


def _iter_tree_values(tree: object, keys: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if not isinstance(tree, dict | list):
        yield ".".join(keys), format_version(tree)
    elif len(keys) < _MAX_LEVELS:
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from _iter_tree_values(value, (*keys, str(key)[:MAX_KEY_CHARS]))


def as_texts(value: object) -> list[str]:
    """Return the strings of a list; of a string, that alone; of anything else, none."""
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
