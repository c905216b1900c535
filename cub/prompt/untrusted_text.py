"""Embed text of others in a prompt as data: it can't pass for what cub says.

The text contains no heading, no signal to the run loop, no terminal escape and no secret, and it
ends each block that it begins.
"""

from __future__ import annotations

import re

from cub.checks.terminal_text import take_tail, to_plain_text
from cub.edit.blocks import parse_blocks, parse_leaf_blocks
from cub.masking import mask_text

# Also at the end of a text: another one follows it in the prompt.
_SIGNAL = re.compile(r"<(?=\s*+/?\s*+(?:(?:promise|stuck)\b|\Z))", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\u2028\u2029]")
_WORD = re.compile(r"\S{1,20}")
_BACKTICKS = re.compile(r"`+")
_NEXT_LINE = re.compile(r"\n(?=[^\n])")
_RULE = re.compile(r"\A-(?=[ \t-]*$)", re.MULTILINE)  # after "- ", a thematic break, not an item
_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")
# The marks of ATX and setext headings (CommonMark 4.2, 4.3), also in lists and quotes. Some
# renderers want no space after a `#`. The quantifiers are possessive: a line is read once.
_MARKERS = r"(?:[^\S\n]|[>*+-]|\d{1,9}[.)])*+"
_HEADING_MARK = re.compile(rf"{_MARKERS}(?=#)")
_UNDERLINE = re.compile(r"[\s>]*+(?=(?:=++|-++)\s*+\Z)")
_BLANK = re.compile(r"[ \t>]*+\Z")
_HEADING_TAG = re.compile(r"<(?=h[1-6]\b)", re.IGNORECASE)
# Not as a part of a tag: an open quote in another text may turn this one into attributes.
_HEADING_ROLE = re.compile(r"(\brole[\s>]*+)=(?=[\s>\"']*+[h&])", re.IGNORECASE)
_HTML_START = re.compile(rf"\A({_MARKERS})<(?=[a-z/!?])", re.IGNORECASE)
# What may begin a block that only its own end closes (CommonMark 4.5, 4.6), and these ends.
_OPENING = re.compile(r"^ {0,3}(?:```|~~~|<)", re.MULTILINE)
_FENCE = re.compile(r"`+|~+")
_TAG = re.compile(r"<(\w+).*")
_ENDS = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<!", ">"), ("<?", "?>"))


def embed_prose(text: str) -> str:
    """Return a text of several lines as a part of the prompt; its Markdown stays Markdown."""
    return _embed_blocks(_BLANK_LINES.sub("", _clean_lines(text)))


def embed_line(text: object) -> str:
    """Return a text as one line, which begins no heading or HTML wherever it is put or cut."""
    return _HTML_START.sub(r"\1&lt;", _escape_headings(join_words(text)))


def embed_item(text: object) -> str:
    """Return a text as an item of a list, with further lines indented so they belong to it."""
    blocks = _embed_blocks(_RULE.sub(r"\\-", _clean_lines(str(text)).strip()))
    # Once more as the item: a tab is as wide as its column is, which may end a fence earlier.
    return _escape_outside_fences(_NEXT_LINE.sub("\n  ", blocks), "- ")


def embed_code(text: object) -> str:
    """Return a text as code in one line, between as many backticks as needed (CommonMark 6.1)."""
    line = _escape_tags(join_words(text))
    ticks = "`" * (_count_backticks(line) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def embed_output(text: str, max_chars: int) -> str:
    """Return the end of a command's output in a fence that no run of backticks in it closes.

    In a fence, headings and tags are data and stay. The result has at most `max_chars` characters;
    "" if nothing fits.
    """
    # Mask before cutting: no pattern finds half a secret.
    body = _escape_signals(_clean(text)).strip("\n")
    fence = "`" * max(3, _count_backticks(body) + 1)
    body = take_tail(body, max_chars - len(f"{fence}text\n\n{fence}"))
    return f"{fence}text\n{body}\n{fence}" if body else ""


def join_words(text: object) -> str:
    """Return a text as one line, clean and without signals, which may still be a heading."""
    return _escape_signals(" ".join(_clean(" ".join(str(text).split())).split()))


def count_words(text: str) -> int:
    """Return the number of words; a very long one counts as several."""
    return sum(1 for _ in _WORD.finditer(text))


def truncate_words(text: str, max_words: int) -> str:
    """Return about the first `max_words` words, to the end of a sentence if near, masked."""
    text = mask_text(text)  # before cutting: no pattern finds half a secret
    words = [*_WORD.finditer(text)]
    if len(words) <= max_words:
        return text
    head = text[: words[max_words - 1].end()]
    ends = [end.end() for end in re.finditer(r"[.!?][\"')\]]*(?=\s|$)", head)]
    near = [end for end in ends if end >= len(head) // 2]
    return f"{head[: near[-1]]} …" if near else f"{head} …"


def _clean(text: str) -> str:
    """Return a text with LF alone, masked, without terminal escapes and lone surrogates."""
    text = to_plain_text(text.encode("utf-8", "replace").decode())
    return mask_text(_SEPARATOR.sub("\n", text))


def _clean_lines(text: str) -> str:
    # All that ends a line for any reader; a lone carriage return here is not a terminal's.
    return _clean("\n".join(text.splitlines())).rstrip()


def _embed_blocks(text: str) -> str:
    # In the prompt, a line of cub's precedes each text of blocks, or none does in an item.
    return _close_blocks(_escape_outside_fences(_escape_signals(text), "x\n", ""))


def _escape_signals(text: str) -> str:
    return _SIGNAL.sub("&lt;", text)


def _escape_outside_fences(text: str, *beginnings: str) -> str:
    """Escape what could read as a heading, except in lines that are in a fence of this text.

    `beginnings` is what may precede the text; a fence has to be one after each of them.
    """
    escaped = _escape_headings(text)
    if escaped == text or not ("```" in text or "~~~" in text):
        return escaped
    # Which lines are in fences is read from the escaped text, as nothing else changes blocks.
    lines = escaped.split("\n")
    fenced = set.intersection(*(_find_fenced_lines(escaped, before) for before in beginnings))
    for number, line in enumerate(text.split("\n")):
        if number in fenced:
            lines[number] = line
    return "\n".join(lines)


def _find_fenced_lines(text: str, before: str) -> set[int]:
    above = before.count("\n")
    fences = (leaf for leaf in parse_leaf_blocks(before + text) if leaf.kind == "fence")
    return {line - above for fence in fences for line in range(fence.start, fence.end)}


def _escape_tags(text: str) -> str:
    return _HEADING_ROLE.sub(r"\1&#61;", _HEADING_TAG.sub("&lt;", text))


def _escape_headings(text: str) -> str:
    """Escape each line that could be a heading, or underline one, and each tag of a heading."""
    lines: list[str] = []
    above = "x"  # a line of cub's
    for line in _escape_tags(text).split("\n"):
        mark = _HEADING_MARK.match(line)
        if mark is None and not _BLANK.match(above):
            mark = _UNDERLINE.match(line)
        lines.append(f"{mark[0]}\\{line[mark.end() :]}" if mark else line)
        above = line
    return "\n".join(lines)


def _close_blocks(text: str) -> str:
    """Return a text that ends what it begins: no fence or raw HTML swallows what follows."""
    if not _OPENING.search(text):
        return text
    # After a line, as in the prompt: not all HTML can interrupt a paragraph.
    last = parse_blocks(f"x\n{text}\n\nx")[-1]
    if last.kind == "paragraph_open":
        return text
    opening = text.split("\n")[last.start - 1].lstrip(" ")
    return f"{text}\n{_close(opening)}"


def _close(opening: str) -> str:
    """Return the line that closes the block which the line `opening` begins."""
    if fence := _FENCE.match(opening):
        return fence[0]
    ends = (end for start, end in _ENDS if opening.startswith(start))
    return next(ends, _TAG.sub(r"</\1>", opening))


def _count_backticks(text: str) -> int:
    """Return the length of the longest run of backticks."""
    return max((len(run[0]) for run in _BACKTICKS.finditer(text)), default=0)
