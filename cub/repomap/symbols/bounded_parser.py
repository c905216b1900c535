"""Parse a source text in time and memory that grow with its size, whatever is in it.

Steps are counted instead of seconds, so that a file gives the same facts on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import LogType, Node, Parser, Point, Tree


_MAX_FLAT_BYTES = 1_000  # nothing nests too deep in so few
_MAX_HARMLESS_BYTES = 3_000  # errors in so few don't take much memory
_MAX_NODES = 600_000
_MAX_UNNAMED_NODES = 5_000
_MAX_LEVELS = 12  # no query looks for definitions further down
_MAX_ERROR_STEPS = 3_000_000  # errors times steps


class ParseSentinel(NamedTuple):
    """Hold statements that any program may end with.

    `bytes_per_300_steps` says how fast they are parsed, `statement_length` how long each is.
    """

    text: bytes
    bytes_per_300_steps: int
    statement_length: int


_NO_SENTINEL = ParseSentinel(b"", 0, 1)


def parse_bounded(parser: Parser, data: bytes, sentinel: ParseSentinel) -> Tree | None:
    """Return the tree of a source text; None if it is too deep, or takes too long to parse.

    At the end of a text in which it is lost, the parser tries all combinations of its earlier
    guesses, in quadratic memory. So statements follow the text until they are parsed as fast as in
    an empty file. If that doesn't happen, the errors are counted first.
    """
    if len(data) > _MAX_FLAT_BYTES and (is_nested_too_deep(data) or has_long_sign_run(data)):
        return None
    run = BoundedParse(data, sentinel if len(data) > _MAX_HARMLESS_BYTES else _NO_SENTINEL)
    tree = run.parse(parser)
    if run.is_lost and _has_few_errors(parser, data, sentinel):
        tree = BoundedParse(data, _NO_SENTINEL).parse(parser)
    return tree if tree is not None and _can_be_queried(tree) else None


_MAX_DEPTH = 200
_MAX_SIGN_RUN = 5_000
_PAIRS = (b"()", b"[]", b"{}")
_ALL = set(range(256))
_ANGLES = bytes(_ALL - set(b"<>;(){}"))
_STRING = re.compile(rb'"(?:[^"\\\n]|\\.)*+"?|\'(?:[^\'\\\n]|\\.)*+\'?')
_SIGNS = bytes(not (chr(code).isalnum() or code > 127 or chr(code) in "_\"'`") for code in _ALL)


def is_nested_too_deep(data: bytes) -> bool:
    """Return whether brackets are nested deeper than anyone writes."""
    angles = _remove_pairs(data.translate(None, _ANGLES), b"<>")
    if angles is None or b"<" * _MAX_DEPTH in angles:
        return True
    if all(_is_flat(data, pair) for pair in _PAIRS):
        return False
    without_strings = _STRING.sub(b"", data)
    return not all(_is_flat(without_strings, pair) for pair in _PAIRS)


def has_long_sign_run(data: bytes) -> bool:
    """Return whether signs follow signs for long: a query compares each with all that follow."""
    return b"\1" * _MAX_SIGN_RUN in data.translate(_SIGNS, b" \t\r\n\f")


def _is_flat(data: bytes, pair: bytes) -> bool:
    rest = _remove_pairs(data.translate(None, bytes(_ALL - set(pair))), pair)
    return rest is not None and rest.count(pair[:1]) < _MAX_DEPTH


def _remove_pairs(brackets: bytes, pair: bytes) -> bytes | None:
    """Remove pairs from the inside out; return None if that takes too many rounds."""
    for _ in range(_MAX_DEPTH):
        before = len(brackets)
        brackets = brackets.replace(pair, b"")
        if len(brackets) == before:
            return brackets
    return None


class BoundedParse:
    """Run one parse: feed it the text, and decide when it stops."""

    def __init__(self, data: bytes, sentinel: ParseSentinel) -> None:
        """Set the limits: real programs take about one step a byte, small or dense ones two."""
        self.steps = 1_000 + len(data) // 80  # hundreds: that often progress is reported
        self.served = 1_000_000 + 100 * len(data)
        self.data = _replace_invalid_utf8(data)
        self.text = self.data + sentinel.text
        self.pace, self.each = sentinel.bytes_per_300_steps, sentinel.statement_length
        self.end = len(self.text)
        self.marks = list[int]()  # the progress in the sentinel
        self.is_lost = False

    def parse(self, parser: Parser) -> Tree | None:
        """Return the tree, or None if the parse was stopped."""
        try:
            tree = parser.parse(self._read, progress_callback=self._is_enough)
        except ValueError:  # stopped halfway
            parser.reset()
            return None
        return tree if self.served >= 0 else None

    def _read(self, offset: int, _point: Point) -> bytes:
        """Return the next piece, which ends after a character; what is read again is counted.

        One step of a scanner may read to the end for each byte of the file: an empty piece is the
        only way to stop it.
        """
        size = len(self.data)
        limit = min(offset + 4_096, size) if offset < size else min(offset + 128, self.end)
        while limit < size and self.text[limit] & 0xC0 == 0x80:
            limit -= 1
        self.served -= limit - offset + 1
        return self.text[offset:limit] if self.served >= 0 else b""

    def _is_enough(self, offset: int, has_error: bool) -> bool:
        self.steps -= 1
        if offset > len(self.data) and self.end == len(self.text):
            self.marks.append(offset)
            is_usual = (
                len(self.marks) > 3
                and abs(self.marks[-1] - self.marks[-4] - self.pace) * 12 <= self.pace
            )
            if is_usual and not has_error:
                # Half a statement would be an error after the file.
                whole = offset + 200 + (len(self.data) - offset - 200) % self.each
                self.end = min(self.end, whole)
            self.is_lost = len(self.marks) > 20
        return self.is_lost or self.steps < 0 or self.served < 0


def _replace_invalid_utf8(data: bytes) -> bytes:
    """Replace each invalid byte with `?`: lexers would read on from there forever."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        return re.sub("[\ud800-\udfff]", "?", text).encode("utf-8")
    return data


def _has_few_errors(parser: Parser, data: bytes, sentinel: ParseSentinel) -> bool:
    """Return whether errors are few for the text's length, by the log of an endless parse."""
    errors = steps = 0
    is_over = False

    def count_errors(_type: LogType, message: str) -> None:
        nonlocal errors
        errors += message.startswith("detect_error")

    def is_enough(offset: int, _has_error: bool) -> bool:
        nonlocal steps, is_over
        steps += 100
        is_over = errors * steps > _MAX_ERROR_STEPS
        return is_over or offset > len(data)

    parser.logger = count_errors
    try:
        text = _replace_invalid_utf8(data) + sentinel.text
        parser.parse(lambda offset, _: text[offset : offset + 4_096], progress_callback=is_enough)
    except ValueError:  # stopped, as it should be
        parser.reset()
    finally:
        del parser.logger
    return not is_over


def _can_be_queried(tree: Tree) -> bool:
    """Return whether a query over the tree ends soon.

    A query looks at all that follows a node for a node with a name. In a text that makes no sense,
    thousands of nodes without names follow each other.
    """
    root = tree.root_node
    if root.descendant_count > _MAX_NODES:
        return False
    large = [root] if root.has_error else []
    for _ in range(_MAX_LEVELS):
        if any(node.child_count - node.named_child_count > _MAX_UNNAMED_NODES for node in large):
            return False
        large = [child for node in large for child in _iter_large_children(node)]
    return True


def _iter_large_children(node: Node) -> Iterator[Node]:
    cursor = node.walk()
    has_child = cursor.goto_first_child()
    while has_child and (child := cursor.node):
        if child.descendant_count > _MAX_UNNAMED_NODES:
            yield child
        has_child = cursor.goto_next_sibling()
