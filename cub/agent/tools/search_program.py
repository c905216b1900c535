"""Search files for a regular expression, as a program that Grep runs.

It stands alone, so that a pattern that takes forever can be ended with its process. It reads a JSON
object from stdin, and prints a JSON list for each file with a match: its path, and the numbers of
the lines that match, or how many there are.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from itertools import islice


def main() -> None:
    """Search the files of the order on stdin, in their order."""
    order = json.load(sys.stdin.buffer)
    pattern = re.compile(order["pattern"], re.IGNORECASE if order["ignore_case"] else 0)
    for path in order["paths"]:
        try:
            numbers = _iter_matching_lines(path.encode("utf-8", "surrogateescape"), pattern)
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


def _iter_matching_lines(name: bytes, pattern: re.Pattern[str]) -> Iterator[int]:
    handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        data = file.read()
    is_text = data and b"\0" not in data
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n") if is_text else (), 1):
        if pattern.search(line.removesuffix(b"\r").decode("utf-8", "surrogateescape")):
            yield number


if __name__ == "__main__":
    main()
