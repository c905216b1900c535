"""Messages of libraries, provoked for real, are described in words of cub's own."""

from __future__ import annotations

import json
import re
import shlex

import pytest
from ruamel.yaml.error import MarkedYAMLError

from cub.config_edit.yaml_events import parse_in_python
from cub.config_edit.yaml_text import parse_yaml
from cub.errors import CubError
from cub.source_text import SourceText
from cub.syntax_errors import (
    describe_json_error,
    describe_pattern_error,
    describe_quoting_error,
    describe_yaml_error,
)

JSON = [
    ("", "a value is missing"),
    ('{"a": }', "a value is missing"),
    ('{"a": 1', "a comma or a closing bracket is missing"),
    ("[1 2]", "a comma or a closing bracket is missing"),
    ('{"a" 1}', "a colon is missing after a key"),
    ("{a: 1}", "a key in double quotes is missing"),
    ('"a', "the closing quote of a string is missing"),
    ('"\n"', "a control character in a string is not escaped"),
    (r'"\x"', "an escape sequence is not valid"),
    (r'"\u12"', "an escape sequence is not valid"),
    ("1 2", "there is text after the end"),
]
YAML = [
    ("a: b: c\n", "a colon is not allowed here", 'put a string that contains ": " in quotes'),
    ("a: @b\n", "a value can't start with this character", "put the string in quotes"),
    ("a: `b`\n", "a value can't start with this character", "put the string in quotes"),
    ("a: [1, 2\n", "a comma or a closing ] is missing", "add ] at the end of the list"),
    ("a: [1, 2\nb: 1\n", "a comma or a closing ] is missing", "add ] at the end of the list"),
    ("a: {b: 1\n", "a comma or a closing } is missing", "add } at the end of the mapping"),
    ("a: 1\n b: 2\n", "a colon is not allowed here", 'put a string that contains ": " in quotes'),
    ("a:\n  b: 1\n c: 2\n", "the indentation is wrong, or a colon is missing",
     "align the keys of a mapping"),
    ("- a\nb: 1\n", "the indentation is wrong, or a colon is missing",
     "align the keys of a mapping"),
    ("a: 1\nb\nc: 1\n", "a colon is missing after a key", "write it as KEY: VALUE"),
    ('a: "b\n', "the closing quote is missing", "add the quote"),
    ('a: "b\n---\n', "the closing quote is missing", "add the quote"),
    ('a: "\\q"\n', "an escape sequence is not valid", "use single quotes"),
    ('a: "\\xZZ"\n', "an escape sequence is not valid", "use single quotes"),
    ("a: *\n", "an anchor or alias has no name", "put the string in quotes"),
    ("a: - b\n", "a list item is not allowed here", "write each item on a line of its own"),
    ("a: ]\n", "a value is missing", "put the string in quotes"),
    ("a:\tb:\tc\n\td\n", "a tab is not allowed here", "use spaces"),
    ("- a\n: b\n", "the key '' is not a string", "write a key before the colon"),
]  # fmt: skip
PATTERNS = [
    ("(a", "a closing ) is missing (column 1)"),
    ("a)", "an opening ( is missing (column 2)"),
    ("[a", "a closing ] is missing (column 1)"),
    ("*a", "there is nothing before the repetition (column 1)"),
    ("a**", "two repetitions follow each other (column 3)"),
    (r"\y", "an escape sequence is not valid (column 1)"),
    ("[z-a]", "a character range is not valid (column 2)"),
    ("(?<=a+)b", "a lookbehind needs a fixed width"),
    ("(?P<1>a)", "a group name is not valid (column 5)"),
]


@pytest.mark.parametrize(("text", "reason"), JSON)
def test_errors_in_json(text: str, reason: str) -> None:
    with pytest.raises(json.JSONDecodeError) as error:
        json.loads(text)
    assert describe_json_error(error.value.msg) == reason


@pytest.mark.parametrize(("text", "reason", "hint"), YAML)
def test_errors_in_yaml(text: str, reason: str, hint: str) -> None:
    with pytest.raises(MarkedYAMLError) as error:
        list(parse_in_python(text))
    words = " ".join(str(error.value.problem or error.value.context).split())
    assert describe_yaml_error(words) == (reason, hint)
    with pytest.raises(CubError) as shown:
        parse_yaml(SourceText(text, "c.yaml"))
    assert (shown.value.message, shown.value.hint) == (reason, hint)
    assert re.fullmatch(r"c\.yaml:\d+:\d+", shown.value.where)


@pytest.mark.parametrize(("pattern", "reason"), PATTERNS)
def test_errors_in_regular_expressions(pattern: str, reason: str) -> None:
    with pytest.raises(re.error) as error:
        re.compile(pattern)
    assert describe_pattern_error(error.value) == reason


@pytest.mark.parametrize(
    ("words", "reason"),
    [('a "b', "a closing quote is missing"), ("a \\", "there is nothing after the last backslash")],
)
def test_errors_in_command_lines(words: str, reason: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - shlex has no class of its own
        shlex.split(words)
    assert describe_quoting_error(str(error.value)) == reason


def test_a_message_that_is_not_known_is_not_printed() -> None:
    assert describe_json_error("Zebra") == "the syntax is wrong here"
    assert describe_yaml_error("zebra") == ("the syntax is wrong here", "")
    assert describe_pattern_error(OverflowError()) == "its syntax is wrong, or it is too large"
