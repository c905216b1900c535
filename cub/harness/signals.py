"""What a client's final message tells the loop: signals, the closing lines, a question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cub.checks.plain import plain
from cub.harness.markdown import prose
from cub.harness.questions import question
from cub.harness.trailer import Block, last_block, trailer_of

NO_REASON = "no reason given"
_MOST_STUCK = 500  # characters
_MOST_WORDS = 200
_TAG = re.compile(
    r"(?P<begins>^ {0,3}(?:\*\*|__)?)?<(?P<end>/?)(?P<name>stuck|promise)>"
    r"(?P<ends>(?:\*\*|__)?[ \t\r]*$)?",
    re.IGNORECASE | re.MULTILINE,
)


class Signals(NamedTuple):
    """The signals, what the closing lines say, and the question that the message ends with.

    `stuck` is None without the signal, "" where it tells no reason. `status` is done, no_change,
    stuck or empty.
    """

    promise: bool
    stuck: str | None
    status: str
    summary: str
    tried: tuple[str, ...]
    next: str
    question: str


class _Signal(NamedTuple):
    """A pair of tags on lines of its own: its half-open span, and that of what it says."""

    name: str
    start: int
    end: int
    inner: slice


def signals(final: str) -> Signals:
    """Read a final message; a signal in code, in a quote or within a line counts for nothing."""
    shown = prose(final)
    found = list(_pairs(shown))
    said = {one.name: " ".join(final[one.inner].split()) for one in found}
    stuck = said.get("stuck")
    block = last_block(final)
    trailer = trailer_of(block)
    return Signals(
        said.get("promise", "").upper() == "COMPLETE",
        stuck[:_MOST_STUCK] if stuck is not None else None,
        *trailer,
        question(_without(shown, shown, found, block)),
    )


def last_words(final: str) -> str:
    """What a final message says in the end, in one line: the summary of its closing lines, or else
    its last paragraph, of which a long one is cut; "" if it says nothing.
    """
    final = plain(final)
    block = last_block(final)
    if summary := trailer_of(block).summary:
        return _cut(summary)
    shown = prose(final)
    said = list[str]()
    for line in reversed(_without(final, shown, list(_pairs(shown)), block).split("\n")):
        words = " ".join(line.split())
        if words and not words.startswith(("```", "~~~")):
            said.insert(0, words)
        if said and (not words or sum(map(len, said)) > _MOST_WORDS):
            break
    return _cut(" ".join(said if sum(map(len, said)) <= _MOST_WORDS else said[1:] or said))


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_WORDS else f"{text[: _MOST_WORDS - 1]}…"


def _pairs(shown: str) -> Iterator[_Signal]:
    """The last opening tag in front of a closing one of its name belongs to it."""
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(shown):
        if not tag["end"]:
            opened = tag
            continue
        name = tag["name"].lower()
        if opened and opened["name"].lower() == name and tag["ends"] is not None:
            inner = slice(opened.end("name") + 1, tag.start("end") - 1)
            if opened["begins"] is not None:
                yield _Signal(name, opened.start(), tag.end(), inner)
        opened = None


def _without(text: str, shown: str, found: list[_Signal], block: Block | None) -> str:
    """A message without its signals and its closing lines; `shown` says where its fences are."""
    kept, marks = _without_signals(text, found), _without_signals(shown, found)
    if block is None:
        return "\n".join(kept)
    start, end = block.start, block.end
    if start and not marks[start - 1].strip("\0 "):  # a fence around the closing lines goes too
        start -= 1
        end += 1
    return "\n".join([*kept[:start], *kept[end:]])


def _without_signals(text: str, found: list[_Signal]) -> list[str]:
    """The lines of a text; where signals stood, empty ones."""
    made, done = [], 0
    for one in found:
        made.append(text[done : one.start])
        made.append("\n" * text.count("\n", one.start, one.end))
        done = one.end
    return ("".join(made) + text[done:]).split("\n")
