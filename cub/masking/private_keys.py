r"""Mask private keys in blocks (PEM, PGP, PuTTY), whole or cut, whatever precedes their lines.

A block is read line by line, where a line may also end with an escaped `\n`. If BEGIN or END is
missing, the lines next to the other one that can be a key's body are masked.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from cub.masking.value_heuristics import mask_spans

_MARK = re.compile(
    r"-{4,5} ?(?P<which>BEGIN|END) (?:[A-Z0-9]{1,20} ){0,5}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"|(?P<first>\bPrivate-Lines: \d{1,4}\b)|(?P<last>\bPrivate-MAC: [0-9a-f]{40,64})"
    # The rest of a mark that was itself cut, at the very start or end.
    r"|\A(?P<cut_begin>[A-Z ]{0,30}(?:PRIVATE KEY|KEY)(?: BLOCK)? ?-{3,5})(?=[\\\n])"
    r"|(?P<ending>-{4,5}END(?: [A-Z0-9 ]{0,30})?)\Z"
)
_HINTS = ("-----", "---- ", "Private-")
_MAX_KEY_CHARS = 32_768  # characters between BEGIN and END of one key
_LINE_END = re.compile(r"(?:\\+[rn])+|\r?\n|\r")
_HEADER = re.compile(
    r"\W*(?:\d+\W+)?(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID):"
)
# What tools put around a line that they quote: marks, numbers, colors, quotes.
_AROUND = (
    r"(?:\x1b\[[0-9;]*m|[\s>|+*#:.,;\"'`()\[\]\\-]|(?<!\w)E(?=\s)|(?<!\w)\d{1,6}(?=[\s:|.)\]]))"
)
_BEFORE = re.compile(rf"{_AROUND}*+")
_AFTER = re.compile(r"(?:\x1b\[[0-9;]*m|[\s>|*#:.,;\"'`()\[\]\\-])*+\Z")
_BASE64 = re.compile(r"=?[A-Za-z0-9+/]+={0,2}")
_LAST_WORD = re.compile(r"([A-Za-z0-9+/]{40,}={0,2})[\s\"',;|\\]*\Z")
_WORD = re.compile(r"[A-Za-z0-9+/=]{12,}")
_RUN = re.compile(r"[A-Za-z0-9+/=]+")


class _Line(NamedTuple):
    """Hold a line and its kind: "strong" can only be of a key's body, "weak" may be a short one."""

    start: int
    end: int
    text: str
    kind: Literal["strong", "weak", "blank", ""]


class _KeyStart(NamedTuple):
    """Hold where a BEGIN and its body start; `is_certain` if that was in an earlier text."""

    start: int
    body: int
    is_certain: bool = False


def mask_private_keys(text: str, *, is_inside: bool = False) -> tuple[str, bool]:
    """Return a text without its keys, and whether its end is inside a key.

    `is_inside` says that its start is inside a key.
    """
    if not is_inside and not any(hint in text for hint in _HINTS):
        return text, False
    spans, continues = _find_spans(text, is_inside)
    return mask_spans(text, spans), continues


def _find_spans(text: str, is_inside: bool) -> tuple[list[tuple[int, int]], bool]:
    """Return where the keys are, in order, and whether the last one continues after the text."""
    spans = list[tuple[int, int]]()
    opened = _KeyStart(0, 0, is_certain=True) if is_inside else None
    searched = 0  # lines above belong to other keys
    for mark in _MARK.finditer(text):
        begins = bool(mark["first"] or mark["cut_begin"] or mark["which"] == "BEGIN")
        if opened and not begins and _is_pair(text, opened, mark.start()):
            spans.append((opened.start, mark.end()))
        else:
            if opened and (end := _read_down(text, opened, mark.start())[0]):
                spans.append((opened.start, end))
                searched = end
            body_start = None if begins else _read_up(text, searched, mark.start())
            if body_start is not None:
                spans.append((body_start, mark.end()))
        opened = _KeyStart(mark.start(), mark.end()) if begins else None
        searched = mark.end()
    if opened is None:
        return spans, False
    end, is_whole = _read_down(text, opened, len(text))
    return ([*spans, (opened.start, end)] if end else spans), is_whole


def _is_pair(text: str, opened: _KeyStart, end: int) -> bool:
    """Tell whether there is a key between the two marks."""
    if end - opened.body > _MAX_KEY_CHARS:
        return False
    if opened.is_certain:
        return _read_down(text, opened, end)[1]
    return any(_is_body(word) for word in _WORD.findall(text, opened.body, end))


def _read_down(text: str, opened: _KeyStart, end: int) -> tuple[int, bool]:
    """Return where a key's last line ends, 0 for none, and whether all lines are its own."""
    last_end, is_near = 0, opened.is_certain
    for line in _split_lines(text, opened.body, end):
        if line.kind == "strong" or (is_near and line.kind == "weak"):
            last_end, is_near = line.end, True
        elif line.kind == "blank":
            is_near = is_near and not last_end
        elif not _HEADER.match(line.text):
            return last_end, False
    return last_end, True


def _read_up(text: str, start: int, end: int) -> int | None:
    """Return where the lines of a key start that end at `end`; None if there are none."""
    *lines, last = _split_lines(text, start, end)  # anything may precede the mark
    is_strong = last.kind == "strong"
    first = last.start + _find_words_start(last.text) if is_strong else None
    for line in reversed(lines):
        if line.kind in ("strong", "weak"):
            is_strong |= line.kind == "strong"
            first = line.start + _find_words_start(line.text)
        elif line.kind != "blank" and not _HEADER.match(line.text):
            break
    return first if is_strong else None


def _find_words_start(line: str) -> int:
    """Return where a key's words start in a line, after text of a tool or a language."""
    start = len(line)
    for word in reversed([*_RUN.finditer(line)]):
        if start < len(line) and not _is_body(word[0]):
            break
        start = word.start()
    return start


def _split_lines(text: str, start: int, end: int) -> list[_Line]:
    lines = list[_Line]()
    for line_end in _LINE_END.finditer(text, start, end):
        lines.append(_read_line(text, start, line_end.start()))
        start = line_end.end()
    return [*lines, _read_line(text, start, end)]


def _read_line(text: str, start: int, end: int) -> _Line:
    line = text[start:end]
    before = _BEFORE.match(line)
    words = _AFTER.sub("", line[before.end() if before else 0 :]).split()
    last_word = _LAST_WORD.search(line)
    if all(map(_is_body, [last_word[1]] if last_word else words or [""])):
        return _Line(start, end, line, "strong")
    if len(words) == 1 and _BASE64.fullmatch(words[0]):
        return _Line(start, end, line, "weak")
    return _Line(start, end, line, "" if words else "blank")


def _is_body(word: str) -> bool:
    """Tell whether a word is base64, and not a word of a language."""
    if len(word) < 12 or _BASE64.fullmatch(word) is None:
        return False
    kinds = (str.islower, str.isupper, str.isdigit)
    return sum(any(map(kind, word)) for kind in kinds) > 1 and not word.istitle()
