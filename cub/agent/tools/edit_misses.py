"""Explain why the string that Edit is to replace is not in a file: what the file has instead."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from cub.text import truncate_text

_READ_AGAIN = "use Read to see the file as it is now"
_MAX_BYTES = 4_000_000  # of a file in which the nearest place is looked for
_MAX_LINES = 2_000  # that are compared by their characters
_MAX_SHOWN = 200
_LINE_NUMBER = re.compile(r"^ *\d+(?:\t|→)", re.MULTILINE)
_ESCAPE = re.compile(r"\\([nt\"'\\])")
_ESCAPED = {"n": "\n", "t": "\t"}
_QUOTES = dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032`\u00b4"), "'")
_QUOTES |= dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"), '"')


class _PlainCharacters(dict[int, str]):
    """Map quotes, dashes, and characters without a width to what a keyboard has."""

    def __missing__(self, code: int) -> str:
        category = unicodedata.category(chr(code))
        self[code] = "-" if category == "Pd" or code == ord("\u2212") else chr(code)
        if category == "Cf":
            self[code] = ""
        return self[code]


_PLAIN = _PlainCharacters(_QUOTES)


def explain_miss(data: bytes, old: str) -> str:
    """Return a hint for a string that is not in a text; both may have LF or CRLF."""
    if len(data) > _MAX_BYTES or not old.strip():
        return _READ_AGAIN
    text = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    old = old.replace("\r\n", "\n")
    if reason := _find_other_form(text, old):
        return reason
    lines, sought = text.split("\n"), old.strip("\n").split("\n")
    for simplify, describe in ((_make_plain, _describe_characters), (_squeeze, _describe_lines)):
        simple, simple_old = simplify(text), simplify(old).strip("\n")
        at = simple.find(simple_old) if simple_old else -1
        if at >= 0:
            return describe(lines, simple.count("\n", 0, at), sought)
    return _describe_nearest(lines, sought)


def _find_other_form(text: str, old: str) -> str:
    """Return why a string is not in a text that has it in another form; "" if it has not."""
    if (plain := _LINE_NUMBER.sub("", old)) != old and plain in text:
        return "leave out the line numbers that Read shows, and the tab after each"
    if _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), old) in text:
        return "it has backslashes where the file has line breaks, tabs or quotes: send those"
    if old.replace("\n", "\\n") in text:
        return "it has line breaks where the file has a backslash and an n"
    if html.unescape(old) in text:
        return "it has entities such as &lt; where the file has the characters: send those"
    return ""


def _make_plain(text: str) -> str:
    """Return a text with the characters of a keyboard for all that look like them."""
    return text if text.isascii() else unicodedata.normalize("NFKD", text).translate(_PLAIN)


def _squeeze(text: str) -> str:
    """Return plain lines without any whitespace in them."""
    return "\n".join("".join(line.split()) for line in _make_plain(text).split("\n"))


def _describe_characters(lines: Sequence[str], start: int, sought: Sequence[str]) -> str:
    """Name the characters of the first line that differ, in the file and as they were sent."""
    for number, (line, old) in enumerate(zip(lines[start:], sought, strict=False), start + 1):
        there, sent = _count_unusual(line), _count_unusual(old)
        there, sent = there - sent, sent - there
        if there or sent:
            has = _name_characters(there or _make_plain("".join(sent)))
            was_sent = _name_characters(sent or _make_plain("".join(there)))
            return f"line {number} has {has} where old_string has {was_sent}"
    return _READ_AGAIN


def _count_unusual(line: str) -> Counter[str]:
    return Counter(character for character in line if _make_plain(character) != character)


def _name_characters(characters: Iterable[str]) -> str:
    """Return code points with their names, each once."""
    named = (f"U+{ord(c):04X} {unicodedata.name(c, '')}".strip() for c in dict.fromkeys(characters))
    return ", ".join(named) or "nothing"


def _describe_lines(lines: Sequence[str], start: int, sought: Sequence[str]) -> str:
    """Show the first line whose whitespace differs."""
    for number, (line, old) in enumerate(zip(lines[start:], sought, strict=False), start + 1):
        if not _fits(line, old, number == start + 1, number == start + len(sought)):
            return f"{_compare(number, line, old)}: only the whitespace differs"
    return _READ_AGAIN


def _fits(line: str, old: str, is_first: bool, is_last: bool) -> bool:
    """Return whether a line has what was sent: all of it, but for both ends."""
    if is_first:
        return old in line if is_last else line.endswith(old)
    return line.startswith(old) if is_last else line == old


def _compare(number: int, line: str, old: str) -> str:
    return f"line {number} is {_show(line)}, and old_string has {_show(old)}"


def _show(line: str) -> str:
    return repr(truncate_text(line, _MAX_SHOWN))


def _describe_nearest(lines: Sequence[str], sought: Sequence[str]) -> str:
    """Show the first difference at the place that has the most of the lines, or a similar line."""
    from difflib import get_close_matches

    places = defaultdict[str, list[int]](list)
    for at, line in enumerate(lines):
        places[line.strip()].append(at)
    known = ((at, line.strip()) for at, line in enumerate(sought) if len(line.strip()) > 1)
    starts = Counter(place - at for at, line in known for place in places.get(line, [])[:100])
    for start, _ in starts.most_common(1):
        for at, old in enumerate(sought):
            line = lines[start + at] if 0 <= start + at < len(lines) else ""
            if line != old:
                return f"the nearest place differs: {_compare(start + at + 1, line, old)}"
    longest = max(sought, key=len).strip()[:_MAX_SHOWN]
    for similar in get_close_matches(longest, [*places][:_MAX_LINES], 1):
        return f"the nearest line is {places[similar][0] + 1}: {_show(lines[places[similar][0]])}"
    return _READ_AGAIN
