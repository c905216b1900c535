"""Explain why the string that Edit is to replace is not in a file: what the file has instead."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from cub.text import truncate_text

_READ_AGAIN = "use Read to see the file as it is now"
_MAX_BYTES = 4_000_000  # of a file in which the nearest place is looked for
_MAX_LINES = 2_000  # that are compared by their characters
_MAX_SHOWN = 200
# As Read and Grep show them, and other agents.
_LINE_NUMBER = re.compile(r"^ *(?:[^\s:]+[:-])?L?\d+(?:\t|→|: ?|-| \| )", re.MULTILINE)
_ESCAPE = re.compile(r"\\([nt\"'\\])")
_ESCAPED = {"n": "\n", "t": "\t"}
_UNUSUAL = re.compile("[^\0-\x7f]+")
# Beside these, dashes and characters without a width go by their categories.
_PLAIN = dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4", "'")
_PLAIN |= dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"')
_PLAIN["\u2212"] = "-"
_PLAIN_CATEGORIES = {"Pd": "-", "Cf": ""}


def explain_miss(data: bytes, old: str) -> str:
    """Return a hint for a string that is not in a text; both may have LF or CRLF."""
    if len(data) > _MAX_BYTES or not old.strip():
        return _READ_AGAIN
    text = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    old = old.replace("\r\n", "\n")
    if reason := _find_other_form(text, old):
        return reason
    lines, sought = text.split("\n"), old.strip("\n").split("\n")
    plain, plain_old = _squeeze(text), _squeeze(old).strip("\n")
    at = plain.find(plain_old) if plain_old else -1
    if at < 0:
        return _describe_nearest(lines, sought)
    return _describe_difference(lines, plain.count("\n", 0, at), sought)


def _find_other_form(text: str, old: str) -> str:
    """Return why a string is not in a text that has it in another form; "" if it has not."""
    if (plain := _LINE_NUMBER.sub("", old)) != old and plain in text:
        return "leave out the line numbers that Read and Grep show, and what is around each"
    if old.strip("\n") in text:
        return "the file has no such line break before it or after it: send only the lines"
    if _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), old) in text:
        return "it has backslashes where the file has line breaks, tabs or quotes: send those"
    if old.replace("\n", "\\n") in text:
        return "it has line breaks where the file has a backslash and an n"
    if html.unescape(old) in text:
        return "it has entities such as &lt; where the file has the characters: send those"
    return ""


def _make_plain(text: str) -> str:
    """Return a text with the characters of a keyboard for all that look like them."""
    return _UNUSUAL.sub(lambda match: _make_run_plain(match[0]), text)


@lru_cache(10_000)
def _make_run_plain(text: str) -> str:
    return "".join(map(_make_character_plain, unicodedata.normalize("NFKD", text)))


def _make_character_plain(character: str) -> str:
    plain = _PLAIN_CATEGORIES.get(unicodedata.category(character), character)
    return _PLAIN.get(character, plain)


def _squeeze(text: str) -> str:
    """Return plain lines without any whitespace in them."""
    return "\n".join("".join(line.split()) for line in _make_plain(text).split("\n"))


def _describe_difference(lines: Sequence[str], start: int, sought: Sequence[str]) -> str:
    """Say how the first line that differs does: in characters that look alike, or in whitespace."""
    last = len(sought) - 1
    for at, (line, old) in enumerate(zip(lines[start:], sought, strict=False)):
        ends = at == 0, at == last
        if _fits(line, old, *ends):
            continue
        if _fits(_make_plain(line), _make_plain(old), *ends):
            return _describe_characters(start + at + 1, line, old)
        return f"{_compare(start + at + 1, line, old)}: only the whitespace differs"
    return _READ_AGAIN


def _fits(line: str, old: str, is_first: bool, is_last: bool) -> bool:
    """Return whether a line has what was sent: all of it, but for both ends."""
    if is_first:
        return old in line if is_last else line.endswith(old)
    return line.startswith(old) if is_last else line == old


def _describe_characters(number: int, line: str, old: str) -> str:
    """Name the characters that differ in a line and in what was sent."""
    there, sent = _count_unusual(line), _count_unusual(old)
    there, sent = there - sent, sent - there
    has = _name_characters("".join(there) or _make_plain("".join(sent)))
    was_sent = _name_characters("".join(sent) or _make_plain("".join(there)))
    return f"line {number} has {has} where old_string has {was_sent}"


def _count_unusual(line: str) -> Counter[str]:
    return Counter(character for character in line if _make_plain(character) != character)


def _name_characters(characters: str) -> str:
    """Return code points with their names, each once."""
    named = (f"U+{ord(c):04X} {unicodedata.name(c, '')}".strip() for c in dict.fromkeys(characters))
    return ", ".join(named) or "nothing"


def _compare(number: int, line: str, old: str) -> str:
    return f"line {number} is {_show(line)}, and old_string has {_show(old)}"


def _show(line: str) -> str:
    return repr(truncate_text(line, _MAX_SHOWN))


def _describe_nearest(lines: Sequence[str], sought: Sequence[str]) -> str:
    """Show the first difference at the place that has the most of the lines, or a similar line."""
    from difflib import get_close_matches

    wanted = {line.strip(): at for at, line in enumerate(sought) if len(line.strip()) > 1}
    stripped = [line.strip() for line in lines]
    starts = Counter(at - wanted[line] for at, line in enumerate(stripped) if line in wanted)
    for start, _ in starts.most_common(1):
        for at, old in enumerate(sought, start):
            if not 0 <= at < len(lines):
                edge = "before its first line" if at < 0 else "after its last line"
                return f"the file has nothing {edge}, and old_string has {_show(old)} there"
            if lines[at] != old:
                return f"the nearest place differs: {_compare(at + 1, lines[at], old)}"
    longest = max(sought, key=len).strip()[:_MAX_SHOWN]
    candidates = islice(dict.fromkeys(stripped), _MAX_LINES)
    for similar in get_close_matches(longest, candidates, 1):
        at = stripped.index(similar)
        return f"the nearest line is {at + 1}: {_show(lines[at])}"
    return _READ_AGAIN
