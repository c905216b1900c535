"""Texts that a parser or a query would take quadratic time for, known by their characters.

A parse that ends: time and memory go with the size of the file, whatever is in it.

Steps are counted instead of seconds, so that a file gives the same answer on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import LogType, Node, Parser, Point, Tree


_DEEPEST = 200
_LONGEST_RUN = 5_000
_PAIRS = (b"()", b"[]", b"{}")
_ALL = set(range(256))
_ANGLES = bytes(_ALL - set(b"<>;(){}"))
_STRING = re.compile(rb'"(?:[^"\\\n]|\\.)*+"?|\'(?:[^\'\\\n]|\\.)*+\'?')
_SIGNS = bytes(not (chr(code).isalnum() or code > 127 or chr(code) in "_\"'`") for code in _ALL)


def is_nested_too_deep(data: bytes) -> bool:
    """Whether brackets stand in one another beyond what anybody writes."""
    angles = _unpaired(data.translate(None, _ANGLES), b"<>")
    if angles is None or b"<" * _DEEPEST in angles:
        return True
    if all(_is_flat(data, pair) for pair in _PAIRS):
        return False
    bare = _STRING.sub(b"", data)
    return not all(_is_flat(bare, pair) for pair in _PAIRS)


def has_long_sign_run(data: bytes) -> bool:
    """Whether signs follow signs for long: a query compares each with all that follow."""
    return b"\1" * _LONGEST_RUN in data.translate(_SIGNS, b" \t\r\n\f")


def _is_flat(data: bytes, pair: bytes) -> bool:
    left = _unpaired(data.translate(None, bytes(_ALL - set(pair))), pair)
    return left is not None and left.count(pair[:1]) < _DEEPEST


def _unpaired(brackets: bytes, pair: bytes) -> bytes | None:
    """What is left when pairs are taken out from the inside; None if that takes too many rounds."""
    for _ in range(_DEEPEST):
        before = len(brackets)
        brackets = brackets.replace(pair, b"")
        if len(brackets) == before:
            return brackets
    return None


_SMALL = 1_000  # bytes in which nothing nests too deep
_HARMLESS = 3_000  # bytes whose errors don't take much memory
_MOST_NODES = 600_000
_MOST_UNNAMED = 5_000
_PARSING_DEEPEST = 12  # levels: no query looks for definitions further down
_MOST_ERRORS = 3_000_000  # errors times steps


class ParseSentinel(NamedTuple):
    """Statements that any program may end with: all of them, how many bytes of them take 300
    steps, and how long each is.
    """

    text: bytes
    bytes_per_300_steps: int
    statement_length: int


_NO_ENDING = ParseSentinel(b"", 0, 1)


def parse_bounded(parser: Parser, data: bytes, ending: ParseSentinel) -> Tree | None:
    """The tree of a source text; None if it is too deep, or takes too long to make sense of.

    At the end of a text in which it is lost, the parser tries all combinations of what it guessed
    before, in quadratic memory. So a text goes on with statements, until they are read as easily
    as in an empty file. Where that doesn't happen, the errors are counted first.
    """
    if len(data) > _SMALL and (is_nested_too_deep(data) or has_long_sign_run(data)):
        return None
    run = BoundedParse(data, ending if len(data) > _HARMLESS else _NO_ENDING)
    tree = run.parse(parser)
    if run.is_lost and _errors_are_few(parser, data, ending):
        tree = BoundedParse(data, _NO_ENDING).parse(parser)
    return tree if tree is not None and _is_sound(tree) else None


class BoundedParse:
    """One parse: what it reads, and when it stops."""

    def __init__(self, data: bytes, ending: ParseSentinel) -> None:
        """Real programs take about one step a byte, small or dense ones two."""
        self.steps = 1_000 + len(data) // 80  # hundreds: that often progress is told
        self.served = 1_000_000 + 100 * len(data)
        self.data = replace_invalid_utf8(data)
        self.text = self.data + ending.text
        self.pace, self.each = ending.bytes_per_300_steps, ending.statement_length
        self.end = len(self.text)
        self.marks = list[int]()  # how far it was in the ending
        self.is_lost = False

    def parse(self, parser: Parser) -> Tree | None:
        """The tree, or None if it was stopped."""
        try:
            tree = parser.parse(self._read, progress_callback=self._is_enough)
        except ValueError:  # stopped halfway
            parser.reset()
            return None
        return tree if self.served >= 0 else None

    def _read(self, offset: int, _point: Point) -> bytes:
        """The next piece, which ends behind a character; what is read again is counted.

        One step of a scanner may read to the end for each byte of the file: an empty piece is the
        one way to stop it.
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
            if len(self.marks) > 3 and self._is_at_ease(has_error=has_error):
                self.end = min(self.end, self._whole(offset + 200))
            self.is_lost = len(self.marks) > 20
        return self.is_lost or self.steps < 0 or self.served < 0

    def _whole(self, offset: int) -> int:
        """Where the statement at an offset ends: half of one would be an error behind the file."""
        return offset + (len(self.data) - offset) % self.each

    def _is_at_ease(self, *, has_error: bool) -> bool:
        covered = self.marks[-1] - self.marks[-4]
        return not has_error and abs(covered - self.pace) * 12 <= self.pace


def replace_invalid_utf8(data: bytes) -> bytes:
    """The text with `?` for each byte that is none: lexers would read on from there forever."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        return re.sub("[\ud800-\udfff]", "?", text).encode("utf-8")
    return data


def _errors_are_few(parser: Parser, data: bytes, ending: ParseSentinel) -> bool:
    """Whether the errors of a text are few for its length, by the log of a parse without an end."""
    errors = steps = 0
    is_over = False

    def note(_type: LogType, message: str) -> None:
        nonlocal errors
        errors += message.startswith("detect_error")

    def is_enough(offset: int, _has_error: bool) -> bool:
        nonlocal steps, is_over
        steps += 100
        is_over = errors * steps > _MOST_ERRORS
        return is_over or offset > len(data)

    parser.logger = note
    try:
        text = replace_invalid_utf8(data) + ending.text
        parser.parse(lambda offset, _: text[offset : offset + 4_096], progress_callback=is_enough)
    except ValueError:  # stopped, as it should
        parser.reset()
    finally:
        del parser.logger
    return not is_over


def _is_sound(tree: Tree) -> bool:
    """Whether a query over the tree ends soon.

    It looks at all that follows a node for one with a name. Where a text makes no sense, thousands
    of nodes without names stand side by side.
    """
    root = tree.root_node
    if root.descendant_count > _MOST_NODES:
        return False
    large = [root] if root.has_error else []
    for _ in range(_PARSING_DEEPEST):
        if any(node.child_count - node.named_child_count > _MOST_UNNAMED for node in large):
            return False
        large = [child for node in large for child in _large_children(node)]
    return True


def _large_children(node: Node) -> Iterator[Node]:
    cursor = node.walk()
    is_there = cursor.goto_first_child()
    while is_there and (child := cursor.node):
        if child.descendant_count > _MOST_UNNAMED:
            yield child
        is_there = cursor.goto_next_sibling()
