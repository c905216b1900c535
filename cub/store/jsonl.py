"""Read and write lines of JSON; a damaged line costs only itself."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, NoReturn

from cub.syntax_errors import describe_json_error

Record = dict[str, Any]

_BOM = b"\xef\xbb\xbf"
_OURS, _BASE, _BETWEEN, _THEIRS = b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"
_MARKERS = (_OURS, _BASE, _BETWEEN, _THEIRS)
# Encoding may start deeper in calls than decoding did, and both recurse.
_MAX_DEPTH = 200
# UTF-8 cannot encode half of a surrogate pair; JSON can, just as Python spells it.
SURROGATE_ERRORS = "backslashreplace"


class JsonlLine(NamedTuple):
    """Hold a line: its number from 1, the offset of its text in bytes, its text, and all of it.

    The text is without whitespace around it.
    """

    number: int
    offset: int
    text: bytes
    raw: bytes


class RejectedLine(NamedTuple):
    """Hold a line that is not a record, and the reason."""

    line: JsonlLine
    reason: str

    @property
    def content(self) -> bytes:
        """Return the line byte for byte, without the line feed that ends it."""
        return self.line.raw.removesuffix(b"\n")


def iter_lines(file: Iterable[bytes]) -> Iterator[JsonlLine]:
    """Yield the lines that are not blank, and both sides of a merge conflict."""
    offset = 0
    base: list[JsonlLine] | None = None
    for number, raw in enumerate(file, 1):
        start, offset = offset, offset + len(raw)
        if raw[:1] == b"{" and base is None:  # almost all lines
            yield JsonlLine(number, start, raw.rstrip(), raw)
            continue
        line = _make_line(number, start, raw)
        if line.text[:7] not in _MARKERS or line.text[7:8] not in (b"", b" "):
            if line.text and base is not None:
                base.append(line)
            elif line.text:
                yield line
            continue
        # The base of a conflict is in neither side any more; all else is in one of them.
        yield from base if base and not line.text.startswith(_BETWEEN) else ()
        base = [] if line.text.startswith(_BASE) else None
    yield from base or ()


def _make_line(number: int, start: int, raw: bytes) -> JsonlLine:
    if number == 1 and raw.startswith(_BOM):
        start, raw = start + len(_BOM), raw[len(_BOM) :]
    text = raw.strip()
    return JsonlLine(number, start + raw.index(text), text, raw)


def decode_record(text: bytes) -> Record:
    """Return the object of a line; ValueError, with the reason, for anything else."""
    try:
        words = text.decode("utf-8")
        value, end = JSON_DECODER.raw_decode(words)
    except UnicodeDecodeError:
        raise ValueError("this is not UTF-8") from None
    except json.JSONDecodeError as error:
        reason = describe_json_error(error.msg)
        raise ValueError(f"invalid JSON: {reason}, column {error.colno}") from None
    except RecursionError:
        raise ValueError("this is nested too deep") from None
    if end < len(words):
        raise ValueError(f"invalid JSON: there is text after the end, column {end + 1}")
    if text.count(b"[") + text.count(b"{") > _MAX_DEPTH and _measure_depth(value) > _MAX_DEPTH:
        raise ValueError("this is nested too deep")
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 - of a line, not of an argument
    return value


def encode_record(record: Record) -> bytes:
    """Return a record as one compact line, without its line feed."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", SURROGATE_ERRORS)


def dump_canonical(value: object) -> str:
    """Return a string that is the same for equal values, whatever the order of their keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _measure_depth(value: object) -> int:
    depth, inner = 0, [value]
    while inner := [item for item in inner if isinstance(item, dict | list)]:
        depth += 1
        inner = [v for item in inner for v in (item.values() if type(item) is dict else item)]
    return depth


def _parse_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


JSON_DECODER = json.JSONDecoder(parse_float=_parse_float, parse_constant=_refuse_constant)
