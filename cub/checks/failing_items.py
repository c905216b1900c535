"""Define failing items, and when two failures are the same.

Whatever differs by chance is masked before a comparison.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple

from cub.checks.terminal_text import to_plain_text
from cub.text import truncate_text

MAX_MESSAGE = 300  # characters of a message; more is not a message but a log
_MAX_NAME_CHARS = 500


class FailingItem(NamedTuple):
    """Hold one failed test, compiler error or linter finding.

    `kind` is "test", "error" (what could not be run: collection, import, crash), "build" (of a
    compiler or linker), "type" or "lint". `where` is the stable name: a test's id, or
    `file:line:column`. `message` is one line with the rule's code; "" if the tool reports none.
    """

    kind: str
    where: str
    message: str


def truncate_item(item: FailingItem) -> FailingItem:
    """Return the item with names and messages on one line and within the limits."""
    where = truncate_line(item.where, _MAX_NAME_CHARS)
    return FailingItem(item.kind, where, truncate_line(item.message, MAX_MESSAGE))


def truncate_line(text: str, max_chars: int) -> str:
    """Return a text on one line of at most `max_chars` characters."""
    return truncate_text(" ".join(text[: 4 * max_chars].split()), max_chars)


_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_CLOCK = r"\d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?: ?[AaPp][Mm]\b)?"
_ZONE = r"(?: ?(?:Z\b|UTC\b|GMT\b|[+-]\d\d:?\d\d\b))?"
_UNIT = r"(?:[nmuµμ]s|s|secs?|[Ss]econds?|m|min|mins|minutes?|h|hours?|milliseconds?)"
_MASKS = {
    "tmp": r"(?:/private)?(?:/tmp|/var/tmp|/dev/shm|/var/folders/[^\s/]+/[^\s/]+(?:/T)?)"
    r"(?:/pytest-of-[^\s/]+/pytest-\w+)?/[^\s/:;,'\"`()<>]+"
    r"|[A-Za-z]:\\[^\s:*?\"<>|]*?\\Temp\\[^\s\\:;,'\"`()<>]+",
    "uuid": r"\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b",
    "address": r"\b0[xX][0-9A-Fa-f]+",
    "time": rf"\b\d{{4}}[-/]\d\d[-/]\d\d(?:[T ]{_CLOCK}{_ZONE})?"
    rf"|\b{_MONTH} {{1,2}}\d{{1,2}}\b(?:(?: {_CLOCK}{_ZONE})?,? \d{{4}}\b)?"
    rf"|\b\d{{1,2}} {_MONTH} \d{{4}}(?: {_CLOCK}{_ZONE})?|\b{_CLOCK}{_ZONE}",
    "hex": r"\b(?=[A-Fa-f]*[0-9])(?=[0-9]*[A-Fa-f])[0-9A-Fa-f]{8,}\b",
    "duration": rf"\b\d+(?:\.\d+)? ?{_UNIT}\b(?: ?\d+(?:\.\d+)? ?{_UNIT}\b)*|\(cached\)",
    "line": r"(?<=\w):\d+(?::\d+)?(?!\w)",
    "number": r"(?:(?<![\w)\]])-)?\d+(?:[.,_]\d+)*(?:[eE][+-]?\d+)?",
}
_MASKED = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _MASKS.items()))
# What one run of a tool has of its own, beside what is masked.
_SIZE = r"\b\d{1,15}(?:\.\d{1,9})?"
_RUN_DETAILS = re.compile(
    r"^[\w.-]{1,80}: \w{0,20}install\w{0,20}> .*\n"  # tox, in a new environment
    rf"|{_SIZE}=(?:\+?\w{{1,20}}\[{_SIZE}\])+ seconds"  # tox
    r"|/\.tox/\.tmp/package/\d+|\bcoverage-\d+-\d+-\d+"
    rf"|\b(?:\w{{1,40}}_)?(?:duration|elapsed)(?:_\w{{1,40}})?[\"']?(?: ?[:=] ?| ){_SIZE}"
    r"|\b\d{4}-\d\d-\d\dT\d\d_\d\d_\d\d_\d+Z"  # a log of npm
    r"|\b\d\d:\d\d\.\d{3}\b|\b1[5-9]\d{8}(?:\d{3})?\b"  # a time since a start, or since 1970
    r"|\b(?:\w{1,40}[-_])?seed[ =:]{1,3}\d+|\bpid[ =:]{1,3}\d+|\(node:\d+\)"
    rf"|{_SIZE} ?[a-z]{{1,20}}/s\b|\bmemory: {_SIZE} ?\w{{1,5}}"
    r"|\b\d{1,4}m\d{1,2}[.,]\d{3}s\b"  # the shell's `time`
    r"|\btime ?[:=] ?\d{1,15}\.\d{1,9}(?!\d| ?[a-z])"
    r"|, estimated \d{1,6} s\b|\[\d\d:\d\d<(?:\d{1,4}:)?\d\d:\d\d, "  # Jest, tqdm
    r"|\b\d{1,9} +(?=Killed|Aborted|Terminated|Segmentation fault)|==\d{1,9}=="  # process ids
    r"|^thread '[^'\n]{1,200}' \(\d{1,9}\) (?=panicked)"
    # Frames of a traceback: an attempt may have added code above them.
    r"|^  File \"[^\"\n]{1,500}\", line \d{1,9}(?=, in )"
    r"|(?<=[jt]s):\d{1,9}:\d{1,9}\)$|^(?:file://)?/\S{1,500}[jt]s:\d{1,9}$",
    re.MULTILINE | re.IGNORECASE,
)
# In the name of a test, only what no two of its runs have in common.
_VOLATILE_NAME = re.compile("|".join(_MASKS[name] for name in ("tmp", "uuid", "address")))
_LINE = re.compile(r"(?<=\w)(?::\d+){1,2}\Z| \(line \d+\)\Z")  # the last are Rust's doctests
_FILE = re.compile(r"\.[A-Za-z]\w{0,9}(?::\d+){1,2}\Z")


class ItemChanges(NamedTuple):
    """Hold the new, fixed and unchanged items of two runs; unchanged ones are the later run's."""

    new: tuple[FailingItem, ...]
    fixed: tuple[FailingItem, ...]
    unchanged: tuple[FailingItem, ...]


def mask_volatile(text: str) -> str:
    """Return the text with placeholders for numbers, times, addresses, temporary paths etc."""
    return _MASKED.sub(lambda match: f"<{match.lastgroup}>", text)


def fingerprint_items(items: Iterable[FailingItem], tail: str = "") -> str:
    """Return 16 hex digits that identify a failure, whatever its order, lines and times.

    Without items, the tail of the log counts; "" for nothing at all.
    """
    text = "\n".join(sorted({"\0".join(_make_key(item)) for item in items}))
    text = text or " ".join(mask_volatile(to_plain_text(tail)).split())
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16] if text else ""


def fingerprint_output(output: str) -> str:
    """Return 16 hex digits that identify a tool's output, whatever its times, paths and addresses.

    Unlike in `fingerprint_items`, numbers count: three problems are not two.
    """
    text = _RUN_DETAILS.sub("", to_plain_text(output))
    # mocha names the time of a slow test alone, and columns are as wide as their numbers.
    text = _MASKED.sub(_mask_number, text).replace("(<duration>)", "")
    return sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def compare_items(before: Iterable[FailingItem], after: Iterable[FailingItem]) -> ItemChanges:
    """Compare two runs; of items that look alike, only the surplus is new or fixed."""
    before, after = tuple(before), tuple(after)
    new, unchanged = _split_matched(after, before)
    fixed, _ = _split_matched(before, after)
    return ItemChanges(new, fixed, unchanged)


def _mask_number(match: re.Match[str]) -> str:
    kind = match.lastgroup
    return match[0] if kind in ("number", "line") else f"<{kind}>"


def _split_matched(
    items: tuple[FailingItem, ...], others: tuple[FailingItem, ...]
) -> tuple[tuple[FailingItem, ...], tuple[FailingItem, ...]]:
    """Return the items without a partner among the others, and those with one."""
    free = Counter(map(_make_identity, others))
    alone, paired = list[FailingItem](), list[FailingItem]()
    for item in items:
        has_partner = free[_make_identity(item)] > 0
        free[_make_identity(item)] -= has_partner
        (paired if has_partner else alone).append(item)
    return tuple(alone), tuple(paired)


def _make_key(item: FailingItem) -> tuple[str, str, str]:
    return item.kind, _strip_position(item.where), mask_volatile(item.message)


def _make_identity(item: FailingItem) -> tuple[str, str, str]:
    """Return what identifies an item: a test is the same however it fails, or fails to run."""
    if item.kind in ("test", "error"):
        return "test", _VOLATILE_NAME.sub("", _strip_position(item.where)), ""
    return _make_key(item)


def _strip_position(where: str) -> str:
    """Return the name without the line and column at its end; names keep their own numbers."""
    if where.endswith(")") or _FILE.search(where):
        return _LINE.sub("", where)
    return where
