from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.context.expansion import TextExpansion, find_code, list_commands, parse_parameters
from cub.errors import CubError, UsageError


class Files:
    """Imports out of a dictionary."""

    def __init__(self, **texts: str) -> None:
        self.texts = texts

    def find(self, path: str) -> Path | None:
        return Path(path) if path in self.texts else None

    def load(self, path: str, file: Path, *, is_alone: bool) -> str | None:
        assert str(file) == path
        return "" if is_alone and not self.texts[path] else self.texts[path]


def expand(text: str, **parameters: str) -> str:
    return TextExpansion("t.md", parameters).expand(text)


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("Fix ${issue} now", "Fix 42 now"),
        ("${issue}${issue}", "4242"),
        ("```\n${issue}\n``` `${issue}`", "```\n42\n``` `42`"),
        ("${none:-x y}", "x y"),
        ("${none:-}", ""),
        ("${issue:-x}", "42"),
        ("${empty:-x}", "x"),
        ("${none:-${issue}}, ${issue:-${none}}", "42, 42"),
        ("${none:-${nope:-${empty}}}", ""),
        ("${none:-<${other}> $${issue} @x !`c`}", "<${issue}> ${issue} @x !`c`"),
        ('${none:-{"a": {"b": 1}}}', '{"a": {"b": 1}}'),
        ("${none:-{}", "${none:-{}"),
        ("${größe}", "7"),
        ("${empty}", ""),
        ("$${issue}", "${issue}"),
        ("$$ $5 $issue ${", "$$ $5 $issue ${"),
        ("a ${issue b", "a ${issue b"),
        ("${a-b} ${a.b}", "c d"),
        ("${} ${1} ${x y}", "${} ${1} ${x y}"),
        ("${other}", "${issue}"),
    ],
)
def test_parameters(text: str, expanded: str) -> None:
    values = {"issue": "42", "empty": "", "other": "${issue}", "a-b": "c", "a.b": "d"}
    values["größe"] = "7"
    assert TextExpansion("t.md", values).expand(text) == expanded


def test_a_parameter_that_is_not_set_stays_with_a_warning() -> None:
    expansion = TextExpansion("t.md", {}, first_line=4)
    assert expansion.expand("a\n${HOME} ${HOME}") == "a\n${HOME} ${HOME}"
    (warning,) = expansion.warnings
    assert (warning.location, warning.hint) == ("t.md:5", "set it with -p HOME=VALUE")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x\n${issue:?which issue?}", "t.md:2: issue: which issue?"),
        ("x\n${a:-${issue:?{which}}}", "t.md:2: issue: {which}"),
        ("${issue:?}", "t.md:1: issue: this parameter is required"),
    ],
)
def test_a_required_parameter_is_an_error(text: str, message: str) -> None:
    with pytest.raises(CubError) as caught:
        expand(text)
    assert str(caught.value) == message
    assert expand(text, issue="7").endswith("7")


def test_nothing_is_replaced_unless_asked_for() -> None:
    text = "${a} $${b} @x !`c`"
    assert TextExpansion("t.md").expand(text) == text


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("d=a=b,c=d", "a=b,c=d"),
        ("d=", ""),
        ('d="a\\tb\\u0041"', "a\tbA"),
        ('d=""', ""),
        ('d="\\ud800"', '"\\ud800"'),
        ('d="abc def', '"abc def'),
        ('d="a"b"', '"a"b"'),
    ],
)
def test_values_of_parameters(pair: str, value: str) -> None:
    assert parse_parameters([pair]) == {"d": value}


@pytest.mark.parametrize("pair", ["x", "=1"])
def test_what_is_no_parameter_is_refused(pair: str) -> None:
    with pytest.raises(UsageError, match="invalid parameter format"):
        parse_parameters([pair])


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("@f", "F"),
        ("C: @f.", "C: @f."),
        ("C: @f\n", "C: F\n"),
        ("me@f", "me@f"),
        ("(@f)", "(@f)"),
        ("@none", "@none"),
        ("@a\\ b", "SPACED"),
        ("`@f`", "`@f`"),
        ("x `a` @f `b`", "x `a` F `b`"),
        ("```\n@f\n```\n@f", "```\n@f\n```\nF"),
        ("    @f\n\n@f", "    @f\n\nF"),
        ("<!-- @f -->\n\n@f", "<!-- @f -->\n\nF"),
        ("- @f\n- `x\n\n@f ` @f", "- F\n- `x\n\nF ` F"),
        ("a @two b", "a two b\n\nContents of two:\n\n1\n2"),
        ("@two\nb", "1\n2\nb"),
    ],
)
def test_imports(text: str, expanded: str) -> None:
    files = Files(**{"f": "F", "a b": "SPACED", "two": "1\n2"})
    assert TextExpansion("t.md", imports=files).expand(text) == expanded


def test_what_is_put_in_is_not_expanded_again() -> None:
    files = Files(f="${a} @f !`c`")
    expansion = TextExpansion(
        "t.md", {"a": "@f", "b": "!`c`"}, files, run_command=lambda c: f"${c}"
    )
    assert expansion.expand("@f ${a} ${b} !`{a}`") == "${a} @f !`c` @f !`c` ${a}"


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("!`a b` x !`c`", ["a b", "c"]),
        ("[!`echo e >&2`]", ["echo e >&2"]),
        ("x !`echo hi", []),
        ("```\n!`a`\n```\n", []),
        ("`` !`a` ``", []),
        ("!``a``", []),
        ("    !`a`", []),
        ("`a` !`b`", ["b"]),
    ],
)
def test_commands(text: str, commands: list[str]) -> None:
    assert list_commands(text) == commands


def test_a_command_that_is_not_run_stays() -> None:
    assert TextExpansion("t.md", run_command=lambda _: None).expand("a !`b`") == "a !`b`"
    assert TextExpansion("t.md", run_command=str.upper).expand("a !`b`") == "a B"


@given(st.text("`a \n@!x$\\{}~<>-"))
def test_any_text_can_be_read(text: str) -> None:
    assert TextExpansion("t.md", {}, Files()).expand(text).count("@") == text.count("@")
    for start, end in [*(code := find_code(text)).blocks, *code.spans]:
        assert 0 <= start < end <= len(text) + 1


def test_many_backticks_cost_no_more_than_their_number() -> None:
    text = "".join("`" * (number % 50 + 1) + " " for number in range(20_000)) + "@f"
    assert TextExpansion("t.md", imports=Files(f="F")).expand(text)[-1] in "fF"
