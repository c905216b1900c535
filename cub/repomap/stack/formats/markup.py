"""XML as elements, without what makes XML dangerous."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def xml_tree(text: str) -> Element:
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


def words(parent: Element | None, *names: str) -> str:
    """The text at the end of this path of names, "" if there is none."""
    for name in names:
        parent = parent.find(name) if parent is not None else None
    return " ".join((parent.text or "").split()) if parent is not None else ""


def children(parent: Element, *names: str) -> Iterator[Element]:
    """The elements at the end of this path of names, in all branches, in order."""
    if not names:
        yield parent
        return
    for child in parent.findall(names[0]):
        yield from children(child, *names[1:])
