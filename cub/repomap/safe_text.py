"""Make text from a repository safe for one line of the map, and choose the fence around them."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Printable by their category, but invisible: fillers, joiners, variation selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f"
    "\U000e0100-\U000e01ef]"
)
# As git does; and spaces that look like the end of the path, and starts that look like a merge
# conflict.
_QUOTED = re.compile(r'["\\]|^\s|\s$|\s\s|^[<=>|]{7}')
_ESCAPES = {
    "\a": r"\a", "\b": r"\b", "\t": r"\t", "\n": r"\n", "\v": r"\v", "\f": r"\f", "\r": r"\r",
    '"': r"\"", "\\": r"\\",
}  # fmt: skip
_BACKTICKS = re.compile(r"^[^\S\n\r]*(`{3,})", re.MULTILINE)
_SENTENCE_MARK = re.compile(
    "[.!?\u061f\u06d4]++[\"')\\]\u00bb\u201d\u2019]*+(?=\\s+[^\\w\\s]{0,3}(\\S))"
    "|[\u3002\uff01\uff1f\u0964]"
)
_ABBREVIATED = re.compile(
    r"(?i)(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|inc|dr|mr|ms|no|st|[a-z])\.\W?$"
)
_WORD_WITH_STOP = re.compile(r"[^\W\d_]{4}\.\W?$")
_MAX_ABBREVIATION_CHARS = 8
# A cut text must not end with these words.
_LOOSE_WORDS = frozenset({
    "a", "about", "against", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been",
    "between", "but", "by", "can", "could", "each", "for", "from", "has", "have", "how", "if",
    "in", "into", "is", "it", "its", "may", "must", "not", "of", "on", "only", "or", "other",
    "our", "should", "so", "such", "than", "that", "the", "their", "then", "these", "this",
    "those", "to", "used", "using", "via", "was", "we", "were", "what", "when", "where",
    "which", "while", "will", "with", "you", "your",
})  # fmt: skip


def to_one_line(text: str) -> str:
    """Return `text` with all whitespace as single spaces, and without invisible characters."""
    joined = " ".join(text.split())
    if joined.isascii() and joined.isprintable():
        return joined
    visible = "".join(c for c in joined if c.isprintable() and not _UNSEEN.match(c))
    return " ".join(visible.split())


def quote_path(path: str, *, blanks: bool = True) -> str:
    r"""Return a path as git shows it: `"a\nb"` for odd characters, or unchanged.

    Without `blanks`, a space is odd too, because the path is in a row of others.
    """
    is_odd = not path.isprintable() or _UNSEEN.search(path) or _QUOTED.search(path)
    if not is_odd and (blanks or " " not in path):
        return path
    return '"' + "".join(map(_escape, path)) + '"'


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable() and not _UNSEEN.match(character):
        return character
    how = "surrogateescape" if "\udc80" <= character <= "\udcff" else "surrogatepass"
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", how))


def choose_fence(lines: Iterable[str]) -> str:
    """Return the shortest fence of three or more backticks that no line can close (CommonMark 4.5).

    Lines that merely start with backticks count as well: not every reader follows the standard.
    """
    runs = (run for line in lines for run in _BACKTICKS.findall(line.replace("\r", "\n")))
    return "`" * max(3, 1 + max(map(len, runs), default=0))


def find_sentence_ends(text: str) -> list[int]:
    """Return where the sentences of a line end if another one follows.

    A small letter starts one (`npm is a …`) only after a full stop and a word of some length.
    """
    ends = []
    for mark in _SENTENCE_MARK.finditer(text):
        where = max(0, mark.start() - _MAX_ABBREVIATION_CHARS), mark.end()
        is_small = (mark[1] or "").islower()
        if not _ABBREVIATED.search(text, *where) and (
            not is_small or _WORD_WITH_STOP.search(text, *where)
        ):
            ends.append(mark.end())
    return ends


def truncate_text(text: str, limit: int) -> str:
    """Return `text`, or its start in `limit` characters: whole sentences, or else words and `…`."""
    if len(text) <= limit:
        return text
    if ends := [end for end in find_sentence_ends(text) if end <= limit]:
        return text[: ends[-1]]
    head = text[:limit]  # "…" replaces a space
    words = (head.rpartition(" ")[0] or text[: limit - 1]).split(" ")
    while len(words) > 1 and (words[-1].lower() in _LOOSE_WORDS or not words[-1].strip("-/&([")):
        words.pop()
    return " ".join(words).rstrip(",.;:([-") + "…"


def round_count(count: int) -> str:
    """Return a count that few commits change, rounded down to one digit: `80+`; "" below ten."""
    digits = str(count)
    return "" if count < 10 else f"{digits[0]}{'0' * (len(digits) - 1)}+"
