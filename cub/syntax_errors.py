"""Describe the syntax errors of libraries in plain words, the same with every version of them.

Each function takes a library's own message, which is never printed, and returns a part of a
sentence. YAML also has a hint, "" if there is none.
"""

from __future__ import annotations

import re

_UNKNOWN = "the syntax is wrong here"
_JSON = (
    ("Expecting value", "a value is missing"),
    ("Expecting ',' delimiter", "a comma or a closing bracket is missing"),
    ("Expecting ':' delimiter", "a colon is missing after a key"),
    ("Expecting property name", "a key in double quotes is missing"),
    ("Illegal trailing comma", "a trailing comma is not allowed"),
    ("Unterminated string", "the closing quote of a string is missing"),
    ("Invalid control character", "a control character in a string is not escaped"),
    ("Invalid", "an escape sequence is not valid"),
    ("Extra data", "there is text after the end"),
)
_QUOTE = "put the string in quotes"
_YAML = (
    ("mapping values are not allowed", "a colon is not allowed here",
     'put a string that contains ": " in quotes'),
    ("cannot start any token", "a value can't start with this character", _QUOTE),
    ("or ']'", "a comma or a closing ] is missing", "add ] at the end of the list"),
    ("or '}'", "a comma or a closing } is missing", "add } at the end of the mapping"),
    ("block end", "the indentation is wrong, or a colon is missing", "align the keys of a mapping"),
    ("block mapping", "the indentation is wrong, or a colon is missing",
     "align the keys of a mapping"),
    ("expected ':'", "a colon is missing after a key", "write it as KEY: VALUE"),
    ("unexpected end of stream", "the closing quote is missing", "add the quote"),
    ("unexpected document separator", "the closing quote is missing", "add the quote"),
    ("unknown escape character", "an escape sequence is not valid", "use single quotes"),
    ("escape sequence", "an escape sequence is not valid", "use single quotes"),
    ("undefined alias", "an alias has no anchor", "define it with & first"),
    ("duplicate anchor", "an anchor is defined twice", "rename one of them"),
    ("tag handle", "tags are not supported", "remove the tag"),
    ("document start", "there is text after the end of the document", "keep one document"),
    ("node content", "a value is missing", _QUOTE),
    ("sequence entries are not allowed", "a list item is not allowed here",
     "write each item on a line of its own"),
    ("mapping keys are not allowed", "a key is not allowed here", _QUOTE),
    ("alphabetic or numeric character", "an anchor or alias has no name", _QUOTE),
)  # fmt: skip
_PATTERN = (
    ("unterminated subpattern", "a closing ) is missing"),
    ("unbalanced parenthesis", "an opening ( is missing"),
    ("unterminated character set", "a closing ] is missing"),
    ("nothing to repeat", "there is nothing before the repetition"),
    ("multiple repeat", "two repetitions follow each other"),
    ("bad escape", "an escape sequence is not valid"),
    ("bad character range", "a character range is not valid"),
    ("fixed-width", "a lookbehind needs a fixed width"),
    ("group name", "a group name is not valid"),
)


def describe_json_error(message: str) -> str:
    """Return what is wrong, for the message of a `json.JSONDecodeError`."""
    return next((text for start, text in _JSON if message.startswith(start)), _UNKNOWN)


def describe_yaml_error(message: str) -> tuple[str, str]:
    """Return what is wrong and a hint, for the problem of a `yaml.MarkedYAMLError`."""
    if "'\\t'" in message:
        return "a tab is not allowed here", "use spaces"
    if message == "expected <block end>, but found ':'":
        return "the key '' is not a string", "write a key before the colon"
    return next(((text, hint) for part, text, hint in _YAML if part in message), (_UNKNOWN, ""))


def describe_pattern_error(error: Exception) -> str:
    """Return what is wrong with a regular expression, with the column if it is known."""
    text = next((words for part, words in _PATTERN if part in str(error)), "")
    position = getattr(error, "pos", None)
    place = "" if position is None else f" (column {position + 1})"
    return (text or "its syntax is wrong, or it is too large") + place


def describe_quoting_error(message: str) -> str:
    """Return what is wrong with a command line, for the message of `shlex`."""
    if re.match(r"No escaped", message):
        return "there is nothing after the last backslash"
    return "a closing quote is missing"
