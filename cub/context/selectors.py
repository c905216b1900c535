"""Select rules and task files by the fields of their front matter, and by patterns of paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from cub.config_edit.nodes import parse_scalar
from cub.context.front_matter import list_field, split_patterns
from cub.errors import UsageError
from cub.files.glob_patterns import expand_braces

Selectors = Mapping[str, tuple[str, ...]]
_PATTERN_FIELDS = ("paths", "globs", "applyTo", "fileMatchPattern")
# By agent, its field that says when a rule applies: at its own choice, or for patterns alone.
_CONDITIONS: Mapping[str, tuple[str, Sequence[str], str]] = {
    "cursor": ("alwaysApply", (), "false"),
    "windsurf": ("trigger", ("manual", "model_decision"), "glob"),
    "kiro": ("inclusion", ("manual", "auto"), "fileMatch"),
    "augment": ("type", ("manual", "auto", "agent_requested"), ""),
}
_ALWAYS = ("alwaysApply true", "trigger always_on", "inclusion always")


def parse_selectors(pairs: Iterable[str]) -> Selectors:
    """Return the values to match by key; several values of one key stand for any of them.

    Raises UsageError for what is not `key=value`.
    """
    selectors: dict[str, tuple[str, ...]] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            message = f"invalid selector format: {pair!r} is not key=value"
            raise UsageError(message, where="-s", hint="write it like -s languages=go")
        selectors[key.strip()] = (*selectors.get(key.strip(), ()), value)
    return selectors


def explain_mismatch(
    fields: Mapping[str, Any], selectors: Selectors, *, is_opt_in: bool = False
) -> str:
    """Return why selectors leave a file out; "" if they don't.

    A field that is missing matches, unless the file has to be asked for (`is_opt_in`): then one
    selector has to name a field that it has.
    """
    matches = False
    for key, wanted in selectors.items():
        values = [v for v in list_field(fields, key) if isinstance(v, str | int | float | bool)]
        if not values:
            continue
        if not any(_is_equal(value, text) for value in values for text in wanted):
            found = ", ".join(map(format_value, values))
            return f"{key} is {found}, not {' or '.join(wanted)}"
        matches = True
    return "no selector asks for it" if is_opt_in and not matches else ""


def explain_agent_mismatch(fields: Mapping[str, Any], agent: str) -> str:
    """Return why an agent does not read a rule unasked, by its own field; "" if it does."""
    key, by_choice, with_patterns = _CONDITIONS.get(agent, ("", (), ""))
    value = format_value(fields.get(key, "")).strip()
    value = value.lower() if agent == "cursor" else value
    is_alone = bool(value) and value == with_patterns and not list_patterns(fields)
    return f"{key} is {value}" if value in by_choice or is_alone else ""


def explain_path_mismatch(fields: Mapping[str, Any], path: str) -> str:
    """Return why a rule is not for the file at this relative path; "" if it is.

    Patterns are those of a .gitignore, with `{a,b}` for either. A field that says that the rule
    always applies, such as `alwaysApply`, overrides them.
    """
    patterns = list_patterns(fields)
    if not patterns or any(f"{k} {format_value(v)}" in _ALWAYS for k, v in fields.items()):
        return ""
    try:
        matches = _compile_patterns(tuple(patterns))
    except ValueError:
        return f"its patterns can't be read: {', '.join(patterns)}"
    return "" if matches(path) else f"it is for {', '.join(patterns)}"


@cache
def _compile_patterns(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Return a test of paths; many rules have the same patterns. Raises ValueError."""
    from cub.repomap.listing.file_listing import compile_valid_patterns

    return compile_valid_patterns(expand_braces(patterns)).match_file


def list_patterns(fields: Mapping[str, Any]) -> list[str]:
    """Return the patterns of the files that a rule is for; none if it is for all."""
    values = (value for key in _PATTERN_FIELDS for value in list_field(fields, key))
    texts = (text for value in values for text in split_patterns(format_value(value)))
    return [text.removeprefix("./") for text in texts]


def _is_equal(value: Any, text: str) -> bool:
    """Return whether a value is written like a text, or could be: 1.10 as `1.1` and `1.10`."""
    parsed = parse_scalar(text)
    return format_value(value) == text or (type(parsed) is type(value) and parsed == value)


def format_value(value: Any) -> str:
    """Return a value as it would be written on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
