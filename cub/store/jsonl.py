"""Lines of JSON: read one by one, so that a damaged line costs itself alone, and written."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, NoReturn

Record = dict[str, Any]

_BOM = b"\xef\xbb\xbf"
_OURS, _BASE, _BETWEEN, _THEIRS = b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"
_MARKERS = (_OURS, _BASE, _BETWEEN, _THEIRS)
# Whoever writes a record may be deeper in calls than whoever read it, and both recurse.
_DEEPEST = 200
# Half of a surrogate pair UTF-8 can't say, but JSON can: just as Python spells it.
SURROGATE_ERRORS = "backslashreplace"


class JsonlLine(NamedTuple):
    """A line: its number, counted from 1, the place of its text in the file in bytes, the text
    without blanks around it, and the whole of it as it stands.
    """

    number: int
    offset: int
    text: bytes
    raw: bytes


class RejectedLine(NamedTuple):
    """A line that is no record, and why."""

    line: JsonlLine
    reason: str

    @property
    def content(self) -> bytes:
        """The line byte for byte, without the line feed that ends it."""
        return self.line.raw.removesuffix(b"\n")


def iter_lines(file: Iterable[bytes]) -> Iterator[JsonlLine]:
    """The lines that say something: no blank ones, and of a merge conflict both sides."""
    offset = 0
    base: list[JsonlLine] | None = None
    for number, raw in enumerate(file, 1):
        start, offset = offset, offset + len(raw)
        if raw[:1] == b"{" and base is None:  # almost all
            yield JsonlLine(number, start, raw.rstrip(), raw)
            continue
        line = _line(number, start, raw)
        if not _is_marker(line.text):
            if line.text and base is not None:
                base.append(line)
            elif line.text:
                yield line
            continue
        # What both sides began with is in neither of them any more; all else is somebody's.
        yield from base if base and not line.text.startswith(_BETWEEN) else ()
        base = [] if line.text.startswith(_BASE) else None
    yield from base or ()


def _line(number: int, start: int, raw: bytes) -> JsonlLine:
    if number == 1 and raw.startswith(_BOM):
        start, raw = start + len(_BOM), raw[len(_BOM) :]
    text = raw.strip()
    return JsonlLine(number, start + raw.index(text), text, raw)


def _is_marker(text: bytes) -> bool:
    return text[:7] in _MARKERS and text[7:8] in (b"", b" ")


def decode_record(text: bytes) -> Record:
    """The object of a line; ValueError, with the reason, for anything else."""
    try:
        words = text.decode("utf-8")
        value, end = JSON_DECODER.raw_decode(words)
    except UnicodeDecodeError:
        raise ValueError("this is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON: {error.msg.lower()}, column {error.colno}") from None
    except RecursionError:
        raise ValueError("this is nested too deep") from None
    if end < len(words):
        raise ValueError(f"this is not JSON: extra data, column {end + 1}")
    if text.count(b"[") + text.count(b"{") > _DEEPEST and _depth(value) > _DEEPEST:
        raise ValueError("this is nested too deep")
    if not isinstance(value, dict):
        raise ValueError("this is no JSON object")  # noqa: TRY004 - of a line, not of an argument
    return value


def encode_record(record: Record) -> bytes:
    """A record as one compact line, without its end."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", SURROGATE_ERRORS)


def dump_canonical(value: object) -> str:
    """A text that is the same for equal values, whatever the order of their keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _depth(value: object) -> int:
    depth, inner = 0, [value]
    while inner := [one for one in inner if isinstance(one, dict | list)]:
        depth += 1
        inner = [v for one in inner for v in (one.values() if isinstance(one, dict) else one)]
    return depth


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


JSON_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant)
