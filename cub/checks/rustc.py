"""What rustc and Clippy tell, in the long form: an error, and below it the place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from cub.checks.items import Item
from cub.checks.tool import Found, Tool

_ERROR = re.compile(r"error(?:\[(E\d+)\])?: (.+)")
_PLACE = re.compile(r" *--> (\S.*:\d+:\d+)")
_LINKING = re.compile(r"linking with `.+` failed: .+")
_SYMBOL = re.compile(r"(?:undefined (?:symbol|reference)|multiple definition).*")
_CLIPPY = re.compile(r"`-D clippy::|deny\(clippy::")
_NEAR = 4  # lines: a message may have several
_LONGEST = 60  # lines of one error that are looked at


def _parse(lines: Sequence[str]) -> Iterator[Found]:
    for number, line in enumerate(lines):
        if error := _ERROR.fullmatch(line):
            code, message = error.groups()
            if item := _item(message, lines[number + 1 : number + 1 + _LONGEST]):
                told = f"{item.message} [{code}]" if code else item.message
                yield Found(number, item._replace(message=told))


def _item(message: str, below: Sequence[str]) -> Item | None:
    """The error; None where neither place nor symbol follows: others begin lines like that, too."""
    if _LINKING.fullmatch(message):
        below = list(takewhile(str.strip, below))
        symbols = (symbol[0] for line in below if (symbol := _SYMBOL.search(line)))
        return Item("build", "linker", next(symbols, message))
    near = takewhile(str.strip, below[:_NEAR])
    place = next((place[1] for line in near if (place := _PLACE.fullmatch(line))), "")
    if not place:
        return None
    is_lint = any(map(_CLIPPY.search, takewhile(str.strip, below)))
    return Item("lint" if is_lint else "build", place, message)


RUSTC = Tool(("error: ", "error[E"), _parse)
