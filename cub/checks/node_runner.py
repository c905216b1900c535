"""What `node --test` tells people: the list of failing tests at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.checks.items import Item
from cub.checks.tool import Found, Tool

_LIST = "✖ failing tests:"
_PLACE = re.compile(r"test at (.+?):\d+:\d+")
_TEST = re.compile(r"✖ (.+) \([\d.]+ms\)(.*)")


def _parse(lines: Sequence[str]) -> Iterator[Found]:
    inside, path = False, ""
    for number, line in enumerate(lines):
        if line == _LIST:
            inside = True
        elif inside and (place := _PLACE.fullmatch(line)):
            path = place[1]
        elif inside and path and (test := _TEST.fullmatch(line)):
            if not test[2]:  # neither TODO nor SKIP
                yield Found(number, _item(path, test[1], lines[number + 1 : number + 3]))
            path = ""


def _item(path: str, name: str, below: Sequence[str]) -> Item:
    message = below[0].strip() if below else ""
    return (
        Item("error", path, message) if name == path else Item("test", f"{path} > {name}", message)
    )


NODE_TEST = Tool((_LIST,), _parse)
