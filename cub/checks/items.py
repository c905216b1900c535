"""What a failing item is, and how long its words may be."""

from __future__ import annotations

from typing import NamedTuple

LONGEST = 300  # characters of a message; more is no message but a log
_LONGEST_NAME = 500


class Item(NamedTuple):
    """A failing item: one failed test, one error of a compiler, one finding of a linter.

    `kind` is "test", "error" (what could not be run: collection, import, crash), "build" (of a
    compiler or linker), "type" or "lint". `where` is the stable name: a test's id, or
    `file:line:column`. `message` is one line with the rule's code; "" if the tool tells none.
    """

    kind: str
    where: str
    message: str


def neat(item: Item) -> Item:
    """The item with names and messages on one line, and no longer than anybody reads."""
    return Item(item.kind, _cut(item.where, _LONGEST_NAME), _cut(item.message, LONGEST))


def _cut(text: str, most: int) -> str:
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1] + "…"
