"""Reading an HTML block line by line: whether it is inside a comment or a raw text element."""

from __future__ import annotations

import re

_TOKEN = re.compile(rb"<!--|-->|<(/?)(?:pre|script|style|textarea)\b", re.IGNORECASE)


class RawHtml:
    """The state behind the lines that were fed so far, of one CommonMark HTML block (spec 4.6)."""

    def __init__(self) -> None:
        self._first = True
        self._instruction = False
        self._comment = False
        self._raw = 0

    @property
    def open(self) -> bool:
        """Whether what follows is text of something that began earlier in the block."""
        return self._instruction or self._comment or self._raw > 0

    def feed(self, line: bytes) -> None:
        """Go on by one line."""
        if self._first:
            start = line.lstrip(b" ")
            self._instruction = start.startswith((b"<?", b"<!")) and not start.startswith(b"<!--")
            self._first = False
        for token in _TOKEN.finditer(line):
            if self._comment:
                self._comment = token[0] != b"-->"
            elif token[0] == b"<!--":
                self._comment = True
            elif token[0] != b"-->":
                self._raw += -1 if token[1] else 1
