"""Search files for a regular expression, as a program that Grep runs.

It stands alone, so that a pattern that takes forever can be ended with its process. It reads a JSON
object from stdin, and prints a line with a file's path, NUL and a number: the number of each line
that matches, or how many lines of the file do.
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
        name = path.encode("utf-8", "surrogateescape")
        try:
            numbers = _iter_matching_lines(name, pattern)
            if order["counts"]:
                count = sum(1 for _ in numbers)
                found = [count] if count else []
            else:
                found = [*islice(numbers, order["max_lines"])]
        except OSError:  # deleted just now, or not readable
            continue
        sys.stdout.buffer.write(b"".join(b"%s\0%d\n" % (name, number) for number in found))
        sys.stdout.buffer.flush()


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
