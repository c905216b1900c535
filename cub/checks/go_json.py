"""What `go test -json` tells: the same output, each line wrapped and packages interleaved."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from cub.checks.go import items_of
from cub.checks.tool import Found, Tool

_MARKS = ('{"Time":', '{"Action":', '{"ImportPath":')


def _parse(lines: Sequence[str]) -> Iterator[Found]:
    outputs = dict[str, list[tuple[int, str]]]()
    for number, line in enumerate(lines):
        if line.startswith(_MARKS) and (event := _event(line)):
            package, text = event
            outputs.setdefault(package, []).append((number, text))
    for output in outputs.values():
        yield from items_of(_lines(output))


def _event(line: str) -> tuple[str, str] | None:
    """The package of an event and what it put out."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    package, output = event.get("Package", event.get("ImportPath")), event.get("Output")
    if not (isinstance(package, str) and isinstance(output, str)):
        return None
    return package.partition(" ")[0], output  # what is built for a test says so in brackets


def _lines(output: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Whole lines: an event may hold a part of one."""
    text = ""
    for number, part in output:
        *whole, text = (text + part).split("\n")
        yield from ((number, line) for line in whole)
    if text:
        yield output[-1][0], text


GO_JSON = Tool(_MARKS, _parse)
