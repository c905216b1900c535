r"""Private keys in blocks (PEM, PGP, PuTTY), whole or cut, whatever stands before their lines.

A block is read line by line, where a line may also end with an escaped `\n`: what is between BEGIN
and END, and where one of them is missing, the lines beside the other that are a key's body.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cub.masking.value_heuristics import MASK

_MARK = re.compile(
    r"-{4,5} ?(?P<which>BEGIN|END) (?:[A-Z0-9]{1,20} ){0,5}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"|(?P<first>\bPrivate-Lines: \d{1,4}\b)|(?P<last>\bPrivate-MAC: [0-9a-f]{40,64})"
    # Of a mark that was cut itself, what is left of it at the very start or end.
    r"|\A(?P<begun>[A-Z ]{0,30}(?:PRIVATE KEY|KEY)(?: BLOCK)? ?-{3,5})(?=[\\\n])"
    r"|(?P<ending>-{4,5}END(?: [A-Z0-9 ]{0,30})?)\Z"
)
_HINTS = ("-----", "---- ", "Private-")
_FARTHEST = 32_768  # characters between BEGIN and END of one key
_LINE_END = re.compile(r"(?:\\+[rn])+|\r?\n|\r")
_HEADER = re.compile(
    r"\W*(?:\d+\W+)?(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID):"
)
# What tools put around a line that they quote: marks, numbers, colours, quotes.
_AROUND = (
    r"(?:\x1b\[[0-9;]*m|[\s>|+*#:.,;\"'`()\[\]\\-]|(?<!\w)E(?=\s)|(?<!\w)\d{1,6}(?=[\s:|.)\]]))"
)
_BEFORE = re.compile(rf"{_AROUND}*+")
_BEHIND = re.compile(r"(?:\x1b\[[0-9;]*m|[\s>|*#:.,;\"'`()\[\]\\-])*+\Z")
_BASE64 = re.compile(r"=?[A-Za-z0-9+/]+={0,2}")
_LAST_WORD = re.compile(r"([A-Za-z0-9+/]{40,}={0,2})[\s\"',;|\\]*\Z")
_WORD = re.compile(r"[A-Za-z0-9+/=]{12,}")
_RUN = re.compile(r"[A-Za-z0-9+/=]+")


class _Line(NamedTuple):
    start: int
    end: int
    text: str


class _KeyStart(NamedTuple):
    """A BEGIN, where its body begins, and whether a body was seen in front of this text."""

    start: int
    body: int
    sure: bool = False


class _Body(NamedTuple):
    """Where a key's last line ends, 0 for none; `whole`: all lines that were read are its own."""

    end: int
    whole: bool


def mask_private_keys(text: str, *, inside: bool = False) -> tuple[str, bool]:
    """A text without its keys, and whether a key goes on where it ends.

    `inside`: the text goes on with a key.
    """
    if not inside and not any(hint in text for hint in _HINTS):
        return text, False
    spans, goes_on = _find_spans(text, inside)
    made, done = list[str](), 0
    for start, end in spans:
        made += [text[done:start], MASK]
        done = end
    return "".join([*made, text[done:]]), goes_on


def _find_spans(text: str, inside: bool) -> tuple[list[tuple[int, int]], bool]:
    """The keys, from the first to the last, and whether the last one goes on behind the text."""
    spans = list[tuple[int, int]]()
    opened = _KeyStart(0, 0, sure=True) if inside else None
    done = 0  # what is before belongs to no other key
    for mark in _MARK.finditer(text):
        begins = bool(mark["first"] or mark["begun"] or mark["which"] == "BEGIN")
        if opened and not begins and _is_pair(text, opened, mark.start()):
            spans.append((opened.start, mark.end()))
        else:
            if opened and (end := _read_down(text, opened, mark.start()).end):
                spans.append((opened.start, end))
                done = end
            body = None if begins else _read_up(text, done, mark.start())
            if body is not None:
                spans.append((body, mark.end()))
        opened = _KeyStart(mark.start(), mark.end()) if begins else None
        done = mark.end()
    if opened is None:
        return spans, False
    found = _read_down(text, opened, len(text))
    return ([*spans, (opened.start, found.end)] if found.end else spans), found.whole


def _is_pair(text: str, opened: _KeyStart, end: int) -> bool:
    """Whether a key stands between the two marks, and not only talk of one."""
    if end - opened.body > _FARTHEST:
        return False
    if opened.sure:
        return _read_down(text, opened, end).whole
    return any(_is_body(word) for word in _WORD.findall(text, opened.body, end))


def _read_down(text: str, opened: _KeyStart, end: int) -> _Body:
    """The lines of a key behind its BEGIN, as far as there are any."""
    found, near = 0, opened.sure
    for line in _lines(text, opened.body, end):
        if _is_strong(line.text) or (near and _is_weak(line.text)):
            found, near = line.end, True
        elif _is_blank(line.text):
            near = near and not found
        elif not _HEADER.match(line.text):
            return _Body(found, whole=False)
    return _Body(found, whole=True)


def _read_up(text: str, start: int, end: int) -> int | None:
    """Where the lines of a key begin that end at `end`; None for none."""
    *lines, own = _lines(text, start, end)  # in front of the mark there may be anything
    found = own.start + _start_of_words(own.text) if _is_strong(own.text) else None
    is_strong = found is not None
    for line in reversed(lines):
        strong = _is_strong(line.text)
        if strong or _is_weak(line.text):
            is_strong |= strong
            found = line.start + _start_of_words(line.text)
        elif not _is_blank(line.text) and not _HEADER.match(line.text):
            break
    return found if is_strong else None


def _start_of_words(line: str) -> int:
    """Where a key's words begin in a line of it, behind what a tool or a language wrote there."""
    start = len(line)
    for word in reversed([*_RUN.finditer(line)]):
        if start < len(line) and not _is_body(word[0]):
            break
        start = word.start()
    return start


def _lines(text: str, start: int, end: int) -> list[_Line]:
    made = list[_Line]()
    for found in _LINE_END.finditer(text, start, end):
        made.append(_Line(start, found.start(), text[start : found.start()]))
        start = found.end()
    return [*made, _Line(start, end, text[start:end])]


def _words(line: str) -> list[str]:
    """The words of a line without what a tool put around them."""
    before = _BEFORE.match(line)
    return _BEHIND.sub("", line[before.end() if before else 0 :]).split()


def _is_blank(line: str) -> bool:
    return not _words(line)


def _is_strong(line: str) -> bool:
    """Whether a line can only be one of a key's body, beside one of its marks."""
    if found := _LAST_WORD.search(line):
        return _is_body(found[1])
    words = _words(line)
    return bool(words) and all(_is_body(word) for word in words)


def _is_weak(line: str) -> bool:
    """Whether it may be the first or the last one of a body, cut or short."""
    words = _words(line)
    return len(words) == 1 and _BASE64.fullmatch(words[0]) is not None


def _is_body(word: str) -> bool:
    """Whether a word is of base64, and no word of a language."""
    if len(word) < 12 or _BASE64.fullmatch(word) is None:
        return False
    kinds = (str.islower, str.isupper, str.isdigit)
    return sum(any(map(kind, word)) for kind in kinds) > 1 and not word.istitle()
