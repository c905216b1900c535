"""Find lines where top-level Markdown blocks begin, without parsing the whole text.

A blank line ends paragraphs, headings, quotes, and most HTML; a line after it that begins at the
margin, without a list marker, ends lists and indented code with all that they contain. Such a
*margin line* is a boundary, unless a fence, a comment, or a raw element of the top level is open.
Each of those begins with an *opener*, and only pieces that contain one are parsed to see where they
end.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from functools import lru_cache
from itertools import chain

from cub.edit.blocks import Block, parse_block_spans, parse_blocks, pause_garbage_collection

# Whatever begins a fence or HTML of the conditions 1 to 5 (CommonMark 4.5, 4.6), and a little more.
_OPENER = re.compile(r"^ {0,3}(?:```|~~~|<(?:[!?]|(?i:pre|script|style|textarea)))", re.MULTILINE)
_MARGIN_LINE = re.compile(r"(?<=\n\n)[^ \t\n*+\-0-9]")
_PROBE = "<!-- end -->\n"
_FIRST_PARSED_CHARS = 4096  # after an opener; later rounds parse more


class BlockBoundaries:
    """Find the boundaries of `text` (LF line endings), from the top as far as they are asked for.

    At each boundary, every block above has ended; the boundaries above a line depend on nothing
    below it. The first line is a boundary, and so is the end of the text.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = array("Q", chain((0,), (m.end() for m in re.finditer("\n", text))))
        # The pieces that the text is cut into so far begin in these lines, those in `_open` with
        # an opener in them, and with this HTML; the last one is still to be cut.
        self._pieces = [0]
        self._open: dict[int, list[Block]] = {}

    def __len__(self) -> int:
        """Return the number of lines of the text."""
        return len(self._starts)

    def find_at_or_above(self, line: int) -> int:
        """Return the last boundary that is not below `line`."""
        piece, end = self._find_piece(line)
        if end == line or piece in self._open:
            return end if end == line else piece
        first, at = self._starts[piece], self._get_offset(line) + 1
        offset = self._find_margin_line(first, at)
        return self.get_line_number(offset) if offset else piece

    def find_at_or_below(self, line: int) -> int:
        """Return the first boundary that is not above `line`."""
        piece, end = self._find_piece(line)
        if piece == line or piece in self._open:
            return line if piece == line else end
        match = _MARGIN_LINE.search(self._text, self._get_offset(line), self._get_offset(end))
        return self.get_line_number(match.start()) if match else end

    def parse_blocks_between(self, start: int, end: int) -> list[Block]:
        """Return the blocks between two boundaries."""
        return [block.shift(start) for block in parse_blocks(self.get_text(start, end))]

    def find_html_blocks(self, line: int) -> tuple[range, list[Block]]:
        """Return the lines of the piece around `line`, and the HTML blocks in it.

        A piece without an opener gives none: no comment begins a line in it.
        """
        piece, end = self._find_piece(line)
        return range(piece, end), self._open.get(piece, [])

    def get_line_number(self, offset: int) -> int:
        """Return the line that contains an offset."""
        return bisect_right(self._starts, offset) - 1

    def get_text(self, start: int, end: int) -> str:
        """Return the text of the lines `start` to `end`, half-open."""
        return self._text[self._get_offset(start) : self._get_offset(end)]

    def _find_piece(self, line: int) -> tuple[int, int]:
        """Return the half-open lines of the piece with `line`, or else of the last one."""
        if self._pieces[-1] <= line:
            with pause_garbage_collection():
                while self._pieces[-1] <= line and self._pieces[-1] < len(self):
                    self._cut_piece()
        number = min(bisect_right(self._pieces, line), len(self._pieces) - 1)
        return self._pieces[number - 1], self._pieces[number]

    def _cut_piece(self) -> None:
        """Cut at the end, or else around the next opener, closely above and behind it."""
        first = self._starts[self._pieces[-1]]
        opener = _OPENER.search(self._text, first)
        if opener is None:
            self._pieces.append(len(self))
            return
        start = self._find_margin_line(first, opener.start() + 1)
        if start:
            self._pieces.append(self.get_line_number(start))
        piece = self._pieces[-1]
        end, spans = self._parse_opened(piece, opener.start())
        html = (span for span in spans if span.kind == "html_block" and span.start < end - piece)
        self._open[piece] = [span.shift(piece) for span in html]
        self._pieces.append(end)

    def _find_margin_line(self, first: int, end: int) -> int:
        """Return the offset of the last margin line between two offsets; 0 for none."""
        while (offset := self._text.rfind("\n\n", first, end)) >= 0:
            if _MARGIN_LINE.match(self._text, offset + 2) and offset + 2 < end:
                return offset + 2
            end = offset + 1
        return 0

    def _parse_opened(self, piece: int, opener: int) -> tuple[int, list[Block]]:
        """Return the first boundary found below an opener, and its piece's blocks above it."""
        # The opener's own line, however long, is always part of what is parsed: it is a block.
        first, begin = self._starts[piece], self._get_offset(self.get_line_number(opener) + 1)
        while True:
            limit = begin + max(_FIRST_PARSED_CHARS, begin - first)
            margin = _MARGIN_LINE.search(self._text, begin, limit)
            if margin:
                limit = margin.start()
                line = self.get_line_number(limit)
                spans = parse_block_spans(self.get_text(piece, line) + _PROBE)
                if spans[-1].start == line - piece:
                    return line, spans
            elif limit >= len(self._text):
                return len(self), parse_block_spans(self.get_text(piece, len(self)))
            else:  # the last block may go on, and everything above it has ended
                spans = parse_block_spans(self.get_text(piece, self.get_line_number(limit)))
                last = piece + spans[-1].start
                if self._starts[last] > opener:
                    return last, spans
            begin = max(limit + 1, 2 * limit - first)  # twice as much, so that all of it is linear

    def _get_offset(self, line: int) -> int:
        return self._starts[line] if line < len(self) else len(self._text)


# One command asks for the boundaries of a text several times.
find_boundaries = lru_cache(maxsize=4)(BlockBoundaries)
