"""INI files as Python's tools write them: setup.cfg, tox.ini and the like.

The lines of manifests that are programs or have a language of their own, without comments.

What runs over such lines are regular expressions that take time in proportion to the text.

XML as elements, without what makes XML dangerous.

TOML and JSON as trees, and careful ways to take something out of them.

Whatever is wrong with a text is a ValueError that begins with its line, if that is known.

What manifests are written in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cub.errors import CubError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def parse_ini(text: str) -> dict[str, dict[str, str]]:
    """The sections of a text with their options; ValueError for a text that is no INI file."""
    import configparser

    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, default_section="")
    try:
        parser.read_string(text)
    except configparser.MissingSectionHeaderError as error:
        raise ValueError(f"line {error.lineno}: this stands in no section") from None
    except configparser.ParsingError as error:
        line = f"line {error.errors[0][0]}: " if error.errors else ""
        raise ValueError(f"{line}this is no option") from None
    except AttributeError:  # configparser's own, for a value below an option without one
        raise ValueError("this is not an INI file") from None
    except configparser.Error as error:
        raise ValueError(f"this is not an INI file: {error.message}") from None
    return {
        name: {key: value or "" for key, value in parser[name].items()}
        for name in parser.sections()
    }


def split_ini_lines(text: str) -> list[str]:
    """The lines of an option that has several."""
    return [line.strip() for line in text.split("\n") if line.strip()]


_LONGEST = 2000  # characters of a line that anybody reads
# A quote without its end takes the rest of the line: nothing is looked at twice.
_QUOTED = r"""(?:"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?)"""


def iter_code_lines(text: str, comment: str = "#") -> Iterator[str]:
    """The lines that hold more than blanks and a comment from their start, without outer blanks."""
    for line in (whole[:_LONGEST].strip() for whole in text.split("\n")):
        if line and not line.startswith(comment):
            yield line


def strip_comments(text: str, comment: str) -> str:
    """The text without comments that begin with `comment`, or are between `/*` and `*/`.

    What looks like one inside of quotes stays.
    """
    blocks = r"|/\*(?s:.*?)(?:\*/|\Z)" if comment == "//" else ""
    pattern = rf"({_QUOTED})|{re.escape(comment)}[^\n]*+{blocks}"
    return re.sub(pattern, lambda found: found[1] or "", text)


def parse_xml(text: str) -> Element:
    """The root element, all names without their namespaces.

    A text with a document type is refused: its entities could make a few lines a gigabyte.
    """
    from xml.etree import ElementTree as ET

    at = text.find("<!DOCTYPE")
    if at >= 0:
        line = text.count("\n", 0, at) + 1
        raise ValueError(f"line {line}: XML with a document type is not read")
    try:
        root = ET.fromstring(text.lstrip("\ufeff \t\r\n"))  # noqa: S314 - no entities
    except ET.ParseError as error:
        words = str(error.msg).partition(":")[0]
        raise ValueError(f"line {error.position[0]}: this is not XML: {words}") from None
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def get_xml_text(parent: Element | None, *names: str) -> str:
    """The text at the end of this path of names, "" if there is none."""
    for name in names:
        parent = parent.find(name) if parent is not None else None
    return " ".join((parent.text or "").split()) if parent is not None else ""


def iter_xml_children(parent: Element, *names: str) -> Iterator[Element]:
    """The elements at the end of this path of names, in all branches, in order."""
    if not names:
        yield parent
        return
    for child in parent.findall(names[0]):
        yield from iter_xml_children(child, *names[1:])


# tomllib takes time in the square of a key's parts; nobody writes one of a hundred.
_LONG_KEY = re.compile(r"""(?<![\w.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}""")
_PLACE = re.compile(r"^(.*) \(at (?:line (\d+), column \d+|end of document)\)$", re.DOTALL)


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    if _LONG_KEY.search(text):
        raise ValueError("this is not TOML that anybody wrote: a key of a hundred parts")
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.match(str(error))
        line = f"line {found[2]}: " if found and found[2] else ""
        raise ValueError(f"{line}this is not TOML: {found[1] if found else error}") from None


def parse_json(text: str) -> dict[str, Any]:
    """The object in a JSON text; comments and last commas are fine, as in tsconfig.json."""
    try:
        tree = json.loads(text)
    except json.JSONDecodeError:
        tree = _commented(text)
    return as_table(tree)


def _commented(text: str) -> Any:
    from cub.config_edit.jsonc import parse_jsonc
    from cub.config_edit.nodes import SourceText

    try:
        node = parse_jsonc(SourceText(text, ""))
    except CubError as error:
        line = f"line {error.line}: " if error.line else ""
        raise ValueError(f"{line}{error.message}") from None
    return node.to_python() if node else {}


def as_table(value: object) -> dict[str, Any]:
    """A value if it is a table (an object), else an empty one."""
    return value if isinstance(value, dict) else {}


def get_value_at(tree: object, *keys: str) -> Any:
    """What stands at the end of these keys; None if one of them is missing."""
    for key in keys:
        tree = as_table(tree).get(key)
    return tree


def get_text_at(tree: object, *keys: str) -> str:
    """The text at the end of these keys, "" if there is none."""
    value = get_value_at(tree, *keys)
    return value if isinstance(value, str) else ""


def as_texts(value: object) -> list[str]:
    """The texts of a list; of one text, that alone; of anything else, none."""
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
