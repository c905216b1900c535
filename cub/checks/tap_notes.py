"""What stands below a failed test of TAP: a block of YAML, or comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_KEY = re.compile(r"\s+(?:message|error): *(.*)")
_PLACE = re.compile(r"\s+location: *['\"]?(.+?):\d+:\d+['\"]?")
_COMMENT = re.compile(r" *# *(.*)")
_VAGUE = re.compile(r"(?:Failed test\b|at \S+ line \d+|\(in test|Looks like |Subtest: ).*|")
_MOST = 2  # comments make a message; more are its details


def message(below: Sequence[str], indent: int) -> str:
    """What the block says under `message` or `error`; without one, what the comments say."""
    block = list(_block(below, indent))
    for number, line in enumerate(block):
        if told := _KEY.fullmatch(line):
            if told[1] not in ("|", "|-", "|+", ">", ">-", ""):
                return _unquoted(told[1])
            return _said(line.strip() for line in block[number + 1 :])
    comments = (comment[1] for line in _comments(below) if (comment := _COMMENT.fullmatch(line)))
    return _said(comments)


def place(below: Sequence[str], indent: int) -> str:
    """The file that the block names, "" for none."""
    places = (place[1] for line in _block(below, indent) if (place := _PLACE.fullmatch(line)))
    return next(places, "")


def _said(texts: Iterator[str]) -> str:
    told = [text for text in texts if not _VAGUE.fullmatch(text)]
    return " ".join(told[:_MOST])


def _block(below: Sequence[str], indent: int) -> Iterator[str]:
    if not below or below[0].strip() != "---" or not below[0].startswith(" " * (indent + 1)):
        return
    for line in below[1:]:
        if line.strip() == "...":
            return
        yield line


def _comments(below: Sequence[str]) -> Iterator[str]:
    for line in below:
        if not line.lstrip().startswith("#") or "# Subtest: " in line:
            return
        yield line


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
