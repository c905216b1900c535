"""cub's own colors in a text, as marks that nobody else's text can hold; all else is made harmless.

A mark is a style of a terminal behind a number that is drawn anew for each process. So a title,
a file name or an error of git's may be put into a styled line as it is: what of it is no mark of
this process is written out by `harmless`, and only marks become escape sequences, by `colored`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Literal

from cub.cli.visible import visible

Color = Literal["red", "green", "yellow", "cyan"]

_CODES = {"red": 31, "green": 32, "yellow": 33, "cyan": 36}
_BOLD, _DIM, _RESET = 1, 2, 0
_START = f"\x1b{os.urandom(16).hex()}"
_MARK = re.compile(rf"{_START}(\[\d+m)")


def style(
    text: str, fg: Color | None = None, *, bold: bool | None = None, dim: bool | None = None
) -> str:
    """A text between marks; as it is where no style is asked for."""
    wanted = (_CODES[fg] if fg else None, _BOLD if bold else None, _DIM if dim else None)
    marks = "".join(_mark(code) for code in wanted if code is not None)
    return f"{marks}{text}{_mark(_RESET)}" if marks else text


def harmless(text: str) -> str:
    """One line as a person may see it: everything but its marks is made visible."""
    if _START not in text:
        return visible(text)
    return "".join(_START + part if is_code else visible(part) for part, is_code in _parts(text))


def colored(text: str, *, wanted: bool) -> str:
    """One line for a terminal: harmless, its marks as colors, or without them."""
    if _START not in text:
        return visible(text)
    return "".join(
        ("\x1b" + part) * wanted if is_code else visible(part) for part, is_code in _parts(text)
    )


def unmarked(text: str) -> str:
    """A text without its marks."""
    return _MARK.sub("", text) if _START in text else text


def _parts(text: str) -> Iterable[tuple[str, bool]]:
    """The parts of a text, and of each whether it is the code of a mark."""
    return ((part, number % 2 == 1) for number, part in enumerate(_MARK.split(text)))


def _mark(code: int) -> str:
    return f"{_START}[{code}m"
