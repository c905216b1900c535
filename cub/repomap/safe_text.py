"""Text of a repository's made fit for one line of the map, and the fence that holds such lines."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Printable by their category, and yet nothing to see: fillers, joiners, variation selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f"
    "\U000e0100-\U000e01ef]"
)
# As git does; and blanks that would read as the end of the path, and starts that would read as a
# merge conflict.
_QUOTED = re.compile(r'["\\]|^\s|\s$|\s\s|^[<=>|]{7}')
_ESCAPES = {
    "\a": r"\a",
    "\b": r"\b",
    "\t": r"\t",
    "\n": r"\n",
    "\v": r"\v",
    "\f": r"\f",
    "\r": r"\r",
    '"': r"\"",
    "\\": r"\\",
}
_BACKTICKS = re.compile(r"^[^\S\n\r]*(`{3,})", re.MULTILINE)
# Words that a cut text must not end with.
_LOOSE = frozenset({
    "a", "about", "against", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been",
    "between", "but", "by", "can", "could", "each", "for", "from", "has", "have", "how", "if",
    "in", "into", "is", "it", "its", "may", "must", "not", "of", "on", "only", "or", "other",
    "our", "should", "so", "such", "than", "that", "the", "their", "then", "these", "this",
    "those", "to", "used", "using", "via", "was", "we", "were", "what", "when", "where",
    "which", "while", "will", "with", "you", "your",
})  # fmt: skip


def to_one_line(text: str) -> str:
    """`text` with all white space as single blanks, and without what a reader can't see."""
    joined = " ".join(text.split())
    if joined.isascii() and joined.isprintable():
        return joined
    kept = "".join(c for c in joined if c.isprintable() and not _UNSEEN.match(c))
    return " ".join(kept.split())


def quote_path(path: str, *, blanks: bool = True) -> str:
    r"""A path as git shows it: `"a\nb"` for odd characters, or as it is.

    Without `blanks`, a blank is odd too, because the path stands in a row of others.
    """
    odd = not path.isprintable() or _UNSEEN.search(path) or _QUOTED.search(path)
    if not odd and (blanks or " " not in path):
        return path
    return '"' + "".join(map(_escaped, path)) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable() and not _UNSEEN.match(character):
        return character
    how = "surrogateescape" if "\udc80" <= character <= "\udcff" else "surrogatepass"
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", how))


def choose_fence(lines: Iterable[str]) -> str:
    """The shortest fence, of three backticks or more, that no line can close (CommonMark 4.5).

    Lines that merely begin with backticks count as well: not every reader follows the standard.
    """
    runs = (found for line in lines for found in _BACKTICKS.findall(line.replace("\r", "\n")))
    return "`" * max(3, 1 + max(map(len, runs), default=0))


def truncate_text(text: str, limit: int) -> str:
    """`text`, or its start up to the end of a word and `...`, at most `limit` characters."""
    if len(text) <= limit:
        return text
    head = text[: limit - 2]  # room for "..." where a blank was
    words = (head.rpartition(" ")[0] or text[: limit - 3]).split(" ")
    while len(words) > 1 and (words[-1].lower() in _LOOSE or not words[-1].strip("-/&([")):
        words.pop()
    return " ".join(words).rstrip(",.;:([-") + "..."


def round_count(count: int) -> str:
    """A count that few commits change: one digit and zeros, rounded down; "" below ten."""
    digits = str(count)
    return "" if count < 10 else f"{digits[0]}{'0' * (len(digits) - 1)}+"
