"""Search files for a regular expression, in a process of Grep's own.

So a pattern that takes forever can be ended. The process reads a JSON object from stdin, and prints
a JSON list for each file with a match: its path, and the numbers of the lines that match, or how
many there are.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from itertools import islice

from cub.agent.tools.file_text import decode_file


def main() -> None:
    """Search the files of the order on stdin, in their order."""
    order = json.load(sys.stdin.buffer)
    flags = re.IGNORECASE if order["ignore_case"] else re.NOFLAG
    find = _iter_matching_lines
    if order["spans_lines"]:
        flags, find = flags | re.MULTILINE | re.DOTALL, _iter_spanned_lines
    pattern = re.compile(order["pattern"], flags)
    for path in order["paths"]:
        try:
            numbers = find(_read_lines(path.encode("utf-8", "surrogateescape")), pattern)
            if order["counts"]:
                count = sum(1 for _ in numbers)
                found = [count] if count else []
            else:
                found = [*islice(numbers, order["max_lines"])]
        except OSError:  # deleted just now, or not readable
            continue
        if found:
            sys.stdout.write(json.dumps([path, found]) + "\n")
            sys.stdout.flush()


def _read_lines(name: bytes) -> list[str]:
    """Return the lines of a text file; none of a binary one."""
    handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        text = decode_file(file.read())
    if not text.text or text.is_binary:
        return []
    lines = text.text.removesuffix(b"\n").split(b"\n")
    return [line.removesuffix(b"\r").decode("utf-8", "surrogateescape") for line in lines]


def _iter_matching_lines(lines: list[str], pattern: re.Pattern[str]) -> Iterator[int]:
    return (number for number, line in enumerate(lines, 1) if pattern.search(line))


def _iter_spanned_lines(lines: list[str], pattern: re.Pattern[str]) -> Iterator[int]:
    """Yield the lines of all matches, each once."""
    text, at, number, last = "\n".join(lines), 0, 1, 0
    for match in pattern.finditer(text) if lines else ():
        number += text.count("\n", at, match.start())
        at = match.start()
        end = number + text.count("\n", at, max(at, match.end() - 1))
        yield from range(max(number, last + 1), end + 1)
        last = max(last, end)
