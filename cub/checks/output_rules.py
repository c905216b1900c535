"""Read the failing items of an output by rules: a line's pattern, and the item that it reports.

A tool whose output needs more than that has a function of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from cub.checks.failing_items import FailingItem

_MAX_BELOW = 200  # lines that may belong to a failure
Finder = Callable[[Sequence[str]], str]


class LocatedItem(NamedTuple):
    """Hold an item and the number of the line that reports it."""

    line: int
    item: FailingItem


def locate_item(line: int, kind: str, where: str, message: str) -> LocatedItem:
    """Return a failing item at the line with this number."""
    return LocatedItem(line, FailingItem(kind, where, message))


def find_first_text(lines: Iterable[str]) -> str:
    """Return the first line that is not blank, without whitespace around it; "" for none."""
    return next((line.strip() for line in lines if line.strip()), "")


def join_announced(lines: Iterable[str]) -> str:
    """Return the first text, with the next one if it ends with a colon; "" for none."""
    texts = [*islice((line.strip() for line in lines if line.strip()), 2)]
    return " ".join(texts[: 2 if texts and texts[0].endswith(":") else 1])


def find_first_match(pattern: str, max_lines: int = _MAX_BELOW, default: str = "") -> Finder:
    """Return a function that finds the first group of the first of so many lines that match."""
    regex = re.compile(pattern)

    def find(lines: Sequence[str]) -> str:
        matches = map(regex.fullmatch, lines[:max_lines])
        return next((match[1] or "" for match in matches if match), default)

    return find


@dataclass(frozen=True)
class Rule:
    """Say what a line means that has the string `mark` and that `pattern` matches as a whole.

    The named groups are values for the lines that follow; an empty one ends a value. `item` is a
    template of groups and values for what the line reports: `KIND WHERE | MESSAGE`; "" if it only
    sets values. In it, `column` is where the line's text begins, `text` is the first text below the
    line, and `below` what the function finds there. `within` is a value without which the line
    means nothing. A pattern with a newline is of two lines.
    """

    mark: str
    pattern: str
    item: str = ""
    below: Finder = find_first_text
    within: str = ""

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """Return the pattern, which is compiled when it is needed first."""
        return re.compile(self.pattern)

    @cached_property
    def height(self) -> int:
        """Return how many lines the pattern is of."""
        return 1 + self.pattern.count("\\n")


def read_rules(rules: Sequence[Rule], lines: Sequence[str]) -> Iterator[LocatedItem]:
    """Yield the items of the lines; the first rule that fits a line counts."""
    values = dict.fromkeys((name for rule in rules for name in rule.regex.groupindex), "")
    for number, line in enumerate(lines):
        for rule in rules:
            text = line if rule.height == 1 else "\n".join(lines[number : number + rule.height])
            if rule.mark not in text or (rule.within and not values[rule.within]):
                continue
            if match := rule.regex.fullmatch(text):
                groups = match.groupdict("")
                if rule.item:
                    known = values | {name: text for name, text in groups.items() if text}
                    below = lines[number + rule.height : number + _MAX_BELOW]
                    yield LocatedItem(number, _make_item(rule, match, known, below))
                values |= groups
                break


def _make_item(
    rule: Rule, match: re.Match[str], values: dict[str, str], below: Sequence[str]
) -> FailingItem:
    groups = (match[0], *match.groups(""))
    indent = len(match[0]) - len(match[0].lstrip())
    values |= {"column": str(indent + 1), "text": find_first_text(below)}
    values["below"] = rule.below(below) if "{below}" in rule.item else ""
    kind, _, template = rule.item.partition(" ")
    where, message = (part.format(*groups, **values) for part in template.partition(" | ")[::2])
    return FailingItem(kind, where.removeprefix(" > "), message)


class OutputParser(NamedTuple):
    """Hold a parser, and strings of which a log has at least one if there is anything to find."""

    triggers: tuple[str, ...]
    parse: Callable[[Sequence[str]], Iterable[LocatedItem]]


def make_parser(*rules: Rule) -> OutputParser:
    """Return a parser by rules; the marks of those that report items start it."""
    triggers = tuple(rule.mark for rule in rules if rule.item)
    return OutputParser(triggers, lambda lines: read_rules(rules, lines))
