"""Text of tasks, logs and commands as data in a prompt: it can't pass for what cub says.

It forges no heading of cub's, leaves no fence open and closes none, gives no signal to the run
loop, moves no terminal, and holds no secret.
"""

from __future__ import annotations

import re

from cub.checks.terminal_text import take_tail, to_plain_text
from cub.edit.blocks import parse_blocks
from cub.masking import mask_text
from cub.prompt.forged_headings import escape_forged_headings, escape_forged_lines
from cub.prompt.html_tags import escape_line_tags

# At the end of a text, too: what stands behind it in the prompt is another text.
_SIGNAL = re.compile(r"<(?=\s*+/?\s*+(?:(?:promise|stuck)\b|\Z))", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\u2028\u2029]")
_WORD = re.compile(r"\S{1,20}")
_RUN = re.compile(r"`+")
_NEXT_LINE = re.compile(r"\n(?=[^\n])")
_RULE = re.compile(r"\A-(?=[ \t-]*$)", re.MULTILINE)  # behind "- ", that is no item but a rule
_BLANK = re.compile(r"\A(?:[^\S\n]*\n)+")
# What may begin a block that only its own end closes (CommonMark 4.5, 4.6), and these ends.
_OPENING = re.compile(r"^ {0,3}(?:```|~~~|<)", re.MULTILINE)
_FENCE = re.compile(r"`+|~+")
_TAG = re.compile(r"<(\w+).*")
_ENDS = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<!", ">"), ("<?", "?>"))


def embed_prose(text: str) -> str:
    """A text of several lines as a part of the prompt; Markdown in it stays Markdown."""
    return _self_contained(_BLANK.sub("", _lines(text)))


def embed_line(text: object) -> str:
    """A text as one line, which is no heading of cub's wherever it is put, nor if it is cut."""
    words = " ".join(_clean(" ".join(str(text).split())).split())
    return escape_forged_headings(escape_line_tags(_without_signals(words)))


def embed_item(text: object) -> str:
    """A text as an item of a list: further lines are indented, so that they belong to it."""
    # Nothing is changed in it later: what is a block, and what is code, depends on how it begins.
    return _NEXT_LINE.sub("\n  ", _self_contained(_RULE.sub(r"\\-", _lines(str(text)).strip())))


def embed_code(text: object) -> str:
    """One line as code, between as many backticks as it takes (CommonMark 6.1)."""
    plain_line = embed_line(text)
    ticks = "`" * (_longest(plain_line) + 1)
    space = " " if plain_line.startswith("`") or plain_line.endswith("`") else ""
    return f"{ticks}{space}{plain_line}{space}{ticks}"


def embed_output(text: str, most: int) -> str:
    """The end of a command's output in a fence that is longer than any run of backticks in it.

    At most `most` characters in all; "" where that leaves no room.
    """
    # Cut behind the masking: of a secret, no half would be found.
    body = _escape_for_fence(_clean(text)).strip("\n")
    fence = "`" * max(3, _longest(body) + 1)
    room = most - len(f"{fence}text\n\n{fence}")
    body = take_tail(body, room)
    if _escape_for_fence(body) != body:  # cut in a line, of which what is left begins a heading
        body = _escape_for_fence(take_tail(body, room - 1))
    return f"{fence}text\n{body}\n{fence}" if body else ""


def count_words(text: str) -> int:
    """How many words there are; a very long one counts as several."""
    return sum(1 for _ in _WORD.finditer(text))


def truncate_words(text: str, most: int) -> str:
    """About the first `most` words, to the end of a sentence if one is near, without secrets."""
    text = mask_text(text)  # before it is cut: of a secret, no half would be found
    found = [*_WORD.finditer(text)]
    if len(found) <= most:
        return text
    head = text[: found[most - 1].end()]
    ends = [found.end() for found in re.finditer(r"[.!?][\"')\]]*(?=\s|$)", head)]
    near = [end for end in ends if end >= len(head) // 2]
    return f"{head[: near[-1]]} …" if near else f"{head} …"


def _clean(text: str) -> str:
    """Without what moves a terminal, what is secret, and halves of surrogate pairs; LF alone."""
    text = to_plain_text(text.encode("utf-8", "replace").decode())
    return mask_text(_SEPARATOR.sub("\n", text))


def _lines(text: str) -> str:
    # All that ends a line for anybody; a lone carriage return here is no terminal's.
    return _clean("\n".join(text.splitlines())).rstrip()


def _self_contained(text: str) -> str:
    """A text of whole blocks that gives no signal, forges no heading, and ends what it begins."""
    return _close_blocks(escape_forged_headings(_without_signals(text)))


def _without_signals(text: str) -> str:
    return _SIGNAL.sub("&lt;", text)


def _escape_for_fence(text: str) -> str:
    """A text for a fence, in which no HTML counts."""
    return escape_forged_lines(_without_signals(text))


def _close_blocks(text: str) -> str:
    """A text that ends what it begins: no fence or raw HTML swallows what comes next."""
    if not _OPENING.search(text):
        return text
    # Behind a line, as in the prompt: not all HTML can interrupt a paragraph.
    last = parse_blocks(f"x\n{text}\n\nx")[-1]
    if last.kind == "paragraph_open":
        return text
    first = text.split("\n")[last.start - 1].lstrip(" ")
    return f"{text}\n{_end_of(first)}"


def _end_of(first: str) -> str:
    """What closes the block that a line begins."""
    if fence := _FENCE.match(first):
        return fence[0]
    return next((end for start, end in _ENDS if first.startswith(start)), _TAG.sub(r"</\1>", first))


def _longest(text: str) -> int:
    return max((len(run[0]) for run in _RUN.finditer(text)), default=0)
