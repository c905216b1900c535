"""Check values of each kind of setting, and fill the templates that users write.

A template has placeholders in braces, such as `cub/{run}`. Python's formats are not supported, as
they could name attributes and widths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from cub.project.settings import COMMAND_KEYS, REQUIRED_COMMAND_KEYS, Setting, SettingKind
from cub.project.targets import find_target_problem
from cub.text import truncate_text

TIME_PATTERN = r"[0-9]+(\.[0-9]+)?[smh]"
SIZE_PATTERN = r"[0-9]+(\.[0-9]+)?[kMG]B"


class SettingFault(NamedTuple):
    """Say why a value can't be used; `item` is the index of the list item it is about.

    `key` is the key of the item, if that is a mapping and has it.
    """

    message: str
    hint: str = ""
    item: int | None = None
    key: str = ""

    def describe(self, name: str) -> str:
        """Return the message about a value, which has this name."""
        item = "" if self.item is None else f"[{self.item}]"
        return f"{name}{item}{self.key and '.'}{self.key} {self.message}"


class _Rule(NamedTuple):
    """Describe the values of a kind: what they are called, and how one is written."""

    fits: Callable[[Setting, Any], bool]
    words: str
    hint: str = ""


def _fits_whole(setting: Setting, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= setting.minimum


def _fits_number(setting: Setting, value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and value >= setting.minimum


def _fits_time(_: Setting, value: Any) -> bool:
    if isinstance(value, str):
        return re.fullmatch(TIME_PATTERN, value) is not None and float(value[:-1]) > 0
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _fits_size(_: Setting, value: Any) -> bool:
    if isinstance(value, str):
        return re.fullmatch(SIZE_PATTERN, value) is not None
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _fits_texts(_: Setting, value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _fits_specifier(_: Setting, value: Any) -> bool:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet(str(value))
    except InvalidSpecifier:
        return False
    return True


_ANY = Setting("", "time", None, "")
_UNITS = {"s": 1, "m": 60, "h": 3600}
_BYTES = {"kB": 10, "MB": 20, "GB": 30}  # powers of two
_RULES: dict[SettingKind, _Rule] = {
    "flag": _Rule(lambda _, value: isinstance(value, bool), "true or false"),
    "whole": _Rule(_fits_whole, "an integer of at least {least}"),
    "number": _Rule(_fits_number, "a number of at least {least}"),
    "template": _Rule(lambda _, value: isinstance(value, str), "a string", "put it in quotes"),
    "text": _Rule(lambda _, value: isinstance(value, str), "a string", "put it in quotes"),
    "time": _Rule(_fits_time, "a time such as 90s, 30m, or 2h", "a number alone means seconds"),
    "size": _Rule(_fits_size, "a size such as 500kB, 64MB, or 1GB", "a number alone means bytes"),
    "choice": _Rule(lambda setting, value: value in setting.choices, ""),
    "choices": _Rule(_fits_texts, "a list of words", "write it like [map]"),
    "texts": _Rule(_fits_texts, "a list of strings", "write it like [one, two]"),
    "commands": _Rule(
        lambda _, value: isinstance(value, list),
        "a list of commands",
        'write it like [{name: Changes, command: "git diff"}]',
    ),
    "mapping": _Rule(lambda _, value: isinstance(value, dict), "a mapping"),
    "specifier": _Rule(_fits_specifier, "a version specifier", 'write it like ">=0.1"'),
    "targets": _Rule(_fits_texts, "a list of file names", "write it like [AGENTS.md, CLAUDE.md]"),
}


def parse_seconds(value: str | float) -> float:
    """Parse a duration into seconds; ValueError for anything else."""
    if not _fits_time(_ANY, value):
        raise ValueError(value)
    return float(value) if not isinstance(value, str) else float(value[:-1]) * _UNITS[value[-1]]


def parse_byte_count(value: str | int) -> int:
    """Parse a size into bytes; ValueError for anything else."""
    if not _fits_size(_ANY, value):
        raise ValueError(value)
    return int(float(value[:-2]) * 2 ** _BYTES[value[-2:]]) if isinstance(value, str) else value


def find_setting_fault(setting: Setting, value: Any) -> SettingFault | None:
    """Return what is wrong with a value; None if nothing is. Null means "not set" and is valid."""
    rule = _RULES[setting.kind]
    if value is None:
        return None
    if not rule.fits(setting, value):
        is_long = "a list" in rule.words or "a map" in rule.words
        words = rule.words.format(least=setting.minimum) or _join_words(setting.choices)
        given = "" if is_long else f", not {_quote_value(value)}"
        return SettingFault(f"must be {words}{given}", rule.hint)
    if setting.kind == "template":
        problem = find_template_problem(value, setting.choices)
        return SettingFault(problem, describe_template_words(setting.choices)) if problem else None
    if find_item_fault := _ITEM_RULES.get(setting.kind):
        faults = (find_item_fault(setting, number, item) for number, item in enumerate(value))
        return next(filter(None, faults), None)
    return None


def _find_choice_fault(setting: Setting, number: int, item: Any) -> SettingFault | None:
    if item in setting.choices:
        return None
    message = f"must be {_join_words(setting.choices)}, not {_quote_value(item)}"
    return SettingFault(message, item=number)


def _find_target_fault(_: Setting, number: int, item: Any) -> SettingFault | None:
    problem = find_target_problem(item)
    return SettingFault(f"({_quote_value(item)}) {problem}", item=number) if problem else None


def _find_command_fault(_: Setting, number: int, item: Any) -> SettingFault | None:
    """Return what is wrong with an item of `context_commands`; None if nothing is."""
    if not isinstance(item, dict):
        return SettingFault("must be a mapping", "give it a name and a command", number)
    for row in COMMAND_KEYS:
        value = item.get(row.key)
        if row.key in REQUIRED_COMMAND_KEYS and (value is None or value == ""):
            return SettingFault(f"lacks the key {row.key!r}", item=number)
        if row.key == "on_failure" and isinstance(value, str):
            value = value.lower()
        if fault := find_setting_fault(row, value):
            return SettingFault(fault.message, fault.hint, number, row.key)
    return None


def _find_text_fault(setting: Setting, number: int, item: Any) -> SettingFault | None:
    if setting.key != "run.checks" or item.strip():
        return None
    return SettingFault("is empty", "delete it: an empty command always succeeds", number)


_ITEM_RULES: dict[SettingKind, Callable[[Setting, int, Any], SettingFault | None]] = {
    "choices": _find_choice_fault,
    "targets": _find_target_fault,
    "commands": _find_command_fault,
    "texts": _find_text_fault,
}


def _join_words(words: Sequence[str]) -> str:
    *most, last = words
    return f"{', '.join(most)}{',' * (len(most) > 1)} or {last}" if most else last


def _quote_value(value: Any) -> str:
    return truncate_text(repr(value), 60)


MAX_TEMPLATE_CHARS = 1000
_PART = re.compile(r"\{\{|\}\}|\{(\w+)\}|([{}])", re.ASCII)


def fill_template(template: str, words: Mapping[str, str]) -> str:
    """Fill the words of a template; `{{` and `}}` are braces. ValueError for other braces."""
    if problem := find_template_problem(template, tuple(words)):
        raise ValueError(problem)
    return _PART.sub(lambda match: words[match[1]] if match[1] else match[0][0], template)


def find_template_problem(template: str, names: Sequence[str]) -> str:
    """Return what is wrong with a template that may hold these names; "" if nothing is."""
    if len(template) > MAX_TEMPLATE_CHARS:
        return f"is longer than {MAX_TEMPLATE_CHARS:,} characters"
    for match in _PART.finditer(template):
        if match[2]:
            part = re.match(r"\{[^{}]*\}?|\}", template[match.start() :])
            text = truncate_text(part[0] if part else match[0], 40)
            return f"has an unknown placeholder {text!r}"
        if match[1] and match[1] not in names:
            return f"has an unknown placeholder {match[0]!r}"
    return ""


def build_template_pattern(names: Sequence[str]) -> str:
    """Return a regular expression of what `find_template_problem` accepts, for a JSON Schema."""
    return rf"^(?:[^{{}}]|\{{\{{|\}}\}}|\{{(?:{'|'.join(names)})\}})*$"


def describe_template_words(names: Sequence[str]) -> str:
    """Say what a template may hold, for the message about an invalid one."""
    known = _join_words([f"{{{name}}}" for name in names])
    return f"choose from {known}; write {{{{ and }}}} for braces"
