"""The lines of manifests that are programs or have a language of their own, without comments.

What runs over such lines are regular expressions that take time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LONGEST = 2000  # characters of a line that anybody reads
# A quote without its end takes the rest of the line: nothing is looked at twice.
_QUOTED = r"""(?:"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?)"""


def code_lines(text: str, comment: str = "#") -> Iterator[str]:
    """The lines that hold more than blanks and a comment from their start, without outer blanks."""
    for line in (whole[:_LONGEST].strip() for whole in text.split("\n")):
        if line and not line.startswith(comment):
            yield line


def without_comments(text: str, comment: str) -> str:
    """The text without comments that begin with `comment`, or are between `/*` and `*/`.

    What looks like one inside of quotes stays.
    """
    blocks = r"|/\*(?s:.*?)(?:\*/|\Z)" if comment == "//" else ""
    pattern = rf"({_QUOTED})|{re.escape(comment)}[^\n]*+{blocks}"
    return re.sub(pattern, lambda found: found[1] or "", text)
